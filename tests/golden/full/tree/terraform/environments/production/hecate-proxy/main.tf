terraform {
  required_version = ">= 1.6"

  backend "consul" {}

  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

provider "nomad" {}

module "hecate-proxy" {
  source                      = "../../../modules/hecate-proxy/379b5016778a"
  namespace                   = var.namespace
  datacenter                  = var.datacenter
  hecate_proxy_service        = var.hecate_proxy_service
  hecate_proxy_count          = var.hecate_proxy_count
  hecate_proxy_cpu            = var.hecate_proxy_cpu
  hecate_proxy_memory         = var.hecate_proxy_memory
  hecate_proxy_image          = var.hecate_proxy_image
  hecate_proxy_arg_0          = var.hecate_proxy_arg_0
  hecate_proxy_arg_1          = var.hecate_proxy_arg_1
  hecate_proxy_arg_2          = var.hecate_proxy_arg_2
  hecate_proxy_arg_3          = var.hecate_proxy_arg_3
  hecate_proxy_arg_4          = var.hecate_proxy_arg_4
  hecate_proxy_arg_5          = var.hecate_proxy_arg_5
  hecate_proxy_file_caddyfile = var.hecate_proxy_file_caddyfile
  hecate_proxy_file_routes    = var.hecate_proxy_file_routes
  hecate_proxy_port_http      = var.hecate_proxy_port_http
  hecate_proxy_port_http_to   = var.hecate_proxy_port_http_to
  hecate_proxy_port_https     = var.hecate_proxy_port_https
  hecate_proxy_port_https_to  = var.hecate_proxy_port_https_to
  hecate_proxy_upstream_0     = var.hecate_proxy_upstream_0
  hecate_proxy_upstream_1     = var.hecate_proxy_upstream_1
  hecate_proxy_check_path     = var.hecate_proxy_check_path
  volume_data_name            = var.volume_data_name
  volume_data_host            = var.volume_data_host
  volume_data_path            = var.volume_data_path
  eos_digest                  = var.eos_digest
  generation                  = var.generation
  outputs                     = var.outputs
  node_ids                    = var.node_ids
  registered                  = var.registered
}
