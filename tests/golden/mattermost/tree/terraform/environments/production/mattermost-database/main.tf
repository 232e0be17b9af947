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

module "mattermost-database" {
  source                     = "../../../modules/mattermost-database/0ec00c4130d1"
  namespace                  = var.namespace
  datacenter                 = var.datacenter
  postgres_service           = var.postgres_service
  postgres_count             = var.postgres_count
  postgres_cpu               = var.postgres_cpu
  postgres_memory            = var.postgres_memory
  postgres_image             = var.postgres_image
  postgres_arg_0             = var.postgres_arg_0
  postgres_arg_1             = var.postgres_arg_1
  postgres_env_postgres_db   = var.postgres_env_postgres_db
  postgres_env_postgres_user = var.postgres_env_postgres_user
  postgres_env_pgdata        = var.postgres_env_pgdata
  postgres_file_start        = var.postgres_file_start
  postgres_port_db_to        = var.postgres_port_db_to
  volume_data_name           = var.volume_data_name
  volume_data_host           = var.volume_data_host
  volume_data_path           = var.volume_data_path
  eos_digest                 = var.eos_digest
  generation                 = var.generation
  outputs                    = var.outputs
  node_ids                   = var.node_ids
  secret_version             = var.secret_version
  registered                 = var.registered
}
