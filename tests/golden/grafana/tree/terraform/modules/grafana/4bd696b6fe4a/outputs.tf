output "job" {
  value = nomad_job.component.id
}

output "namespace" {
  value = nomad_job.component.namespace
}
