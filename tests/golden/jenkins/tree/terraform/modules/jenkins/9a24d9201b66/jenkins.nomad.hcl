variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "jenkins_service" {
  type = string
}

variable "jenkins_count" {
  type = number
}

variable "jenkins_cpu" {
  type = number
}

variable "jenkins_memory" {
  type = number
}

variable "jenkins_image" {
  type = string
}

variable "jenkins_env_jenkins_opts" {
  type = string
}

variable "jenkins_port_http" {
  type = number
}

variable "jenkins_port_http_to" {
  type = number
}

variable "jenkins_check_path" {
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

job "jenkins" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component = "jenkins"
    eos_recipe    = "jenkins"
    eos_version   = "lts"
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

  group "jenkins" {
    count = var.jenkins_count

    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    update {
      healthy_deadline = "10m"
    }

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    network {
      port "http" {
        static = var.jenkins_port_http
        to     = var.jenkins_port_http_to
      }
    }

    volume "data" {
      type            = "host"
      source          = var.volume_data_name
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
      sticky          = true
    }

    service {
      name     = var.jenkins_service
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = var.jenkins_check_path
        interval = "5s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "10m"
          ignore_warnings = false
        }
      }
    }

    task "jenkins" {
      driver = "docker"

      config {
        image              = var.jenkins_image
        ports              = ["http"]
        image_pull_timeout = "10m"
      }

      env {
        JENKINS_OPTS = var.jenkins_env_jenkins_opts
      }

      volume_mount {
        volume      = "data"
        destination = "/var/jenkins_home"
      }

      resources {
        cpu    = var.jenkins_cpu
        memory = var.jenkins_memory
      }
    }
  }
}
