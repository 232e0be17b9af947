#!yaml
hosts:
  control:
    address: 127.0.0.1
    roles: [client, control]
