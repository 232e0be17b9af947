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
  jobspec          = file("${path.module}/hecate-proxy.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                   = var.namespace
      datacenter                  = var.datacenter
      hecate_proxy_service        = var.hecate_proxy_service
      hecate_proxy_count          = tostring(var.hecate_proxy_count)
      hecate_proxy_cpu            = tostring(var.hecate_proxy_cpu)
      hecate_proxy_memory         = tostring(var.hecate_proxy_memory)
      hecate_proxy_image          = var.hecate_proxy_image
      hecate_proxy_arg_0          = var.hecate_proxy_arg_0
      hecate_proxy_arg_1          = var.hecate_proxy_arg_1
      hecate_proxy_arg_2          = var.hecate_proxy_arg_2
      hecate_proxy_arg_3          = var.hecate_proxy_arg_3
      hecate_proxy_arg_4          = var.hecate_proxy_arg_4
      hecate_proxy_arg_5          = var.hecate_proxy_arg_5
      hecate_proxy_file_caddyfile = var.hecate_proxy_file_caddyfile
      hecate_proxy_file_routes    = var.hecate_proxy_file_routes
      hecate_proxy_port_http      = tostring(var.hecate_proxy_port_http)
      hecate_proxy_port_http_to   = tostring(var.hecate_proxy_port_http_to)
      hecate_proxy_port_https     = tostring(var.hecate_proxy_port_https)
      hecate_proxy_port_https_to  = tostring(var.hecate_proxy_port_https_to)
      hecate_proxy_upstream_0     = var.hecate_proxy_upstream_0
      hecate_proxy_upstream_1     = var.hecate_proxy_upstream_1
      hecate_proxy_check_path     = var.hecate_proxy_check_path
      volume_data_name            = var.volume_data_name
      eos_digest                  = var.eos_digest
      generation                  = tostring(var.generation)
    }
  }
}
