#!yaml
components:
  hello: {}
