output "postgres_address" {
  value = module.mattermost-database.postgres_address
}

output "consul_service" {
  value = module.mattermost-database.consul_service
}
