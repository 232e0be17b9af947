#!yaml
volumes:
  files:
    host: node1
    purpose: database
    size: 100G
    volume_group: data-vg
  old:
    host: node1
    size: 100G
    filesystem: ext4
    snapshots: {monday: 20G}
