{#- Destroys every workspace of the emitted tree, last wave first. Volumes and their data stay. -#}
{%- import_json "orchestrate/waves.json" as order %}
{%- set destroyed = namespace(before="formula is synced") %}

include:
  - orchestrate.init
{% for wave in order.waves | reverse %}
{%- for step in wave | reverse if step.sls.endswith(".workspace") %}
{%- set component, environment = step.sls.split(".")[1:3] %}
{%- set id = "destroy " ~ environment ~ "/" ~ component %}
{{ id }}:
  salt.function:
    - name: state.single
    - tgt: {{ step.minion | tojson }}
    - tgt_type: list
    - arg:
      - eos_terraform.absent
    - kwarg:
        name: {{ environment }}/{{ component }}
    - require:
      - salt: {{ destroyed.before }}
{%- set destroyed.before = id %}
{% endfor %}
{%- endfor %}
