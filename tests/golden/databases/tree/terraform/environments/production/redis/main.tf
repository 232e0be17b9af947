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

module "redis" {
  source                  = "../../../modules/redis/88884668b04c"
  namespace               = var.namespace
  datacenter              = var.datacenter
  redis_service           = var.redis_service
  redis_count             = var.redis_count
  redis_cpu               = var.redis_cpu
  redis_memory            = var.redis_memory
  redis_image             = var.redis_image
  redis_arg_0             = var.redis_arg_0
  redis_arg_1             = var.redis_arg_1
  redis_secret_redis_conf = var.redis_secret_redis_conf
  redis_port_db_to        = var.redis_port_db_to
  volume_data_name        = var.volume_data_name
  volume_data_host        = var.volume_data_host
  volume_data_path        = var.volume_data_path
  eos_digest              = var.eos_digest
  generation              = var.generation
  outputs                 = var.outputs
  node_ids                = var.node_ids
  secret_version          = var.secret_version
  registered              = var.registered
}
