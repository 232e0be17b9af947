variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "gallery_service" {
  type = string
}

variable "gallery_count" {
  type = number
}

variable "gallery_cpu" {
  type = number
}

variable "gallery_memory" {
  type = number
}

variable "gallery_image" {
  type = string
}

variable "gallery_arg_0" {
  type = string
}

variable "gallery_entrypoint_0" {
  type = string
}

variable "gallery_entrypoint_1" {
  type = string
}

variable "gallery_user" {
  type = string
}

variable "gallery_hostname" {
  type = string
}

variable "gallery_shm" {
  type = number
}

variable "gallery_task_migrate_image" {
  type = string
}

variable "gallery_task_migrate_arg_0" {
  type = string
}

variable "gallery_task_migrate_arg_1" {
  type = string
}

variable "gallery_task_migrate_user" {
  type = string
}

variable "gallery_task_herald_image" {
  type = string
}

variable "gallery_file_gallery_conf" {
  type = string
}

variable "gallery_port_http_to" {
  type = number
}

variable "gallery_check_path" {
  type = string
}

variable "volume_data_name" {
  type = string
}

variable "eos_digest" {
  type = string
}

variable "generation" {
  type = number
}

job "gallery" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component = "gallery"
    eos_recipe    = "gallery"
    eos_version   = "5"
    eos_digest    = var.eos_digest
  }

  update {
    max_parallel      = 1
    health_check      = "checks"
    min_healthy_time  = "2s"
    healthy_deadline  = "90s"
    progress_deadline = "0s"
    auto_revert       = true
  }

  group "gallery" {
    count = var.gallery_count

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    network {
      port "http" {
        to = var.gallery_port_http_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.gallery_service
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = var.gallery_check_path
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }
    }

    task "migrate" {
      driver = "docker"
      user   = var.gallery_task_migrate_user

      config {
        image = var.gallery_task_migrate_image
        args  = [var.gallery_task_migrate_arg_0, var.gallery_task_migrate_arg_1]

        mount {
          type     = "bind"
          source   = "placed/gallery.conf"
          target   = "/etc/gallery/gallery.conf"
          readonly = true
        }
      }

      template {
        destination = "placed/gallery.conf"
        env         = false
        change_mode = "restart"
        data        = var.gallery_file_gallery_conf
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      lifecycle {
        hook    = "prestart"
        sidecar = false
      }

      resources {
        cpu    = var.gallery_cpu
        memory = var.gallery_memory
      }
    }

    task "herald" {
      driver = "docker"

      config {
        image = var.gallery_task_herald_image

        mount {
          type     = "bind"
          source   = "placed/gallery.conf"
          target   = "/etc/gallery/gallery.conf"
          readonly = true
        }
      }

      template {
        destination = "placed/gallery.conf"
        env         = false
        change_mode = "restart"
        data        = var.gallery_file_gallery_conf
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      lifecycle {
        hook    = "poststart"
        sidecar = false
      }

      resources {
        cpu    = var.gallery_cpu
        memory = 32
      }
    }

    task "gallery" {
      driver = "docker"
      user   = var.gallery_user

      config {
        image      = var.gallery_image
        ports      = ["http"]
        args       = [var.gallery_arg_0]
        entrypoint = [var.gallery_entrypoint_0, var.gallery_entrypoint_1]
        init       = true
        hostname   = var.gallery_hostname
        shm_size   = var.gallery_shm

        mount {
          type     = "bind"
          source   = "placed/gallery.conf"
          target   = "/etc/gallery/gallery.conf"
          readonly = true
        }
      }

      template {
        destination = "placed/gallery.conf"
        env         = false
        change_mode = "restart"
        data        = var.gallery_file_gallery_conf
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = var.gallery_cpu
        memory = var.gallery_memory
      }
    }
  }
}
