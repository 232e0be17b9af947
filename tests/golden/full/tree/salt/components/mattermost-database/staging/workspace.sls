#!json
{
  "staging/mattermost-database": {
    "eos_terraform.applied": [
      {
        "name": "staging/mattermost-database"
      }
    ]
  }
}
