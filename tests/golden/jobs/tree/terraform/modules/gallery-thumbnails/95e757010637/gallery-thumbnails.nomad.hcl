variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "cron" {
  type = string
}

variable "zone" {
  type = string
}

variable "thumbnails_service" {
  type = string
}

variable "thumbnails_count" {
  type = number
}

variable "thumbnails_cpu" {
  type = number
}

variable "thumbnails_memory" {
  type = number
}

variable "thumbnails_image" {
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

job "gallery-thumbnails" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "batch"
  meta = {
    eos_component = "gallery-thumbnails"
    eos_recipe    = "gallery"
    eos_version   = "5"
    eos_digest    = var.eos_digest
  }

  periodic {
    crons            = [var.cron]
    time_zone        = var.zone
    prohibit_overlap = true
    enabled          = true
  }

  group "thumbnails" {
    count = var.thumbnails_count

    restart {
      attempts = 0
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    reschedule {
      attempts  = 0
      unlimited = false
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    task "thumbnails" {
      driver = "docker"

      config {
        image = var.thumbnails_image
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = var.thumbnails_cpu
        memory = var.thumbnails_memory
      }
    }
  }
}
