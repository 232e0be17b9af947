#!json
{
  "production/alertmanager": {
    "eos_prometheus.rules": [
      {
        "name": "production/alertmanager"
      }
    ]
  }
}
