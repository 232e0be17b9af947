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
        "production/tuning": {
          "recipe": "tuning",
          "version": "1",
          "options": {
            "motd": "Tuned \"by\" {{ Eos }}, ümläut",
            "swappiness": 1
          }
        }
      }
    },
    "files": {
      "production/tuning/etc/sysctl.d/60-tuning.conf": {
        "path": "/etc/sysctl.d/60-tuning.conf",
        "text": "vm.swappiness = 1\n",
        "user": "root",
        "group": "root",
        "mode": "0644",
        "risk": "high"
      },
      "production/tuning/etc/motd.d/tuning": {
        "path": "/etc/motd.d/tuning",
        "text": "Tuned \"by\" {{ Eos }}, ümläut",
        "user": "root",
        "group": "4",
        "mode": "0640",
        "risk": "high"
      }
    },
    "volumes": {}
  }
}
