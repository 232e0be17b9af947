#!json
{
  "eos": {
    "estate": {
      "host": {
        "address": "10.0.0.2",
        "roles": [
          "storage"
        ],
        "datacenter": "dc1",
        "volume_group": "data-vg",
        "devices": [
          "/dev/sdb"
        ]
      },
      "volumes": {
        "production/archive": {
          "size": "1.5 TiB",
          "filesystem": "btrfs"
        },
        "production/files": {
          "size": "100 GiB",
          "filesystem": "btrfs"
        }
      }
    },
    "volumes": {
      "production/archive/data": {
        "path": "/srv/archive",
        "user": "root",
        "group": "root",
        "mode": "0755",
        "durability": "redundant",
        "risk": "medium",
        "alert": 80,
        "volume": "archive",
        "volume_group": "data-vg",
        "devices": [
          "/dev/sdb"
        ],
        "size": 1649267441664,
        "filesystem": "btrfs",
        "compression": "zstd",
        "snapshots": {
          "monday": 21474836480
        }
      },
      "production/files/data": {
        "path": "/srv/shared/files",
        "user": "33",
        "group": "33",
        "mode": "0755",
        "durability": "redundant",
        "risk": "medium",
        "alert": 85,
        "volume": "files",
        "volume_group": "fast-vg",
        "devices": [
          "/dev/nvme0n1"
        ],
        "size": 107374182400,
        "filesystem": "btrfs",
        "compression": "zstd",
        "conversion": {
          "from": "ext4",
          "when": "2026-11-16T21:00:00Z",
          "commit": false
        }
      }
    }
  }
}
