#!json
{
  "production/prometheus/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/prometheus/data"
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
