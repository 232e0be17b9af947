variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "redis_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "redis_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.redis_count >= 1 && var.redis_count <= 1000 && floor(var.redis_count) == var.redis_count
    error_message = "redis_count must be a whole number between 1 and 1000."
  }
}

variable "redis_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.redis_cpu >= 1 && var.redis_cpu <= 1000000 && floor(var.redis_cpu) == var.redis_cpu
    error_message = "redis_cpu must be a whole number between 1 and 1000000."
  }
}

variable "redis_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.redis_memory >= 10 && var.redis_memory <= 10000000 && floor(var.redis_memory) == var.redis_memory
    error_message = "redis_memory must be a whole number between 10 and 10000000."
  }
}

variable "redis_image" {
  description = "Container image"
  type        = string
}

variable "redis_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "redis_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "redis_secret_redis_conf" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "redis_port_db_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.redis_port_db_to >= 1 && var.redis_port_db_to <= 65535 && floor(var.redis_port_db_to) == var.redis_port_db_to
    error_message = "redis_port_db_to must be a whole number between 1 and 65535."
  }
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
