variable "namespace" {
  type = string
}

variable "datacenter" {
  type = string
}

variable "hello_service" {
  type = string
}

variable "hello_count" {
  type = number
}

variable "hello_cpu" {
  type = number
}

variable "hello_memory" {
  type = number
}

variable "hello_command" {
  type = string
}

variable "hello_arg_0" {
  type = string
}

variable "hello_arg_1" {
  type = string
}

variable "hello_arg_2" {
  type = string
}

variable "hello_env_eos_hello_greeting" {
  type = string
}

variable "hello_check_path" {
  type = string
}

variable "eos_digest" {
  type = string
}

variable "generation" {
  type = number
}

job "hello" {
  namespace   = var.namespace
  datacenters = [var.datacenter]
  type        = "service"
  meta = {
    eos_component = "hello"
    eos_recipe    = "hello"
    eos_version   = "1"
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

  group "hello" {
    count = var.hello_count

    update {
      min_healthy_time = "1s"
    }

    restart {
      attempts = 3
      interval = "5m"
      delay    = "5s"
      mode     = "fail"
    }

    network {
      port "http" {}
    }

    service {
      name     = var.hello_service
      port     = "http"
      provider = "nomad"
      tags     = ["eos-component=hello", "eos-measured=${var.namespace}", "eos-metrics=/metrics"]

      check {
        type     = "http"
        path     = var.hello_check_path
        interval = "1s"
        timeout  = "3s"

        check_restart {
          limit           = 3
          grace           = "90s"
          ignore_warnings = false
        }
      }
    }

    task "hello" {
      driver = "raw_exec"

      config {
        command = var.hello_command
        args    = [var.hello_arg_0, var.hello_arg_1, var.hello_arg_2]
      }

      env {
        EOS_HELLO_GREETING = var.hello_env_eos_hello_greeting
      }

      resources {
        cpu    = var.hello_cpu
        memory = var.hello_memory
      }
    }
  }
}
