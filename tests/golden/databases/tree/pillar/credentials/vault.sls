#!json
{
  "secrets": {
    "secret/production/postgres": [
      "password"
    ],
    "secret/production/redis": [
      "password"
    ]
  }
}
