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

module "platform" {
  source     = "../../../modules/platform/d33dab82c6a1"
  namespace  = var.namespace
  generation = var.generation
}
