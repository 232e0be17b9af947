#!yaml
components:
  hello:
    recipe: hello
