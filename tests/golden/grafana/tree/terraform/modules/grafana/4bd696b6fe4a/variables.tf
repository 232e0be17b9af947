variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "grafana_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "grafana_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.grafana_count >= 1 && var.grafana_count <= 1000 && floor(var.grafana_count) == var.grafana_count
    error_message = "grafana_count must be a whole number between 1 and 1000."
  }
}

variable "grafana_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.grafana_cpu >= 1 && var.grafana_cpu <= 1000000 && floor(var.grafana_cpu) == var.grafana_cpu
    error_message = "grafana_cpu must be a whole number between 1 and 1000000."
  }
}

variable "grafana_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.grafana_memory >= 10 && var.grafana_memory <= 10000000 && floor(var.grafana_memory) == var.grafana_memory
    error_message = "grafana_memory must be a whole number between 10 and 10000000."
  }
}

variable "grafana_image" {
  description = "Container image"
  type        = string
}

variable "grafana_env_gf_server_http_addr" {
  description = "Environment of the task"
  type        = string
}

variable "grafana_env_gf_server_root_url" {
  description = "Environment of the task"
  type        = string
}

variable "grafana_file_datasources_yaml" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "grafana_port_http" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.grafana_port_http >= 1 && var.grafana_port_http <= 65535 && floor(var.grafana_port_http) == var.grafana_port_http
    error_message = "grafana_port_http must be a whole number between 1 and 65535."
  }
}

variable "grafana_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.grafana_port_http_to >= 1 && var.grafana_port_http_to <= 65535 && floor(var.grafana_port_http_to) == var.grafana_port_http_to
    error_message = "grafana_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "grafana_check_path" {
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

variable "secret_version" {
  description = "Version of the component's secrets, looked up when Terraform runs"
  type        = number
}
