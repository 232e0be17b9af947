#!json
{
  "production/alertmanager/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/alertmanager/data"
      },
      {
        "user": 65534
      },
      {
        "group": 65534
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
