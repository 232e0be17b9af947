#!yaml
hosts:
  control:
    address: 127.0.0.1
    roles: [client, control]
  node1:
    address: 10.0.0.5
    roles: [client]
    volume_group: data-vg
    devices: [/dev/sdb]
