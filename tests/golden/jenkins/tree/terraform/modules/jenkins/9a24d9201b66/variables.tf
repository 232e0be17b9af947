variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "jenkins_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "jenkins_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.jenkins_count >= 1 && var.jenkins_count <= 1000 && floor(var.jenkins_count) == var.jenkins_count
    error_message = "jenkins_count must be a whole number between 1 and 1000."
  }
}

variable "jenkins_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.jenkins_cpu >= 1 && var.jenkins_cpu <= 1000000 && floor(var.jenkins_cpu) == var.jenkins_cpu
    error_message = "jenkins_cpu must be a whole number between 1 and 1000000."
  }
}

variable "jenkins_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.jenkins_memory >= 10 && var.jenkins_memory <= 10000000 && floor(var.jenkins_memory) == var.jenkins_memory
    error_message = "jenkins_memory must be a whole number between 10 and 10000000."
  }
}

variable "jenkins_image" {
  description = "Container image"
  type        = string
}

variable "jenkins_env_jenkins_opts" {
  description = "Environment of the task"
  type        = string
}

variable "jenkins_port_http" {
  description = "Port of the host"
  type        = number

  validation {
    condition     = var.jenkins_port_http >= 1 && var.jenkins_port_http <= 65535 && floor(var.jenkins_port_http) == var.jenkins_port_http
    error_message = "jenkins_port_http must be a whole number between 1 and 65535."
  }
}

variable "jenkins_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.jenkins_port_http_to >= 1 && var.jenkins_port_http_to <= 65535 && floor(var.jenkins_port_http_to) == var.jenkins_port_http_to
    error_message = "jenkins_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "jenkins_check_path" {
  description = "Path of the health check"
  type        = string
}

variable "volume_data_name" {
  description = "Name of the volume in Nomad"
  type        = string
}

variable "volume_data_paths" {
  description = "Node -> directory of the volume there"
  type        = map(string)
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
