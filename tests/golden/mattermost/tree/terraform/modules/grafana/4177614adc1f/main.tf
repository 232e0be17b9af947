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
  jobspec          = file("${path.module}/grafana.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                       = var.namespace
      datacenter                      = var.datacenter
      grafana_service                 = var.grafana_service
      grafana_count                   = tostring(var.grafana_count)
      grafana_cpu                     = tostring(var.grafana_cpu)
      grafana_memory                  = tostring(var.grafana_memory)
      grafana_image                   = var.grafana_image
      grafana_env_gf_server_http_addr = var.grafana_env_gf_server_http_addr
      grafana_env_gf_server_root_url  = var.grafana_env_gf_server_root_url
      grafana_file_datasources_yaml   = var.grafana_file_datasources_yaml
      grafana_port_http               = tostring(var.grafana_port_http)
      grafana_port_http_to            = tostring(var.grafana_port_http_to)
      grafana_route_0                 = var.grafana_route_0
      grafana_check_path              = var.grafana_check_path
      volume_data_name                = var.volume_data_name
      eos_digest                      = var.eos_digest
      generation                      = tostring(var.generation)
      secret_version                  = tostring(var.secret_version)
    }
  }
}
