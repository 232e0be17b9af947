variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "redis_service" {
  type = string
}

variable "redis_count" {
  type = number
}

variable "redis_cpu" {
  type = number
}

variable "redis_memory" {
  type = number
}

variable "redis_image" {
  type = string
}

variable "redis_arg_0" {
  type = string
}

variable "redis_arg_1" {
  type = string
}

variable "redis_secret_redis_conf" {
  type = string
}

variable "redis_port_db_to" {
  type = number
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

job "redis" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component      = "redis"
    eos_recipe         = "redis"
    eos_version        = "8.2"
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

  group "redis" {
    count = var.redis_count

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    network {
      port "db" {
        to = var.redis_port_db_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.redis_service
      port     = "db"
      provider = "nomad"

      check {
        type     = "tcp"
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }
    }

    task "redis" {
      driver       = "docker"
      kill_timeout = "30s"

      config {
        image = var.redis_image
        ports = ["db"]
        args  = [var.redis_arg_0, var.redis_arg_1]
      }

      env {
        REDIS_CONFIGURATION = "$${NOMAD_SECRETS_DIR}/redis.conf"
      }

      template {
        destination = "$${NOMAD_SECRETS_DIR}/redis.conf"
        env         = false
        change_mode = "noop"
        data        = var.redis_secret_redis_conf
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = var.redis_cpu
        memory = var.redis_memory
      }
    }
  }
}
