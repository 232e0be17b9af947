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
  jobspec          = file("${path.module}/postgres.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                  = var.namespace
      datacenter                 = var.datacenter
      postgres_service           = var.postgres_service
      postgres_count             = tostring(var.postgres_count)
      postgres_cpu               = tostring(var.postgres_cpu)
      postgres_memory            = tostring(var.postgres_memory)
      postgres_image             = var.postgres_image
      postgres_arg_0             = var.postgres_arg_0
      postgres_arg_1             = var.postgres_arg_1
      postgres_env_postgres_db   = var.postgres_env_postgres_db
      postgres_env_postgres_user = var.postgres_env_postgres_user
      postgres_env_pgdata        = var.postgres_env_pgdata
      postgres_file_start        = var.postgres_file_start
      postgres_port_db           = tostring(var.postgres_port_db)
      postgres_port_db_to        = tostring(var.postgres_port_db_to)
      volume_data_name           = var.volume_data_name
      eos_digest                 = var.eos_digest
      generation                 = tostring(var.generation)
      secret_version             = tostring(var.secret_version)
    }
  }
}
