#!yaml
hosts:
  control:
    address: 10.0.0.1
    roles: [client, control]
