#!yaml
components:
  jenkins:
    recipe: jenkins
    options:
      port: 8081
