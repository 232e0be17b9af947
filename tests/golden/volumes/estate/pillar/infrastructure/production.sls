#!yaml
components:
  hello: {recipe: hello}
volumes:
  archive:
    host: node1
    purpose: backup
    size: 1.5T
    alert: 80
    snapshots: {monday: 20G}
  files:
    host: node1
    volume_group: fast-vg
    devices: [/dev/nvme0n1]
    size: 100G
    mount: /srv/shared/files
    owner: "33:33"
    filesystem: btrfs
    compression: zstd
    converted: {from: ext4, when: "2026-11-16T21:00:00Z", committed: false}
