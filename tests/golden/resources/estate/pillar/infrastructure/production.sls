#!yaml
components:
  edge:
    recipe: edge
    options: {ports: ["22", "443"]}
