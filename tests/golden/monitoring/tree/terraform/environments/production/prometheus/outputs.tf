output "prometheus_url" {
  value = module.prometheus.prometheus_url
}

output "nomad_service" {
  value = module.prometheus.nomad_service
}
