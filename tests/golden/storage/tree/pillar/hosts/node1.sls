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
        "volume_group": "data-vg",
        "filesystem": "xfs",
        "size": 21474836480
      }
    }
  }
}
