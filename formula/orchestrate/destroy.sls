{#- Takes down what the emitted tree makes, last wave first: workspaces, rules, files. Volumes with their data and secrets
    stay, with the namespace that has secrets, as `eos_orchestrator.remove` says. The runner `infrastructure` limits it to components. -#}
{%- from "orchestrate/order.jinja" import waves with context %}
{%- set components = pillar.get("eos_components") %}
{%- set operation = "eject-" ~ ("now" | strftime("%Y%m%d%H%M%S%f")) %}
{%- set destroyed = namespace(before="formula is synced") %}
{%- set known = [] %}
{%- for step in waves | sum(start=[]) %}
{%- do known.append(step.environment ~ "/" ~ step.component) %}
{%- endfor %}
{%- for name in components or [] if name not in known %}
{{ raise("The emitted tree has no component " ~ name) }}
{%- endfor %}

include:
  - orchestrate.init
{% for wave in waves | reverse %}
{%- for step in wave | reverse %}
{%- set name = step.environment ~ "/" ~ step.component %}
{%- if components is none or name in components %}
{%- set id = "destroy " ~ name if step.kind == "workspace" else "remove " ~ step.minion ~ " " ~ step.sls %}
{{ id | tojson }}:
  salt.function:
    - name: eos_orchestrator.remove
    - tgt: {{ step.minion | tojson }}
    - tgt_type: list
    - kwarg:
        operation: {{ operation | tojson }}
        step: {{ step.sls | tojson }}
        kind: {{ step.kind | tojson }}
        environment: {{ step.environment | tojson }}
        component: {{ step.component | tojson }}
    - require:
      - salt: {{ destroyed.before | tojson }}
{%- set destroyed.before = id %}
{% endif %}
{%- endfor %}
{%- endfor %}
