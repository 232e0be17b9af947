#!json
{
  "production/mattermost": {
    "eos_terraform.applied": [
      {
        "name": "production/mattermost"
      }
    ]
  }
}
