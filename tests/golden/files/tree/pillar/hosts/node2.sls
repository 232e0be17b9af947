#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.3",
        "roles": [
          "storage"
        ],
        "datacenter": "dc1"
      },
      "components": {
        "production/tuning-storage": {
          "recipe": "tuning",
          "version": "1",
          "options": {
            "domains": [
              "one.example",
              "two.example"
            ],
            "hosts": [
              "node2"
            ]
          }
        }
      }
    },
    "files": {
      "production/tuning-storage/etc/sysctl.d/60-tuning-storage.conf": {
        "path": "/etc/sysctl.d/60-tuning-storage.conf",
        "text": "vm.swappiness = 10\n",
        "user": "root",
        "group": "root",
        "mode": "0644",
        "risk": "high"
      },
      "production/tuning-storage/etc/tuning-storage.hosts": {
        "path": "/etc/tuning-storage.hosts",
        "text": "\n127.0.0.1 one.example\n\n127.0.0.1 two.example\n\n",
        "user": "root",
        "group": "root",
        "mode": "0644",
        "risk": "high"
      }
    },
    "volumes": {}
  }
}
