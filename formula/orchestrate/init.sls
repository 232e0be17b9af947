{#- Every minion of the emitted order has the formula's modules. -#}
{%- set order = salt["cp.get_file_str"]("salt://orchestrate/waves.json") | load_json %}
{%- set minions = order.waves | sum(start=[]) | map(attribute="minion") | unique | list %}

formula is synced:
  salt.function:
    - name: saltutil.sync_all
    - tgt: {{ minions | tojson }}
    - tgt_type: list
