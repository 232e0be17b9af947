output "redis_address" {
  value = module.redis.redis_address
}

output "nomad_service" {
  value = module.redis.nomad_service
}
