#!yaml
components:
  postgres:
    recipe: postgres
    hosts:
      data: [node1]
