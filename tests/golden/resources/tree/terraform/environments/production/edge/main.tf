terraform {
  required_version = ">= 1.6"

  backend "local" {}

  required_providers {
    hcloud = {
      source  = "hetznercloud/hcloud"
      version = "~> 1.60"
    }
  }
}

provider "hcloud" {}

module "edge" {
  source     = "../../../modules/edge/a58ed2f1f8a4"
  generation = var.generation
}
