#!json
{
  "production/grafana": {
    "eos_terraform.applied": [
      {
        "name": "production/grafana"
      }
    ]
  }
}
