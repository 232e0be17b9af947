#!yaml
components:
  hello:
    recpie: hello
    options:
      greeting: Hi
  Web:
    recipe: hello
  chat:
    recipe: [mattermost]
  metrics: grafana
  volume:
    recipe: redis
    hosts: node1
