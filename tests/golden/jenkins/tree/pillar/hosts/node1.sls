#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.2",
        "roles": [
          "client"
        ],
        "datacenter": "dc1"
      },
      "components": {
        "production/jenkins": {
          "recipe": "jenkins",
          "version": "lts",
          "volumes": {
            "data": {
              "size": "10 GiB",
              "filesystem": "directory"
            }
          }
        }
      }
    },
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
