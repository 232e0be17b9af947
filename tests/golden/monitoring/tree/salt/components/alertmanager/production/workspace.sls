#!json
{
  "production/alertmanager": {
    "eos_terraform.applied": [
      {
        "name": "production/alertmanager"
      }
    ]
  }
}
