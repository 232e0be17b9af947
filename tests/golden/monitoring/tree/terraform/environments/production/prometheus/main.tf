terraform {
  required_version = ">= 1.6"

  backend "local" {}

  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

provider "nomad" {}

module "prometheus" {
  source                         = "../../../modules/prometheus/566bc7814d89"
  namespace                      = var.namespace
  datacenter                     = var.datacenter
  prometheus_service             = var.prometheus_service
  prometheus_count               = var.prometheus_count
  prometheus_cpu                 = var.prometheus_cpu
  prometheus_memory              = var.prometheus_memory
  prometheus_image               = var.prometheus_image
  prometheus_arg_0               = var.prometheus_arg_0
  prometheus_arg_1               = var.prometheus_arg_1
  prometheus_arg_2               = var.prometheus_arg_2
  prometheus_arg_3               = var.prometheus_arg_3
  prometheus_arg_4               = var.prometheus_arg_4
  prometheus_file_prometheus_yml = var.prometheus_file_prometheus_yml
  prometheus_port_http           = var.prometheus_port_http
  prometheus_port_http_to        = var.prometheus_port_http_to
  prometheus_check_path          = var.prometheus_check_path
  volume_data_name               = var.volume_data_name
  volume_data_host               = var.volume_data_host
  volume_data_path               = var.volume_data_path
  eos_digest                     = var.eos_digest
  generation                     = var.generation
  outputs                        = var.outputs
  node_ids                       = var.node_ids
  registered                     = var.registered
}
