#!json
{
  "production/gallery-index": {
    "eos_terraform.applied": [
      {
        "name": "production/gallery-index"
      }
    ]
  }
}
