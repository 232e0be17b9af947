#!yaml
components:
  hello:
    recipe: hello
    options:
      greeting: "it's ready: \"$ {x}\" %{ % # ü 🦀"
