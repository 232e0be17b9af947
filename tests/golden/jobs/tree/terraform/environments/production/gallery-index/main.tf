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

module "gallery-index" {
  source           = "../../../modules/gallery-index/87586d844a05"
  namespace        = var.namespace
  datacenter       = var.datacenter
  index_service    = var.index_service
  index_count      = var.index_count
  index_cpu        = var.index_cpu
  index_memory     = var.index_memory
  index_image      = var.index_image
  volume_data_name = var.volume_data_name
  eos_digest       = var.eos_digest
  generation       = var.generation
}
