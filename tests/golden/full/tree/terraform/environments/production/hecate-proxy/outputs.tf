output "proxy_url" {
  value = module.hecate-proxy.proxy_url
}

output "consul_service" {
  value = module.hecate-proxy.consul_service
}
