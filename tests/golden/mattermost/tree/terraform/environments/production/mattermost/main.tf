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

module "mattermost" {
  source                                          = "../../../modules/mattermost/0a39e1281fc7"
  namespace                                       = var.namespace
  datacenter                                      = var.datacenter
  mattermost_service                              = var.mattermost_service
  mattermost_count                                = var.mattermost_count
  mattermost_cpu                                  = var.mattermost_cpu
  mattermost_memory                               = var.mattermost_memory
  mattermost_image                                = var.mattermost_image
  mattermost_env_mm_sqlsettings_drivername        = var.mattermost_env_mm_sqlsettings_drivername
  mattermost_env_mm_servicesettings_listenaddress = var.mattermost_env_mm_servicesettings_listenaddress
  mattermost_env_mm_servicesettings_siteurl       = var.mattermost_env_mm_servicesettings_siteurl
  mattermost_env_mm_blevesettings_indexdir        = var.mattermost_env_mm_blevesettings_indexdir
  mattermost_secret_texts                         = var.mattermost_secret_texts
  mattermost_port_http                            = var.mattermost_port_http
  mattermost_port_http_to                         = var.mattermost_port_http_to
  mattermost_route_0                              = var.mattermost_route_0
  mattermost_check_path                           = var.mattermost_check_path
  volume_data_name                                = var.volume_data_name
  volume_data_host                                = var.volume_data_host
  volume_data_path                                = var.volume_data_path
  eos_digest                                      = var.eos_digest
  generation                                      = var.generation
  outputs                                         = var.outputs
  node_ids                                        = var.node_ids
  secret_version                                  = var.secret_version
  registered                                      = var.registered
}
