#!json
{
  "production/jenkins/data": {
    "file.directory": [
      {
        "name": "/opt/jenkins/data"
      },
      {
        "user": 1000
      },
      {
        "group": 1000
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
