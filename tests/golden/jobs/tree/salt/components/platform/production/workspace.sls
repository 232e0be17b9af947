#!json
{
  "production/platform": {
    "eos_terraform.applied": [
      {
        "name": "production/platform"
      }
    ]
  }
}
