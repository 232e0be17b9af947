variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "prometheus_service" {
  type = string
}

variable "prometheus_count" {
  type = number
}

variable "prometheus_cpu" {
  type = number
}

variable "prometheus_memory" {
  type = number
}

variable "prometheus_image" {
  type = string
}

variable "prometheus_arg_0" {
  type = string
}

variable "prometheus_arg_1" {
  type = string
}

variable "prometheus_arg_2" {
  type = string
}

variable "prometheus_arg_3" {
  type = string
}

variable "prometheus_arg_4" {
  type = string
}

variable "prometheus_file_prometheus_yml" {
  type = string
}

variable "prometheus_port_http" {
  type = number
}

variable "prometheus_port_http_to" {
  type = number
}

variable "prometheus_check_path" {
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

job "prometheus" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component = "prometheus"
    eos_recipe    = "prometheus"
    eos_version   = "3.5.0"
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

  group "prometheus" {
    count = var.prometheus_count

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
        static = var.prometheus_port_http
        to     = var.prometheus_port_http_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.prometheus_service
      port     = "http"
      provider = "nomad"
      tags     = ["eos-component=prometheus", "eos-measured=${var.namespace}", "eos-metrics=/metrics"]

      check {
        type     = "http"
        path     = var.prometheus_check_path
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }
    }

    task "prometheus" {
      driver = "docker"

      config {
        image = var.prometheus_image
        ports = ["http"]
        args  = [var.prometheus_arg_0, var.prometheus_arg_1, var.prometheus_arg_2, var.prometheus_arg_3, var.prometheus_arg_4]
      }

      template {
        destination = "$${NOMAD_TASK_DIR}/prometheus.yml"
        env         = false
        change_mode = "restart"
        data        = var.prometheus_file_prometheus_yml
      }

      template {
        destination = "$${NOMAD_TASK_DIR}/components.json"
        env         = false
        change_mode = "noop"
        data        = "[{{ $comma := \"\" }}{{ range nomadServices }}{{ if not (.Name | regexMatch \"-sidecar-proxy$\") }}{{ range nomadService .Name }}{{ if .Tags | contains (printf \"eos-measured=%s\" (env \"NOMAD_NAMESPACE\")) }}{{ $tags := printf \",%s,\" (.Tags | join \",\") }}{{ $comma }}\n{\"targets\": [\"{{ .Address }}:{{ .Port }}\"], \"labels\": {\"__metrics_path__\": \"{{ $tags | regexReplaceAll \".*,eos-metrics=([^,]*),.*\" \"$1\" }}\", \"component\": \"{{ $tags | regexReplaceAll \".*,eos-component=([^,]*),.*\" \"$1\" }}\", \"environment\": \"{{ env \"NOMAD_NAMESPACE\" }}\", \"service\": \"{{ .Name }}\"}}{{ $comma = \",\" }}{{ end }}{{ end }}{{ end }}{{ end }}\n]"

        wait {
          min = "1s"
          max = "10s"
        }
      }

      volume_mount {
        volume      = "data"
        destination = "/prometheus"
      }

      resources {
        cpu    = var.prometheus_cpu
        memory = var.prometheus_memory
      }
    }
  }
}
