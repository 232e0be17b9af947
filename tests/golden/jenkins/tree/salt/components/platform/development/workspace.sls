#!json
{
  "development/platform": {
    "eos_terraform.applied": [
      {
        "name": "development/platform"
      }
    ]
  }
}
