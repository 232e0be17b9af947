variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "postgres_service" {
  type = string
}

variable "postgres_count" {
  type = number
}

variable "postgres_cpu" {
  type = number
}

variable "postgres_memory" {
  type = number
}

variable "postgres_image" {
  type = string
}

variable "postgres_arg_0" {
  type = string
}

variable "postgres_arg_1" {
  type = string
}

variable "postgres_env_postgres_db" {
  type = string
}

variable "postgres_env_postgres_user" {
  type = string
}

variable "postgres_env_pgdata" {
  type = string
}

variable "postgres_file_start" {
  type = string
}

variable "postgres_port_db_to" {
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

job "mattermost-database" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component      = "mattermost-database"
    eos_recipe         = "postgres"
    eos_version        = "17.6"
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

  group "postgres" {
    count = var.postgres_count

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    network {
      port "db" {
        to = var.postgres_port_db_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    service {
      name     = var.postgres_service
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

    task "postgres" {
      driver       = "docker"
      kill_timeout = "2m"

      config {
        image = var.postgres_image
        ports = ["db"]
        args  = [var.postgres_arg_0, var.postgres_arg_1]
      }

      env {
        POSTGRES_DB            = var.postgres_env_postgres_db
        POSTGRES_USER          = var.postgres_env_postgres_user
        PGDATA                 = var.postgres_env_pgdata
        POSTGRES_PASSWORD_FILE = "$${NOMAD_SECRETS_DIR}/password"
      }

      template {
        destination = "$${NOMAD_TASK_DIR}/start"
        env         = false
        change_mode = "restart"
        data        = var.postgres_file_start
      }

      template {
        destination = "$${NOMAD_SECRETS_DIR}/password"
        env         = false
        change_mode = "noop"
        data        = "{{ with nomadVar \"nomad/jobs/mattermost-database\" }}{{ .password.Value }}{{ end }}"
      }

      volume_mount {
        volume      = "data"
        destination = "/var/lib/postgresql/data"
      }

      resources {
        cpu    = var.postgres_cpu
        memory = var.postgres_memory
      }
    }
  }
}
