{#- Every minion of the emitted order has the formula's modules. -#}
{%- from "orchestrate/order.jinja" import waves with context %}
{%- set minions = waves | sum(start=[]) | map(attribute="minion") | unique | list %}

formula is synced:
  salt.function:
    - name: saltutil.sync_all
    - tgt: {{ minions | tojson }}
    - tgt_type: list
