#!yaml
components:
  hello:
    options:
      greting: Hi
      replicas: many
  metrics:
    recipe: grafna
  builds:
    recipe: jenkins
    options:
      port: 99999
      domain: "not a domain"
  chat:
    recipe: mattermost
    options:
      database: nowhere
      domain: chat.example.org
  store:
    recipe: redis
    hosts: {data: [node9]}
    options:
      password: canary-7f3a
      max_memory: 1K
