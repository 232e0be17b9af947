#!json
{
  "production/gallery": {
    "eos_terraform.applied": [
      {
        "name": "production/gallery"
      }
    ]
  }
}
