output "postgres_address" {
  value = module.mattermost-database.postgres_address
}

output "nomad_service" {
  value = module.mattermost-database.nomad_service
}
