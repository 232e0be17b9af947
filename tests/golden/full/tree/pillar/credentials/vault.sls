#!json
{
  "secrets": {
    "production/grafana": {
      "place": "secret/production/grafana/app",
      "items": [
        "admin_password"
      ]
    },
    "production/mattermost": {
      "place": "secret/production/mattermost/app",
      "items": [
        "database_password"
      ]
    },
    "production/mattermost-database": {
      "place": "secret/production/mattermost-database/app",
      "items": [
        "password"
      ]
    },
    "staging/mattermost": {
      "place": "secret/staging/mattermost/app",
      "items": [
        "database_password"
      ]
    },
    "staging/mattermost-database": {
      "place": "secret/staging/mattermost-database/app",
      "items": [
        "password"
      ]
    }
  }
}
