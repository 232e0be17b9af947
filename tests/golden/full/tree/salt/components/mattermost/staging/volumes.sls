#!json
{
  "staging/mattermost/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/mattermost-staging/data"
      },
      {
        "user": 2000
      },
      {
        "group": 2000
      },
      {
        "mode": "0750"
      },
      {
        "makedirs": true
      }
    ]
  }
}
