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
  jobspec          = file("${path.module}/prometheus.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                      = var.namespace
      datacenter                     = var.datacenter
      prometheus_service             = var.prometheus_service
      prometheus_count               = tostring(var.prometheus_count)
      prometheus_cpu                 = tostring(var.prometheus_cpu)
      prometheus_memory              = tostring(var.prometheus_memory)
      prometheus_image               = var.prometheus_image
      prometheus_arg_0               = var.prometheus_arg_0
      prometheus_arg_1               = var.prometheus_arg_1
      prometheus_arg_2               = var.prometheus_arg_2
      prometheus_arg_3               = var.prometheus_arg_3
      prometheus_arg_4               = var.prometheus_arg_4
      prometheus_file_prometheus_yml = var.prometheus_file_prometheus_yml
      prometheus_port_http           = tostring(var.prometheus_port_http)
      prometheus_port_http_to        = tostring(var.prometheus_port_http_to)
      prometheus_check_path          = var.prometheus_check_path
      volume_data_name               = var.volume_data_name
      eos_digest                     = var.eos_digest
      generation                     = tostring(var.generation)
    }
  }
}
