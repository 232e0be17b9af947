#!yaml
# Comments above,
# over two lines.

components:   # beside
  "quoted": {recipe: hello, options: {greeting: 'it''s', "replicas": 2}}

  # belongs to block
  block:
    recipe: hello
    intent:
      words: >-
        eos create hello
        --name block
      who: "me \u00e9\t"
      when: 2026-01-01T00:00:00Z
    options:
      greeting: |+
        line one

          indented

      datacenter: dc1  # why
  empty: {}
