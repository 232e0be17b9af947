#!json
{
  "production/mattermost-database": {
    "eos_terraform.applied": [
      {
        "name": "production/mattermost-database"
      }
    ]
  }
}
