#!json
{
  "production/gallery-thumbnails": {
    "eos_terraform.applied": [
      {
        "name": "production/gallery-thumbnails"
      }
    ]
  }
}
