#!yaml
volumes:
  database_volume:
    host: web1.example.org
    purpose: database
    size: 100G
