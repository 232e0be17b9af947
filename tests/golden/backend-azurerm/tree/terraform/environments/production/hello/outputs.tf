output "hello_url" {
  value = module.hello.hello_url
}

output "nomad_service" {
  value = module.hello.nomad_service
}
