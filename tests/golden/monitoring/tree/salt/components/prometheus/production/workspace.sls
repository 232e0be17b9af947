#!json
{
  "production/prometheus": {
    "eos_terraform.applied": [
      {
        "name": "production/prometheus"
      }
    ]
  }
}
