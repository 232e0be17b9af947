#!json
{
  "production/mattermost-database/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/mattermost-database/data"
      },
      {
        "user": 999
      },
      {
        "group": 999
      },
      {
        "mode": "0700"
      },
      {
        "makedirs": true
      }
    ]
  }
}
