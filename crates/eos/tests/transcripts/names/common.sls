#!yaml
hosts:
  control:
    address: 10.0.0.1
    roles: [client, control]
  web1.example.org:
    address: 10.0.0.2
    roles: [storage]
    volume_group: data-vg
    devices: [/dev/sdb]
