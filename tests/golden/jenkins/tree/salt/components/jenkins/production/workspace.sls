#!json
{
  "production/jenkins": {
    "eos_terraform.applied": [
      {
        "name": "production/jenkins"
      }
    ]
  }
}
