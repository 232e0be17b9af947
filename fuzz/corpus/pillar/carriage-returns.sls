#!yaml
components:
  hello:
    options:
      greeting: "a\r\nb"
      replicas: 1