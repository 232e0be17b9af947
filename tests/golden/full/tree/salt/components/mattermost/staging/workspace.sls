#!json
{
  "staging/mattermost": {
    "eos_terraform.applied": [
      {
        "name": "staging/mattermost"
      }
    ]
  }
}
