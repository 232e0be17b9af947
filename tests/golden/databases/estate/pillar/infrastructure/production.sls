#!yaml
components:
  postgres:
    recipe: postgres
    options:
      port: 5432
  redis:
    recipe: redis
