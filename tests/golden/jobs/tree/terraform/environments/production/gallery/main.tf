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

module "gallery" {
  source                     = "../../../modules/gallery/351ec81adbed"
  namespace                  = var.namespace
  datacenter                 = var.datacenter
  gallery_service            = var.gallery_service
  gallery_count              = var.gallery_count
  gallery_cpu                = var.gallery_cpu
  gallery_memory             = var.gallery_memory
  gallery_image              = var.gallery_image
  gallery_arg_0              = var.gallery_arg_0
  gallery_entrypoint_0       = var.gallery_entrypoint_0
  gallery_entrypoint_1       = var.gallery_entrypoint_1
  gallery_user               = var.gallery_user
  gallery_hostname           = var.gallery_hostname
  gallery_shm                = var.gallery_shm
  gallery_task_migrate_image = var.gallery_task_migrate_image
  gallery_task_migrate_arg_0 = var.gallery_task_migrate_arg_0
  gallery_task_migrate_arg_1 = var.gallery_task_migrate_arg_1
  gallery_task_migrate_user  = var.gallery_task_migrate_user
  gallery_task_herald_image  = var.gallery_task_herald_image
  gallery_file_gallery_conf  = var.gallery_file_gallery_conf
  gallery_port_http_to       = var.gallery_port_http_to
  gallery_check_path         = var.gallery_check_path
  volume_data_name           = var.volume_data_name
  volume_data_host           = var.volume_data_host
  volume_data_path           = var.volume_data_path
  eos_digest                 = var.eos_digest
  generation                 = var.generation
  outputs                    = var.outputs
  node_ids                   = var.node_ids
  registered                 = var.registered
}
