terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_dynamic_host_volume_registration" "data" {
  name      = var.volume_data_name
  namespace = var.namespace
  node_id   = var.node_ids[var.volume_data_host]
  host_path = var.volume_data_path

  capability {
    access_mode     = "single-node-writer"
    attachment_mode = "file-system"
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/alertmanager.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                          = var.namespace
      datacenter                         = var.datacenter
      alertmanager_service               = var.alertmanager_service
      alertmanager_count                 = tostring(var.alertmanager_count)
      alertmanager_cpu                   = tostring(var.alertmanager_cpu)
      alertmanager_memory                = tostring(var.alertmanager_memory)
      alertmanager_image                 = var.alertmanager_image
      alertmanager_arg_0                 = var.alertmanager_arg_0
      alertmanager_arg_1                 = var.alertmanager_arg_1
      alertmanager_arg_2                 = var.alertmanager_arg_2
      alertmanager_file_alertmanager_yml = var.alertmanager_file_alertmanager_yml
      alertmanager_port_http             = tostring(var.alertmanager_port_http)
      alertmanager_port_http_to          = tostring(var.alertmanager_port_http_to)
      alertmanager_check_path            = var.alertmanager_check_path
      volume_data_name                   = var.volume_data_name
      eos_digest                         = var.eos_digest
      generation                         = tostring(var.generation)
    }
  }
}
