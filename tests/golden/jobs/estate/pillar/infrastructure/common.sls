#!yaml
hosts:
  control:
    address: 10.0.0.1
    roles: [client, control]
  node1:
    address: 10.0.0.2
    roles: [client, storage]
