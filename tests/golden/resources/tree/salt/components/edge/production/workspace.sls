#!json
{
  "production/edge": {
    "eos_terraform.applied": [
      {
        "name": "production/edge"
      }
    ]
  }
}
