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

module "gallery-thumbnails" {
  source             = "../../../modules/gallery-thumbnails/95e757010637"
  namespace          = var.namespace
  datacenter         = var.datacenter
  cron               = var.cron
  zone               = var.zone
  thumbnails_service = var.thumbnails_service
  thumbnails_count   = var.thumbnails_count
  thumbnails_cpu     = var.thumbnails_cpu
  thumbnails_memory  = var.thumbnails_memory
  thumbnails_image   = var.thumbnails_image
  volume_data_name   = var.volume_data_name
  eos_digest         = var.eos_digest
  generation         = var.generation
}
