variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "alertmanager_service" {
  type = string
}

variable "alertmanager_count" {
  type = number
}

variable "alertmanager_cpu" {
  type = number
}

variable "alertmanager_memory" {
  type = number
}

variable "alertmanager_image" {
  type = string
}

variable "alertmanager_arg_0" {
  type = string
}

variable "alertmanager_arg_1" {
  type = string
}

variable "alertmanager_arg_2" {
  type = string
}

variable "alertmanager_file_alertmanager_yml" {
  type = string
}

variable "alertmanager_port_http" {
  type = number
}

variable "alertmanager_port_http_to" {
  type = number
}

variable "alertmanager_check_path" {
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

job "alertmanager" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component = "alertmanager"
    eos_recipe    = "alertmanager"
    eos_version   = "0.28.1"
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

  group "alertmanager" {
    count = var.alertmanager_count

    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    network {
      port "http" {
        static = var.alertmanager_port_http
        to     = var.alertmanager_port_http_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.alertmanager_service
      port     = "http"
      provider = "nomad"
      tags     = ["eos-component=alertmanager", "eos-measured=${var.namespace}", "eos-metrics=/metrics"]

      check {
        type     = "http"
        path     = var.alertmanager_check_path
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }
    }

    task "alertmanager" {
      driver = "docker"

      config {
        image = var.alertmanager_image
        ports = ["http"]
        args  = [var.alertmanager_arg_0, var.alertmanager_arg_1, var.alertmanager_arg_2]
      }

      template {
        destination = "$${NOMAD_TASK_DIR}/alertmanager.yml"
        env         = false
        change_mode = "restart"
        data        = var.alertmanager_file_alertmanager_yml
      }

      volume_mount {
        volume      = "data"
        destination = "/alertmanager"
      }

      resources {
        cpu    = var.alertmanager_cpu
        memory = var.alertmanager_memory
      }
    }
  }
}
