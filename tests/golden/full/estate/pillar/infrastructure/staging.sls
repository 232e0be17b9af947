#!yaml
components:
  mattermost:
    recipe: mattermost
    options:
      port: 8066
