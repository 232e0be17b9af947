terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_dynamic_host_volume_registration" "data" {
  for_each  = var.volume_data_paths
  name      = var.volume_data_name
  namespace = var.namespace
  node_id   = var.node_ids[each.key]
  host_path = each.value

  capability {
    access_mode     = "single-node-writer"
    attachment_mode = "file-system"
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/jenkins.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                = var.namespace
      datacenter               = var.datacenter
      jenkins_service          = var.jenkins_service
      jenkins_count            = tostring(var.jenkins_count)
      jenkins_cpu              = tostring(var.jenkins_cpu)
      jenkins_memory           = tostring(var.jenkins_memory)
      jenkins_image            = var.jenkins_image
      jenkins_env_jenkins_opts = var.jenkins_env_jenkins_opts
      jenkins_port_http        = tostring(var.jenkins_port_http)
      jenkins_port_http_to     = tostring(var.jenkins_port_http_to)
      jenkins_check_path       = var.jenkins_check_path
      volume_data_name         = var.volume_data_name
      eos_digest               = var.eos_digest
      generation               = tostring(var.generation)
    }
  }

  timeouts {
    create = "${max(300, (var.jenkins_count + 1) * 605)}s"
    update = "${max(300, (var.jenkins_count + 1) * 605)}s"
  }
}
