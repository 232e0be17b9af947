output "postgres_address" {
  value = module.postgres.postgres_address
}

output "nomad_service" {
  value = module.postgres.nomad_service
}
