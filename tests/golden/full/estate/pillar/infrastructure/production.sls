#!yaml
components:
  hecate-proxy:
    recipe: hecate-proxy
  grafana:
    recipe: grafana
    options:
      domain: metrics.example.org
  mattermost:
    recipe: mattermost
    options:
      domain: chat.example.org
  mattermost-database:
    # More room than the recipe gives.
    recipe: postgres
    options:
      size: 50G
