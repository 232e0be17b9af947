terraform {
  required_version = ">= 1.6"

  backend "consul" {}

  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

provider "nomad" {}

module "platform" {
  source    = "../../../modules/platform/4c09b8f9a47a"
  namespace = var.namespace
}
