#!yaml
components:
  shop:
    options:
      port: 9002
  cache:
    recipe: redis
