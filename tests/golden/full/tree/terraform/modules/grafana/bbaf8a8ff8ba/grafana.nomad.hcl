variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "grafana_service" {
  type = string
}

variable "grafana_count" {
  type = number
}

variable "grafana_cpu" {
  type = number
}

variable "grafana_memory" {
  type = number
}

variable "grafana_image" {
  type = string
}

variable "grafana_env_gf_server_http_addr" {
  type = string
}

variable "grafana_env_gf_server_root_url" {
  type = string
}

variable "grafana_file_datasources_yaml" {
  type = string
}

variable "grafana_port_http" {
  type = number
}

variable "grafana_port_http_to" {
  type = number
}

variable "grafana_route_0" {
  type = string
}

variable "grafana_check_path" {
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

variable "secret_version" {
  type = number
}

job "grafana" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component      = "grafana"
    eos_recipe         = "grafana"
    eos_version        = "11.6.0"
    eos_digest         = var.eos_digest
    eos_secret_version = var.secret_version
  }

  update {
    max_parallel      = 1
    health_check      = "checks"
    min_healthy_time  = "2s"
    healthy_deadline  = "90s"
    progress_deadline = "0s"
    auto_revert       = true
  }

  group "grafana" {
    count = var.grafana_count

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
      mode = "bridge"

      port "http" {
        static = var.grafana_port_http
        to     = var.grafana_port_http_to
      }

      port "mesh" {
        to           = -1
        host_network = "mesh"
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.grafana_service
      port     = "http"
      provider = "consul"
      tags     = ["eos-component=grafana", "eos-measured=${var.namespace}", "eos-metrics=/metrics", "eos-route=${var.grafana_route_0}"]

      check {
        type     = "http"
        path     = var.grafana_check_path
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }

      connect {
        sidecar_service {
          port = "mesh"
        }
      }
    }

    task "grafana" {
      driver = "docker"

      config {
        image = var.grafana_image

        mount {
          type     = "bind"
          source   = "placed/datasources.yaml"
          target   = "/etc/grafana/provisioning/datasources/eos.yaml"
          readonly = true
        }
      }

      env {
        GF_SERVER_HTTP_ADDR              = var.grafana_env_gf_server_http_addr
        GF_SERVER_ROOT_URL               = var.grafana_env_gf_server_root_url
        GF_SECURITY_ADMIN_PASSWORD__FILE = "$${NOMAD_SECRETS_DIR}/admin_password"
      }

      vault {
        env          = false
        disable_file = true
        change_mode  = "noop"
      }

      template {
        destination = "placed/datasources.yaml"
        env         = false
        change_mode = "restart"
        data        = var.grafana_file_datasources_yaml
      }

      template {
        destination = "$${NOMAD_SECRETS_DIR}/admin_password"
        env         = false
        change_mode = "noop"
        data        = "{{ with secret (printf \"secret/data/%s/%s/app?version=%s\" (env \"NOMAD_NAMESPACE\") (env \"NOMAD_JOB_NAME\") (env \"NOMAD_META_eos_secret_version\")) }}{{ .Data.data.admin_password }}{{ end }}"
      }

      volume_mount {
        volume      = "data"
        destination = "/var/lib/grafana"
      }

      resources {
        cpu    = var.grafana_cpu
        memory = var.grafana_memory
      }
    }
  }
}
