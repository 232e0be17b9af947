#!json
{
  "production/gallery/data": {
    "file.directory": [
      {
        "name": "/opt/gallery/data"
      },
      {
        "user": 33
      },
      {
        "group": 33
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
