#!json
{
  "eos": {
    "volumes": {
      "production/jenkins/data": {
        "path": "/opt/jenkins/data",
        "user": "1000",
        "group": "1000",
        "mode": "0750",
        "durability": "redundant",
        "risk": "low"
      }
    }
  }
}
