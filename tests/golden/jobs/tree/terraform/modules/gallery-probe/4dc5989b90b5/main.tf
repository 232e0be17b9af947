terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/gallery-probe.nomad.hcl")
  purge_on_destroy = true
  detach           = false

  hcl2 {
    vars = {
      namespace     = var.namespace
      datacenter    = var.datacenter
      probe_service = var.probe_service
      probe_count   = tostring(var.probe_count)
      probe_cpu     = tostring(var.probe_cpu)
      probe_memory  = tostring(var.probe_memory)
      probe_image   = var.probe_image
      eos_digest    = var.eos_digest
      generation    = tostring(var.generation)
    }
  }
}
