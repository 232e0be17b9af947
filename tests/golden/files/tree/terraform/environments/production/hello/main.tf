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

module "hello" {
  source                       = "../../../modules/hello/db12f86a78de"
  namespace                    = var.namespace
  datacenter                   = var.datacenter
  hello_service                = var.hello_service
  hello_count                  = var.hello_count
  hello_cpu                    = var.hello_cpu
  hello_memory                 = var.hello_memory
  hello_command                = var.hello_command
  hello_arg_0                  = var.hello_arg_0
  hello_arg_1                  = var.hello_arg_1
  hello_arg_2                  = var.hello_arg_2
  hello_env_eos_hello_greeting = var.hello_env_eos_hello_greeting
  hello_check_path             = var.hello_check_path
  eos_digest                   = var.eos_digest
  generation                   = var.generation
  outputs                      = var.outputs
  registered                   = var.registered
}
