terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/hello.nomad.hcl")
  purge_on_destroy = true
  detach           = false

  hcl2 {
    vars = {
      namespace                    = var.namespace
      datacenter                   = var.datacenter
      hello_service                = var.hello_service
      hello_count                  = tostring(var.hello_count)
      hello_cpu                    = tostring(var.hello_cpu)
      hello_memory                 = tostring(var.hello_memory)
      hello_command                = var.hello_command
      hello_arg_0                  = var.hello_arg_0
      hello_arg_1                  = var.hello_arg_1
      hello_arg_2                  = var.hello_arg_2
      hello_env_eos_hello_greeting = var.hello_env_eos_hello_greeting
      hello_check_path             = var.hello_check_path
      eos_digest                   = var.eos_digest
      generation                   = tostring(var.generation)
    }
  }
}
