terraform {
  required_version = ">= 1.6"

  backend "s3" {
    bucket                      = "eos-terraform-state"
    key                         = "eos/production/platform/terraform.tfstate"
    region                      = "eu-central-1"
    use_lockfile                = true
    use_path_style              = true
    skip_credentials_validation = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    endpoints = {
      s3 = "https://store.example.org:9000"
    }
  }

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
