#!yaml
components:
  hecate-proxy: {}
  hello:
    options:
      greeting: Good morning
  mattermost:
    options:
      domain: chat.example.org
  metrics:
    recipe: grafana
