#!json
{
  "production/prometheus": {
    "eos_prometheus.rules": [
      {
        "name": "production/prometheus"
      }
    ]
  }
}
