#!json
{
  "eos": {
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
