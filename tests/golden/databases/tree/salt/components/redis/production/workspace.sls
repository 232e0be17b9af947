#!json
{
  "production/redis": {
    "eos_terraform.applied": [
      {
        "name": "production/redis"
      }
    ]
  }
}
