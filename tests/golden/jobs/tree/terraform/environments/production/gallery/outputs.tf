output "nomad_service" {
  value = module.gallery.nomad_service
}
