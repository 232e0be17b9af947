#!json
{
  "production/gallery-probe": {
    "eos_terraform.applied": [
      {
        "name": "production/gallery-probe"
      }
    ]
  }
}
