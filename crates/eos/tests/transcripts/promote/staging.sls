#!yaml
components:
  leaflet:
    recipe: leaflet
    options:
      greeting: Tried and found good
      sign: in staging
      replicas: 2
