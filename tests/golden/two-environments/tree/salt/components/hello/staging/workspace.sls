#!json
{
  "staging/hello": {
    "eos_terraform.applied": [
      {
        "name": "staging/hello"
      }
    ]
  }
}
