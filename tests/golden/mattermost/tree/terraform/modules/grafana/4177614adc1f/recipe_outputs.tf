variable "outputs" {
  description = "Texts of the outputs; the place of the service stands in them as in a format"
  type        = map(string)
}

variable "registered" {
  description = "Where the first service answers, looked up when Terraform runs; null before it is registered"
  type        = object({ address = string, port = number })
}

output "public_url" {
  value = var.registered == null ? null : var.outputs["public_url"]
}

output "grafana_url" {
  value = var.registered == null ? null : format(var.outputs["grafana_url"], var.registered.address)
}

output "nomad_service" {
  value = var.registered == null ? null : format(var.outputs["nomad_service"], var.registered.address, var.registered.port)
}
