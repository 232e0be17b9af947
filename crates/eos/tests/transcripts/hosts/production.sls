#!yaml
components:
  cache:
    recipe: redis
    hosts:
      data: [node2]
