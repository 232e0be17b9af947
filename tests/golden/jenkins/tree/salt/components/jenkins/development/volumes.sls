#!json
{
  "development/jenkins/data": {
    "file.directory": [
      {
        "name": "/opt/jenkins-development/data"
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
