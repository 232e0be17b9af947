#!json
{
  "production/postgres": {
    "eos_terraform.applied": [
      {
        "name": "production/postgres"
      }
    ]
  }
}
