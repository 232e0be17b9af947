#!yaml
hosts:
  node1:
    address: 10.0.0.1
    roles: [client, control]
    volume_group: data-vg
  node2:
    address: 10.0.0.2
    roles: [client]
  node3:
    address: 10.0.0.3
    roles: [client]
