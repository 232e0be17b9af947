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
  jobspec          = file("${path.module}/redis.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace               = var.namespace
      datacenter              = var.datacenter
      redis_service           = var.redis_service
      redis_count             = tostring(var.redis_count)
      redis_cpu               = tostring(var.redis_cpu)
      redis_memory            = tostring(var.redis_memory)
      redis_image             = var.redis_image
      redis_arg_0             = var.redis_arg_0
      redis_arg_1             = var.redis_arg_1
      redis_secret_redis_conf = var.redis_secret_redis_conf
      redis_port_db_to        = tostring(var.redis_port_db_to)
      volume_data_name        = var.volume_data_name
      eos_digest              = var.eos_digest
      generation              = tostring(var.generation)
      secret_version          = tostring(var.secret_version)
    }
  }
}
