variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "mattermost_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "mattermost_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.mattermost_count >= 1 && var.mattermost_count <= 1000 && floor(var.mattermost_count) == var.mattermost_count
    error_message = "mattermost_count must be a whole number between 1 and 1000."
  }
}

variable "mattermost_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.mattermost_cpu >= 1 && var.mattermost_cpu <= 1000000 && floor(var.mattermost_cpu) == var.mattermost_cpu
    error_message = "mattermost_cpu must be a whole number between 1 and 1000000."
  }
}

variable "mattermost_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.mattermost_memory >= 10 && var.mattermost_memory <= 10000000 && floor(var.mattermost_memory) == var.mattermost_memory
    error_message = "mattermost_memory must be a whole number between 10 and 10000000."
  }
}

variable "mattermost_image" {
  description = "Container image"
  type        = string
}

variable "mattermost_env_mm_sqlsettings_drivername" {
  description = "Environment of the task"
  type        = string
}

variable "mattermost_env_mm_servicesettings_listenaddress" {
  description = "Environment of the task"
  type        = string
}

variable "mattermost_env_mm_servicesettings_siteurl" {
  description = "Environment of the task"
  type        = string
}

variable "mattermost_env_mm_blevesettings_indexdir" {
  description = "Environment of the task"
  type        = string
}

variable "mattermost_secret_texts" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "mattermost_port_http" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.mattermost_port_http >= 1 && var.mattermost_port_http <= 65535 && floor(var.mattermost_port_http) == var.mattermost_port_http
    error_message = "mattermost_port_http must be a whole number between 1 and 65535."
  }
}

variable "mattermost_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.mattermost_port_http_to >= 1 && var.mattermost_port_http_to <= 65535 && floor(var.mattermost_port_http_to) == var.mattermost_port_http_to
    error_message = "mattermost_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "mattermost_upstream_0" {
  description = "Service that is called through the mesh"
  type        = string
}

variable "mattermost_callers" {
  description = "Services that may call it through the mesh"
  type        = list(string)
}

variable "mattermost_route_0" {
  description = "Host name under which the proxy serves it"
  type        = string
}

variable "mattermost_check_path" {
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
