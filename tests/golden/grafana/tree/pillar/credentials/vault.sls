#!json
{
  "secrets": {
    "secret/production/grafana": [
      "admin_password"
    ]
  }
}
