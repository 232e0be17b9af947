terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_namespace" "environment" {
  name        = var.namespace
  description = "Environment of an Eos estate"
}
