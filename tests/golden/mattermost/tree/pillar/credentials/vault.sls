#!json
{
  "secrets": {
    "production/grafana": {
      "place": "nomad/jobs/grafana in namespace production",
      "items": [
        "admin_password"
      ]
    },
    "production/mattermost": {
      "place": "nomad/jobs/mattermost in namespace production",
      "items": [
        "database_password"
      ]
    },
    "production/mattermost-database": {
      "place": "nomad/jobs/mattermost-database in namespace production",
      "items": [
        "password"
      ]
    },
    "staging/mattermost": {
      "place": "nomad/jobs/mattermost in namespace staging",
      "items": [
        "database_password"
      ]
    },
    "staging/mattermost-database": {
      "place": "nomad/jobs/mattermost-database in namespace staging",
      "items": [
        "password"
      ]
    }
  }
}
