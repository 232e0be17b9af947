terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/gallery-thumbnails.nomad.hcl")
  purge_on_destroy = true
  detach           = false

  hcl2 {
    vars = {
      namespace          = var.namespace
      datacenter         = var.datacenter
      cron               = var.cron
      zone               = var.zone
      thumbnails_service = var.thumbnails_service
      thumbnails_count   = tostring(var.thumbnails_count)
      thumbnails_cpu     = tostring(var.thumbnails_cpu)
      thumbnails_memory  = tostring(var.thumbnails_memory)
      thumbnails_image   = var.thumbnails_image
      volume_data_name   = var.volume_data_name
      eos_digest         = var.eos_digest
      generation         = tostring(var.generation)
    }
  }
}
