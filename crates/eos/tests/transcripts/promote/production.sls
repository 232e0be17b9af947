#!yaml
# What people see.
components:
  leaflet:
    recipe: leaflet
    options:
      greeting: As ever
      sign: in production   # stays
      fixed_port: 8080
