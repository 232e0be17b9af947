#!json
{
  "staging/platform": {
    "eos_terraform.applied": [
      {
        "name": "staging/platform"
      }
    ]
  }
}
