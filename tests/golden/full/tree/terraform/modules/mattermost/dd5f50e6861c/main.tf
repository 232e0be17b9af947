terraform {
  required_providers {
    consul = {
      source  = "hashicorp/consul"
      version = "~> 2.0"
    }
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

resource "consul_config_entry" "mattermost" {
  kind        = "service-intentions"
  name        = var.mattermost_service
  config_json = jsonencode({ Sources = [for caller in var.mattermost_callers : { Name = caller, Action = "allow", Precedence = 9, Type = "consul" }] })
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/mattermost.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                                       = var.namespace
      datacenter                                      = var.datacenter
      mattermost_service                              = var.mattermost_service
      mattermost_count                                = tostring(var.mattermost_count)
      mattermost_cpu                                  = tostring(var.mattermost_cpu)
      mattermost_memory                               = tostring(var.mattermost_memory)
      mattermost_image                                = var.mattermost_image
      mattermost_env_mm_sqlsettings_drivername        = var.mattermost_env_mm_sqlsettings_drivername
      mattermost_env_mm_servicesettings_listenaddress = var.mattermost_env_mm_servicesettings_listenaddress
      mattermost_env_mm_servicesettings_siteurl       = var.mattermost_env_mm_servicesettings_siteurl
      mattermost_env_mm_blevesettings_indexdir        = var.mattermost_env_mm_blevesettings_indexdir
      mattermost_secret_texts                         = var.mattermost_secret_texts
      mattermost_port_http                            = tostring(var.mattermost_port_http)
      mattermost_port_http_to                         = tostring(var.mattermost_port_http_to)
      mattermost_upstream_0                           = var.mattermost_upstream_0
      mattermost_route_0                              = var.mattermost_route_0
      mattermost_check_path                           = var.mattermost_check_path
      volume_data_name                                = var.volume_data_name
      eos_digest                                      = var.eos_digest
      generation                                      = tostring(var.generation)
      secret_version                                  = tostring(var.secret_version)
    }
  }
}
