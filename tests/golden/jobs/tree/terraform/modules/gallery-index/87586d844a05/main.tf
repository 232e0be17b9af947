terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/gallery-index.nomad.hcl")
  purge_on_destroy = true
  detach           = false

  hcl2 {
    vars = {
      namespace        = var.namespace
      datacenter       = var.datacenter
      index_service    = var.index_service
      index_count      = tostring(var.index_count)
      index_cpu        = tostring(var.index_cpu)
      index_memory     = tostring(var.index_memory)
      index_image      = var.index_image
      volume_data_name = var.volume_data_name
      eos_digest       = var.eos_digest
      generation       = tostring(var.generation)
    }
  }
}
