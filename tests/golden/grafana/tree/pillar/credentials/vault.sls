#!json
{
  "secrets": {
    "production/grafana": {
      "place": "nomad/jobs/grafana in namespace production",
      "items": [
        "admin_password"
      ]
    }
  }
}
