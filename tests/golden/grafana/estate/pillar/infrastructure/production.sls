#!yaml
# Dashboards for the whole house.
components:
  grafana:
    recipe: grafana
    options:
      admin_password: "***"
      port: 3000
    intent:
      words: "eos create grafana --admin-password *** --port 3000"
      who: root
      when: "2026-11-15T20:00:00Z"
