#!yaml
components:
  shop:
    recipe: shop
    hosts: {pictures: [node1], database.data: [node2]}
    options:
      port: 9001
      workers: true
  outlet:
    recipe: shop
    hosts: {pictures: [node2]}
    options:
      replicas: 1
      filesystem: ext4
      title: Outlet
      workers: true
      database: shop-database
