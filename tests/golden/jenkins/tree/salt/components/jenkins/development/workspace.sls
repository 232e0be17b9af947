#!json
{
  "development/jenkins": {
    "eos_terraform.applied": [
      {
        "name": "development/jenkins"
      }
    ]
  }
}
