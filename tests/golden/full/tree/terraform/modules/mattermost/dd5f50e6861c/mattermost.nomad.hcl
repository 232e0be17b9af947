variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "mattermost_service" {
  type = string
}

variable "mattermost_count" {
  type = number
}

variable "mattermost_cpu" {
  type = number
}

variable "mattermost_memory" {
  type = number
}

variable "mattermost_image" {
  type = string
}

variable "mattermost_env_mm_sqlsettings_drivername" {
  type = string
}

variable "mattermost_env_mm_servicesettings_listenaddress" {
  type = string
}

variable "mattermost_env_mm_servicesettings_siteurl" {
  type = string
}

variable "mattermost_env_mm_blevesettings_indexdir" {
  type = string
}

variable "mattermost_secret_texts" {
  type = string
}

variable "mattermost_port_http" {
  type = number
}

variable "mattermost_port_http_to" {
  type = number
}

variable "mattermost_upstream_0" {
  type = string
}

variable "mattermost_route_0" {
  type = string
}

variable "mattermost_check_path" {
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

job "mattermost" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component      = "mattermost"
    eos_recipe         = "mattermost"
    eos_version        = "10.11.2"
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

  group "mattermost" {
    count = var.mattermost_count

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
        static = var.mattermost_port_http
        to     = var.mattermost_port_http_to
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
      name     = var.mattermost_service
      port     = "http"
      provider = "consul"
      tags     = ["eos-route=${var.mattermost_route_0}"]

      check {
        type     = "http"
        path     = var.mattermost_check_path
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

          proxy {
            upstreams {
              destination_name = var.mattermost_upstream_0
              local_bind_port  = 20000
            }
          }
        }
      }
    }

    task "mattermost" {
      driver = "docker"

      config {
        image = var.mattermost_image
      }

      env {
        MM_SQLSETTINGS_DRIVERNAME        = var.mattermost_env_mm_sqlsettings_drivername
        MM_SERVICESETTINGS_LISTENADDRESS = var.mattermost_env_mm_servicesettings_listenaddress
        MM_SERVICESETTINGS_SITEURL       = var.mattermost_env_mm_servicesettings_siteurl
        MM_BLEVESETTINGS_INDEXDIR        = var.mattermost_env_mm_blevesettings_indexdir
      }

      vault {
        env          = false
        disable_file = true
        change_mode  = "noop"
      }

      template {
        destination = "$${NOMAD_SECRETS_DIR}/eos-texts.env"
        env         = true
        change_mode = "noop"
        data        = var.mattermost_secret_texts
      }

      volume_mount {
        volume      = "data"
        destination = "/mattermost/data"
      }

      resources {
        cpu    = var.mattermost_cpu
        memory = var.mattermost_memory
      }
    }
  }
}
