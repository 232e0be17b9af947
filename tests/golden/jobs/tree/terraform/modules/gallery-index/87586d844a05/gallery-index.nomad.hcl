variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "index_service" {
  type = string
}

variable "index_count" {
  type = number
}

variable "index_cpu" {
  type = number
}

variable "index_memory" {
  type = number
}

variable "index_image" {
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

job "gallery-index" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "batch"
  meta = {
    eos_component = "gallery-index"
    eos_recipe    = "gallery"
    eos_version   = "5"
    eos_digest    = var.eos_digest
  }

  group "index" {
    count = var.index_count

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

    task "index" {
      driver = "docker"

      config {
        image = var.index_image
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = var.index_cpu
        memory = var.index_memory
      }
    }
  }
}
