output "alertmanager_url" {
  value = module.alertmanager.alertmanager_url
}

output "nomad_service" {
  value = module.alertmanager.nomad_service
}
