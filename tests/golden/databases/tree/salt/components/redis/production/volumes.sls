#!json
{
  "production/redis/data": {
    "file.directory": [
      {
        "name": "/srv/lab/volumes/opt/redis/data"
      },
      {
        "user": 999
      },
      {
        "group": 999
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
