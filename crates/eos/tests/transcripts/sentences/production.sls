#!yaml
volumes:
  database_volume:
    host: node1
    size: 100G
    purpose: database
  archive:
    host: node1
    size: 20G
    mount: /data
