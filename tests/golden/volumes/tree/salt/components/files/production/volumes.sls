#!json
{
  "production/files/data": {
    "eos_storage.mounted": [
      {
        "name": "/srv/shared/files"
      },
      {
        "user": 33
      },
      {
        "group": 33
      },
      {
        "mode": "0755"
      },
      {
        "volume_id": "production/files/data"
      },
      {
        "volume": "files"
      },
      {
        "volume_group": "fast-vg"
      },
      {
        "devices": [
          "/dev/nvme0n1"
        ]
      },
      {
        "size": 107374182400
      },
      {
        "filesystem": "btrfs"
      },
      {
        "compression": "zstd"
      },
      {
        "conversion": {
          "from": "ext4",
          "when": "2026-11-16T21:00:00Z",
          "commit": false
        }
      }
    ]
  }
}
