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

module "jenkins" {
  source                   = "../../../modules/jenkins/9a24d9201b66"
  namespace                = var.namespace
  datacenter               = var.datacenter
  jenkins_service          = var.jenkins_service
  jenkins_count            = var.jenkins_count
  jenkins_cpu              = var.jenkins_cpu
  jenkins_memory           = var.jenkins_memory
  jenkins_image            = var.jenkins_image
  jenkins_env_jenkins_opts = var.jenkins_env_jenkins_opts
  jenkins_port_http        = var.jenkins_port_http
  jenkins_port_http_to     = var.jenkins_port_http_to
  jenkins_check_path       = var.jenkins_check_path
  volume_data_name         = var.volume_data_name
  volume_data_paths        = var.volume_data_paths
  eos_digest               = var.eos_digest
  generation               = var.generation
  outputs                  = var.outputs
  node_ids                 = var.node_ids
  registered               = var.registered
}
