#!json
{
  "production/postgres/data": {
    "eos_storage.mounted": [
      {
        "name": "/opt/postgres/data"
      },
      {
        "user": 999
      },
      {
        "group": 999
      },
      {
        "mode": "0700"
      },
      {
        "volume_id": "production/postgres/data"
      },
      {
        "volume": "postgres-data"
      },
      {
        "volume_group": "data-vg"
      },
      {
        "devices": [
          "/dev/sdb"
        ]
      },
      {
        "size": 21474836480
      },
      {
        "filesystem": "xfs"
      }
    ]
  }
}
