#!json
{
  "secrets": {
    "production/postgres": {
      "place": "nomad/jobs/postgres in namespace production",
      "items": [
        "password"
      ]
    }
  }
}
