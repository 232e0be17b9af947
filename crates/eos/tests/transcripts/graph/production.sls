#!yaml
# Two components, written by hand.
components:
  hello:
    options:
      greeting: "Good morning"
    intent:
      words: eos create hello
      who: ada
      when: "2026-11-15T20:00:00Z"
  metrics:
    recipe: grafana
    options:
      admin_password: "***"
      port: 3001
