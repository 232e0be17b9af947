terraform {
  required_version = ">= 1.6"

  backend "consul" {}

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

provider "consul" {}

provider "nomad" {}

module "grafana" {
  source                          = "../../../modules/grafana/bbaf8a8ff8ba"
  namespace                       = var.namespace
  datacenter                      = var.datacenter
  grafana_service                 = var.grafana_service
  grafana_count                   = var.grafana_count
  grafana_cpu                     = var.grafana_cpu
  grafana_memory                  = var.grafana_memory
  grafana_image                   = var.grafana_image
  grafana_env_gf_server_http_addr = var.grafana_env_gf_server_http_addr
  grafana_env_gf_server_root_url  = var.grafana_env_gf_server_root_url
  grafana_file_datasources_yaml   = var.grafana_file_datasources_yaml
  grafana_port_http               = var.grafana_port_http
  grafana_port_http_to            = var.grafana_port_http_to
  grafana_callers                 = var.grafana_callers
  grafana_route_0                 = var.grafana_route_0
  grafana_check_path              = var.grafana_check_path
  volume_data_name                = var.volume_data_name
  volume_data_host                = var.volume_data_host
  volume_data_path                = var.volume_data_path
  eos_digest                      = var.eos_digest
  generation                      = var.generation
  outputs                         = var.outputs
  node_ids                        = var.node_ids
  secret_version                  = var.secret_version
  registered                      = var.registered
}
