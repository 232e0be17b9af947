#!json
{
  "production/grafana/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/grafana/data"
      },
      {
        "user": 472
      },
      {
        "group": 472
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
