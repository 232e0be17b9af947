variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "hecate_proxy_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "hecate_proxy_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.hecate_proxy_count >= 1 && var.hecate_proxy_count <= 1000 && floor(var.hecate_proxy_count) == var.hecate_proxy_count
    error_message = "hecate_proxy_count must be a whole number between 1 and 1000."
  }
}

variable "hecate_proxy_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.hecate_proxy_cpu >= 1 && var.hecate_proxy_cpu <= 1000000 && floor(var.hecate_proxy_cpu) == var.hecate_proxy_cpu
    error_message = "hecate_proxy_cpu must be a whole number between 1 and 1000000."
  }
}

variable "hecate_proxy_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.hecate_proxy_memory >= 10 && var.hecate_proxy_memory <= 10000000 && floor(var.hecate_proxy_memory) == var.hecate_proxy_memory
    error_message = "hecate_proxy_memory must be a whole number between 10 and 10000000."
  }
}

variable "hecate_proxy_image" {
  description = "Container image"
  type        = string
}

variable "hecate_proxy_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_2" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_3" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_4" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_5" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_file_caddyfile" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "hecate_proxy_file_routes" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "hecate_proxy_port_http" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.hecate_proxy_port_http >= 1 && var.hecate_proxy_port_http <= 65535 && floor(var.hecate_proxy_port_http) == var.hecate_proxy_port_http
    error_message = "hecate_proxy_port_http must be a whole number between 1 and 65535."
  }
}

variable "hecate_proxy_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.hecate_proxy_port_http_to >= 1 && var.hecate_proxy_port_http_to <= 65535 && floor(var.hecate_proxy_port_http_to) == var.hecate_proxy_port_http_to
    error_message = "hecate_proxy_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "hecate_proxy_port_https" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.hecate_proxy_port_https >= 1 && var.hecate_proxy_port_https <= 65535 && floor(var.hecate_proxy_port_https) == var.hecate_proxy_port_https
    error_message = "hecate_proxy_port_https must be a whole number between 1 and 65535."
  }
}

variable "hecate_proxy_port_https_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.hecate_proxy_port_https_to >= 1 && var.hecate_proxy_port_https_to <= 65535 && floor(var.hecate_proxy_port_https_to) == var.hecate_proxy_port_https_to
    error_message = "hecate_proxy_port_https_to must be a whole number between 1 and 65535."
  }
}

variable "hecate_proxy_upstream_0" {
  description = "Service that is called through the mesh"
  type        = string
}

variable "hecate_proxy_upstream_1" {
  description = "Service that is called through the mesh"
  type        = string
}

variable "hecate_proxy_check_path" {
  description = "Path of the health check"
  type        = string
}

variable "volume_data_name" {
  description = "Name of the volume in Nomad"
  type        = string
}

variable "volume_data_host" {
  description = "Node the volume lies on"
  type        = string
}

variable "volume_data_path" {
  description = "Directory of the volume"
  type        = string
}

variable "eos_digest" {
  description = "Digest of what an instance runs with, kept in the job"
  type        = string
}

variable "generation" {
  description = "How often the pillar was put through again, unused by the job"
  type        = number

  validation {
    condition     = var.generation >= 0 && var.generation <= 1000000 && floor(var.generation) == var.generation
    error_message = "generation must be a whole number between 0 and 1000000."
  }
}

variable "node_ids" {
  description = "Nomad node ids by node name, looked up when Terraform runs"
  type        = map(string)
}
