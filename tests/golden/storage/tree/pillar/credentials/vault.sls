#!json
{
  "secrets": {
    "secret/production/postgres": [
      "password"
    ]
  }
}
