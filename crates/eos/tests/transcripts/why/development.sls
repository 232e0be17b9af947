#!yaml
components:
  shop:
    options:
      port: 9003
