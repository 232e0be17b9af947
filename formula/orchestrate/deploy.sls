{#- Converges the emitted tree without Eos: its waves in their order, each after the one before. -#}
{%- import_json "orchestrate/waves.json" as order %}
{%- import_text "release" as release %}
{%- set operation = "eject-" ~ ("now" | strftime("%Y%m%d%H%M%S%f")) %}

include:
  - orchestrate.init
{% for wave in order.waves %}
{%- set number = loop.index %}
{%- for step in wave %}
wave {{ number }} {{ step.minion }} {{ step.sls }}:
  salt.function:
    - name: eos.run_step
    - tgt: {{ step.minion | tojson }}
    - tgt_type: list
    - kwarg:
        operation: {{ operation | tojson }}
        step: {{ step.sls | tojson }}
        release: {{ release | trim | tojson }}
        sls: {{ step.sls | tojson }}
    - require:
      - salt: formula is synced
{%- for before in (order.waves[number - 2] if number > 1 else []) %}
      - salt: wave {{ number - 1 }} {{ before.minion }} {{ before.sls }}
{%- endfor %}
{% endfor %}
{%- endfor %}
