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

module "gallery-probe" {
  source        = "../../../modules/gallery-probe/4dc5989b90b5"
  namespace     = var.namespace
  datacenter    = var.datacenter
  probe_service = var.probe_service
  probe_count   = var.probe_count
  probe_cpu     = var.probe_cpu
  probe_memory  = var.probe_memory
  probe_image   = var.probe_image
  eos_digest    = var.eos_digest
  generation    = var.generation
}
