variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "hecate_proxy_service" {
  type = string
}

variable "hecate_proxy_count" {
  type = number
}

variable "hecate_proxy_cpu" {
  type = number
}

variable "hecate_proxy_memory" {
  type = number
}

variable "hecate_proxy_image" {
  type = string
}

variable "hecate_proxy_arg_0" {
  type = string
}

variable "hecate_proxy_arg_1" {
  type = string
}

variable "hecate_proxy_arg_2" {
  type = string
}

variable "hecate_proxy_arg_3" {
  type = string
}

variable "hecate_proxy_arg_4" {
  type = string
}

variable "hecate_proxy_arg_5" {
  type = string
}

variable "hecate_proxy_file_caddyfile" {
  type = string
}

variable "hecate_proxy_file_routes" {
  type = string
}

variable "hecate_proxy_port_http" {
  type = number
}

variable "hecate_proxy_port_http_to" {
  type = number
}

variable "hecate_proxy_port_https" {
  type = number
}

variable "hecate_proxy_port_https_to" {
  type = number
}

variable "hecate_proxy_check_path" {
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

job "hecate-proxy" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component = "hecate-proxy"
    eos_recipe    = "hecate-proxy"
    eos_version   = "2.10"
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

  group "hecate-proxy" {
    count = var.hecate_proxy_count

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
        static = var.hecate_proxy_port_http
        to     = var.hecate_proxy_port_http_to
      }

      port "https" {
        static = var.hecate_proxy_port_https
        to     = var.hecate_proxy_port_https_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.hecate_proxy_service
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = var.hecate_proxy_check_path
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }
    }

    task "hecate-proxy" {
      driver = "docker"

      config {
        image  = var.hecate_proxy_image
        ports  = ["http", "https"]
        args   = [var.hecate_proxy_arg_0, var.hecate_proxy_arg_1, var.hecate_proxy_arg_2, var.hecate_proxy_arg_3, var.hecate_proxy_arg_4, var.hecate_proxy_arg_5]
        sysctl = { "net.ipv4.tcp_migrate_req" = "1" }
      }

      template {
        destination = "$${NOMAD_TASK_DIR}/Caddyfile"
        env         = false
        change_mode = "restart"
        data        = var.hecate_proxy_file_caddyfile
      }

      template {
        destination = "$${NOMAD_TASK_DIR}/routes"
        env         = false
        change_mode = "script"
        data        = var.hecate_proxy_file_routes

        change_script {
          command       = "caddy"
          args          = ["reload", "--adapter", "caddyfile", "--config", "/local/Caddyfile"]
          timeout       = "30s"
          fail_on_error = false
        }

        wait {
          min = "1s"
          max = "10s"
        }
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = var.hecate_proxy_cpu
        memory = var.hecate_proxy_memory
      }
    }
  }
}
