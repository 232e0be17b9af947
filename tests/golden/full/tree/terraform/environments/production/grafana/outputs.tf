output "public_url" {
  value = module.grafana.public_url
}

output "grafana_url" {
  value = module.grafana.grafana_url
}

output "consul_service" {
  value = module.grafana.consul_service
}
