variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "alertmanager_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "alertmanager_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.alertmanager_count >= 1 && var.alertmanager_count <= 1000 && floor(var.alertmanager_count) == var.alertmanager_count
    error_message = "alertmanager_count must be a whole number between 1 and 1000."
  }
}

variable "alertmanager_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.alertmanager_cpu >= 1 && var.alertmanager_cpu <= 1000000 && floor(var.alertmanager_cpu) == var.alertmanager_cpu
    error_message = "alertmanager_cpu must be a whole number between 1 and 1000000."
  }
}

variable "alertmanager_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.alertmanager_memory >= 10 && var.alertmanager_memory <= 10000000 && floor(var.alertmanager_memory) == var.alertmanager_memory
    error_message = "alertmanager_memory must be a whole number between 10 and 10000000."
  }
}

variable "alertmanager_image" {
  description = "Container image"
  type        = string
}

variable "alertmanager_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "alertmanager_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "alertmanager_arg_2" {
  description = "Argument of the program"
  type        = string
}

variable "alertmanager_file_alertmanager_yml" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "alertmanager_port_http" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.alertmanager_port_http >= 1 && var.alertmanager_port_http <= 65535 && floor(var.alertmanager_port_http) == var.alertmanager_port_http
    error_message = "alertmanager_port_http must be a whole number between 1 and 65535."
  }
}

variable "alertmanager_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.alertmanager_port_http_to >= 1 && var.alertmanager_port_http_to <= 65535 && floor(var.alertmanager_port_http_to) == var.alertmanager_port_http_to
    error_message = "alertmanager_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "alertmanager_check_path" {
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
