output "proxy_url" {
  value = module.hecate-proxy.proxy_url
}

output "nomad_service" {
  value = module.hecate-proxy.nomad_service
}
