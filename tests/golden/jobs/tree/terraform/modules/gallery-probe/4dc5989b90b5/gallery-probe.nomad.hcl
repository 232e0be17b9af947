variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "probe_service" {
  type = string
}

variable "probe_count" {
  type = number
}

variable "probe_cpu" {
  type = number
}

variable "probe_memory" {
  type = number
}

variable "probe_image" {
  type = string
}

variable "eos_digest" {
  type = string
}

variable "generation" {
  type = number
}

job "gallery-probe" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "system"
  meta = {
    eos_component = "gallery-probe"
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

  group "probe" {
    count = var.probe_count

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    task "probe" {
      driver = "docker"

      config {
        image = var.probe_image
      }

      resources {
        cpu    = var.probe_cpu
        memory = var.probe_memory
      }
    }
  }
}
