output "jenkins_url" {
  value = module.jenkins.jenkins_url
}

output "nomad_service" {
  value = module.jenkins.nomad_service
}
