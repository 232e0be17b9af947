#!yaml
components:
  mattermost:
    recipe: mattermost
  pair:
    recipe: hello
    options: {replicas: 2}
  redis:
    recipe: redis
  resting:
    recipe: hello
    stopped: {words: eos stop resting, who: ada, when: "2026-11-15T21:00:00Z"}
  web:
    recipe: hello
    intent: {words: eos create web, who: ada, when: "2026-11-15T20:00:00Z"}
volumes:
  spare: {host: control, size: 1G}
