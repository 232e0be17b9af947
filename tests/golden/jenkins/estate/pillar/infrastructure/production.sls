#!yaml
components:
  jenkins:
    recipe: jenkins
