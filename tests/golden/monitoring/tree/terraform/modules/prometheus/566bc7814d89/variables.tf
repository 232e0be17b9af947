variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "prometheus_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "prometheus_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.prometheus_count >= 1 && var.prometheus_count <= 1000 && floor(var.prometheus_count) == var.prometheus_count
    error_message = "prometheus_count must be a whole number between 1 and 1000."
  }
}

variable "prometheus_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.prometheus_cpu >= 1 && var.prometheus_cpu <= 1000000 && floor(var.prometheus_cpu) == var.prometheus_cpu
    error_message = "prometheus_cpu must be a whole number between 1 and 1000000."
  }
}

variable "prometheus_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.prometheus_memory >= 10 && var.prometheus_memory <= 10000000 && floor(var.prometheus_memory) == var.prometheus_memory
    error_message = "prometheus_memory must be a whole number between 10 and 10000000."
  }
}

variable "prometheus_image" {
  description = "Container image"
  type        = string
}

variable "prometheus_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "prometheus_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "prometheus_arg_2" {
  description = "Argument of the program"
  type        = string
}

variable "prometheus_arg_3" {
  description = "Argument of the program"
  type        = string
}

variable "prometheus_arg_4" {
  description = "Argument of the program"
  type        = string
}

variable "prometheus_file_prometheus_yml" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "prometheus_port_http" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.prometheus_port_http >= 1 && var.prometheus_port_http <= 65535 && floor(var.prometheus_port_http) == var.prometheus_port_http
    error_message = "prometheus_port_http must be a whole number between 1 and 65535."
  }
}

variable "prometheus_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.prometheus_port_http_to >= 1 && var.prometheus_port_http_to <= 65535 && floor(var.prometheus_port_http_to) == var.prometheus_port_http_to
    error_message = "prometheus_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "prometheus_check_path" {
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
