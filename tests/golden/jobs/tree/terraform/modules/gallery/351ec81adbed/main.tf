terraform {
  required_providers {
    nomad = {
      source  = "hashicorp/nomad"
      version = "~> 2.0"
    }
  }
}

resource "nomad_dynamic_host_volume_registration" "data" {
  name      = var.volume_data_name
  namespace = var.namespace
  node_id   = var.node_ids[var.volume_data_host]
  host_path = var.volume_data_path

  capability {
    access_mode     = "single-node-writer"
    attachment_mode = "file-system"
  }
}

resource "nomad_job" "component" {
  jobspec          = file("${path.module}/gallery.nomad.hcl")
  purge_on_destroy = true
  detach           = false
  depends_on       = [nomad_dynamic_host_volume_registration.data]

  hcl2 {
    vars = {
      namespace                  = var.namespace
      datacenter                 = var.datacenter
      gallery_service            = var.gallery_service
      gallery_count              = tostring(var.gallery_count)
      gallery_cpu                = tostring(var.gallery_cpu)
      gallery_memory             = tostring(var.gallery_memory)
      gallery_image              = var.gallery_image
      gallery_arg_0              = var.gallery_arg_0
      gallery_entrypoint_0       = var.gallery_entrypoint_0
      gallery_entrypoint_1       = var.gallery_entrypoint_1
      gallery_user               = var.gallery_user
      gallery_hostname           = var.gallery_hostname
      gallery_shm                = tostring(var.gallery_shm)
      gallery_task_migrate_image = var.gallery_task_migrate_image
      gallery_task_migrate_arg_0 = var.gallery_task_migrate_arg_0
      gallery_task_migrate_arg_1 = var.gallery_task_migrate_arg_1
      gallery_task_migrate_user  = var.gallery_task_migrate_user
      gallery_task_herald_image  = var.gallery_task_herald_image
      gallery_file_gallery_conf  = var.gallery_file_gallery_conf
      gallery_port_http_to       = tostring(var.gallery_port_http_to)
      gallery_check_path         = var.gallery_check_path
      volume_data_name           = var.volume_data_name
      eos_digest                 = var.eos_digest
      generation                 = tostring(var.generation)
    }
  }
}
