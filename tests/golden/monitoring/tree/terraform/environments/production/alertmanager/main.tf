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

module "alertmanager" {
  source                             = "../../../modules/alertmanager/33c4e88c9223"
  namespace                          = var.namespace
  datacenter                         = var.datacenter
  alertmanager_service               = var.alertmanager_service
  alertmanager_count                 = var.alertmanager_count
  alertmanager_cpu                   = var.alertmanager_cpu
  alertmanager_memory                = var.alertmanager_memory
  alertmanager_image                 = var.alertmanager_image
  alertmanager_arg_0                 = var.alertmanager_arg_0
  alertmanager_arg_1                 = var.alertmanager_arg_1
  alertmanager_arg_2                 = var.alertmanager_arg_2
  alertmanager_file_alertmanager_yml = var.alertmanager_file_alertmanager_yml
  alertmanager_port_http             = var.alertmanager_port_http
  alertmanager_port_http_to          = var.alertmanager_port_http_to
  alertmanager_check_path            = var.alertmanager_check_path
  volume_data_name                   = var.volume_data_name
  volume_data_host                   = var.volume_data_host
  volume_data_path                   = var.volume_data_path
  eos_digest                         = var.eos_digest
  generation                         = var.generation
  outputs                            = var.outputs
  node_ids                           = var.node_ids
  registered                         = var.registered
}
