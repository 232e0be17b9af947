#!yaml
components:
  hello:
    recipe: hello
    options:
      replicas: 3
