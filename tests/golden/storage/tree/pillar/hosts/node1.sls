#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.2",
        "roles": [
          "client",
          "storage"
        ],
        "datacenter": "dc1",
        "volume_group": "data-vg",
        "devices": [
          "/dev/sdb"
        ]
      },
      "components": {
        "production/postgres": {
          "recipe": "postgres",
          "version": "17.6",
          "volumes": {
            "data": {
              "size": "20 GiB",
              "filesystem": "xfs"
            }
          }
        }
      }
    },
    "volumes": {
      "production/postgres/data": {
        "path": "/opt/postgres/data",
        "user": "999",
        "group": "999",
        "mode": "0700",
        "durability": "redundant",
        "risk": "medium",
        "alert": 85,
        "volume": "postgres-data",
        "volume_group": "data-vg",
        "devices": [
          "/dev/sdb"
        ],
        "size": 21474836480,
        "filesystem": "xfs"
      }
    }
  }
}
