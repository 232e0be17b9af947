output "public_url" {
  value = module.mattermost.public_url
}

output "mattermost_url" {
  value = module.mattermost.mattermost_url
}

output "nomad_service" {
  value = module.mattermost.nomad_service
}
