{#- Destroys the workspaces of the emitted tree, last wave first. Volumes and their data stay. The runner
    `infrastructure` limits it to components. -#}
{%- from "orchestrate/order.jinja" import waves with context %}
{%- set components = pillar.get("eos_components") %}
{%- set operation = "eject-" ~ ("now" | strftime("%Y%m%d%H%M%S%f")) %}
{%- set destroyed = namespace(before="formula is synced") %}
{%- set known = [] %}
{%- for step in waves | sum(start=[]) if step.kind == "workspace" %}
{%- do known.append(step.environment ~ "/" ~ step.component) %}
{%- endfor %}
{%- for name in components or [] if name not in known %}
{{ raise("The emitted tree has no workspace " ~ name) }}
{%- endfor %}

include:
  - orchestrate.init
{% for wave in waves | reverse %}
{%- for step in wave | reverse if step.kind == "workspace" %}
{%- set name = step.environment ~ "/" ~ step.component %}
{%- if components is none or name in components %}
{%- set id = "destroy " ~ name %}
{{ id | tojson }}:
  salt.function:
    - name: eos.remove
    - tgt: {{ step.minion | tojson }}
    - tgt_type: list
    - kwarg:
        operation: {{ operation | tojson }}
        step: {{ step.sls | tojson }}
        kind: {{ step.kind | tojson }}
        environment: {{ step.environment | tojson }}
        component: {{ step.component | tojson }}
        facts: {}
    - require:
      - salt: {{ destroyed.before | tojson }}
{%- set destroyed.before = id %}
{% endif %}
{%- endfor %}
{%- endfor %}
