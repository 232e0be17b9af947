#!yaml
# Ask Ada before you add one.
hosts:
  control: {address: 10.0.0.1, roles: [client, control]}
  node2:
    address: 10.0.0.2   # rack 2
    roles: [client]
  node3: {address: 10.0.0.3, roles: [storage], datacenter: dc2}
