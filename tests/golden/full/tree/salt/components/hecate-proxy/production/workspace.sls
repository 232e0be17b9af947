#!json
{
  "production/hecate-proxy": {
    "eos_terraform.applied": [
      {
        "name": "production/hecate-proxy"
      }
    ]
  }
}
