#!json
{
  "secrets": {
    "secret/production/grafana": [
      "admin_password"
    ],
    "secret/production/mattermost": [
      "database_password"
    ],
    "secret/production/mattermost-database": [
      "password"
    ],
    "secret/staging/mattermost": [
      "database_password"
    ],
    "secret/staging/mattermost-database": [
      "password"
    ]
  }
}
