#!json
{
  "production/archive/data": {
    "eos_storage.mounted": [
      {
        "name": "/srv/archive"
      },
      {
        "user": "root"
      },
      {
        "group": "root"
      },
      {
        "mode": "0755"
      },
      {
        "volume_id": "production/archive/data"
      },
      {
        "volume": "archive"
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
        "size": 1649267441664
      },
      {
        "filesystem": "btrfs"
      },
      {
        "compression": "zstd"
      },
      {
        "snapshots": {
          "monday": 21474836480
        }
      }
    ]
  }
}
