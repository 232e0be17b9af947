#!json
{
  "production/postgres/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/postgres/data"
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
