#!json
{
  "production/hecate-proxy/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/hecate-proxy/data"
      },
      {
        "user": "root"
      },
      {
        "group": "root"
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
