#!json
{
  "production/hello": {
    "eos_terraform.applied": [
      {
        "name": "production/hello"
      }
    ]
  }
}
