{#- Destroys the workspaces of the emitted tree, last wave first. Volumes and their data stay. The runner
    `infrastructure` limits it to components. -#}
{%- set order = salt["cp.get_file_str"]("salt://orchestrate/waves.json") | load_json %}
{%- set components = pillar.get("eos_components") %}
{%- set operation = "eject-" ~ ("now" | strftime("%Y%m%d%H%M%S%f")) %}
{%- set destroyed = namespace(before="formula is synced") %}
{%- set known = [] %}
{%- for step in order.waves | sum(start=[]) if step.sls.endswith(".workspace") %}
{%- do known.append(step.sls.split(".")[2] ~ "/" ~ step.sls.split(".")[1]) %}
{%- endfor %}
{%- for name in components or [] if name not in known %}
{{ raise("The emitted tree has no workspace " ~ name) }}
{%- endfor %}

include:
  - orchestrate.init
{% for wave in order.waves | reverse %}
{%- for step in wave | reverse if step.sls.endswith(".workspace") %}
{%- set component, environment = step.sls.split(".")[1:3] %}
{%- set name = environment ~ "/" ~ component %}
{%- if components is none or name in components %}
{%- set id = "destroy " ~ name %}
{{ id | tojson }}:
  salt.function:
    - name: eos.remove_workspace
    - tgt: {{ step.minion | tojson }}
    - tgt_type: list
    - kwarg:
        operation: {{ operation | tojson }}
        step: {{ step.sls | tojson }}
        environment: {{ environment | tojson }}
        component: {{ component | tojson }}
    - require:
      - salt: {{ destroyed.before | tojson }}
{%- set destroyed.before = id %}
{% endif %}
{%- endfor %}
{%- endfor %}
