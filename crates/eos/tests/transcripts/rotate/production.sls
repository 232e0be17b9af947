#!yaml
components:
  mattermost:
    recipe: mattermost
  metrics:
    recipe: grafana
  redis:
    recipe: redis
    intent: {words: eos create redis, who: ada, when: "2026-11-15T20:00:00Z"}
  web:
    recipe: hello
