{#- Converges the emitted tree without Eos: its waves in their order, each after the one before. What is missing of their
    secrets is told first, by name; only the namespaces come before, since secrets may have to be put into them. At the end
    every job is healthy, also one that Terraform had no reason to touch. The runner `infrastructure` limits it to an
    environment. -#}
{%- from "orchestrate/order.jinja" import waves as order with context %}
{%- set environment = pillar.get("eos_environment") %}
{%- set operation = "eject-" ~ ("now" | strftime("%Y%m%d%H%M%S%f")) %}
{%- set waves, workspaces, platforms = [], {}, [] %}
{%- for wave in order %}
{%- set here = [] %}
{%- for step in wave %}
{%- if environment is none or step.environment == environment %}
{%- do here.append(step) %}
{%- if step.component == "platform" %}
{%- do platforms.append(step) %}
{%- elif step.kind == "workspace" %}
{%- do workspaces.setdefault(step.minion, []).append(step.environment ~ "/" ~ step.component) %}
{%- endif %}
{%- endif %}
{%- endfor %}
{%- if here %}
{%- do waves.append(here) %}
{%- endif %}
{%- endfor %}
{%- if environment is not none and not waves %}
{{ raise("The emitted tree has no environment " ~ environment) }}
{%- endif %}

include:
  - orchestrate.init
{% for minion, names in workspaces.items() %}
{{ ("secrets are there for " ~ minion) | tojson }}:
  salt.function:
    - name: eos_secrets.require
    - tgt: {{ minion | tojson }}
    - tgt_type: list
    - kwarg:
        workspaces: {{ names | tojson }}
    - require:
      - salt: formula is synced
{%- for step in platforms %}
      - salt: {{ ("wave 1 " ~ step.minion ~ " " ~ step.sls) | tojson }}
{%- endfor %}
{% endfor %}
{%- for wave in waves %}
{%- set number = loop.index %}
{%- for step in wave %}
{{ ("wave " ~ number ~ " " ~ step.minion ~ " " ~ step.sls) | tojson }}:
  salt.function:
    - name: eos.make
    - tgt: {{ step.minion | tojson }}
    - tgt_type: list
    - kwarg:
        operation: {{ operation | tojson }}
        step: {{ step.sls | tojson }}
        kind: {{ step.kind | tojson }}
        environment: {{ step.environment | tojson }}
        component: {{ step.component | tojson }}
        facts: {{ {"digest": step.digest} | tojson }}
    - require:
      - salt: formula is synced
{%- for minion in (workspaces if step not in platforms else []) %}
      - salt: {{ ("secrets are there for " ~ minion) | tojson }}
{%- endfor %}
{%- for before in (waves[number - 2] if number > 1 else []) %}
      - salt: {{ ("wave " ~ (number - 1) ~ " " ~ before.minion ~ " " ~ before.sls) | tojson }}
{%- endfor %}
{% endfor %}
{%- endfor %}
{% for minion, names in workspaces.items() %}
{{ ("jobs are healthy for " ~ minion) | tojson }}:
  salt.function:
    - name: eos_orchestrator.require_healthy
    - tgt: {{ minion | tojson }}
    - tgt_type: list
    - kwarg:
        workspaces: {{ names | tojson }}
    - require:
{%- for before in waves | last %}
      - salt: {{ ("wave " ~ (waves | length) ~ " " ~ before.minion ~ " " ~ before.sls) | tojson }}
{%- endfor %}
{% endfor %}
