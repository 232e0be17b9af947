#!json
{
  "secrets": {
    "production/postgres": {
      "place": "nomad/jobs/postgres in namespace production",
      "items": [
        "password"
      ]
    },
    "production/redis": {
      "place": "nomad/jobs/redis in namespace production",
      "items": [
        "password"
      ]
    }
  }
}
