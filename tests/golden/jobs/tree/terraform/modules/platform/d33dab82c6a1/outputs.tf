output "namespace" {
  value = nomad_namespace.environment.name
}
