{#- Every minion of the emitted order has the formula's modules. -#}
{%- import_json "orchestrate/waves.json" as order %}
{%- set minions = order.waves | sum(start=[]) | map(attribute="minion") | unique | list %}

formula is synced:
  salt.function:
    - name: saltutil.sync_all
    - tgt: {{ minions | tojson }}
    - tgt_type: list
