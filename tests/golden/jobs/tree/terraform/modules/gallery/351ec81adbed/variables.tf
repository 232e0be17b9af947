variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "gallery_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "gallery_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.gallery_count >= 1 && var.gallery_count <= 1000 && floor(var.gallery_count) == var.gallery_count
    error_message = "gallery_count must be a whole number between 1 and 1000."
  }
}

variable "gallery_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.gallery_cpu >= 1 && var.gallery_cpu <= 1000000 && floor(var.gallery_cpu) == var.gallery_cpu
    error_message = "gallery_cpu must be a whole number between 1 and 1000000."
  }
}

variable "gallery_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.gallery_memory >= 10 && var.gallery_memory <= 10000000 && floor(var.gallery_memory) == var.gallery_memory
    error_message = "gallery_memory must be a whole number between 10 and 10000000."
  }
}

variable "gallery_image" {
  description = "Container image"
  type        = string
}

variable "gallery_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "gallery_entrypoint_0" {
  description = "Word that starts the program of the container"
  type        = string
}

variable "gallery_entrypoint_1" {
  description = "Word that starts the program of the container"
  type        = string
}

variable "gallery_user" {
  description = "User that the container runs as"
  type        = string
}

variable "gallery_hostname" {
  description = "Host name that the container finds itself under"
  type        = string
}

variable "gallery_shm" {
  description = "Memory that processes of the container share, in bytes"
  type        = number

  validation {
    condition     = var.gallery_shm >= 1 && var.gallery_shm <= 1099511627776 && floor(var.gallery_shm) == var.gallery_shm
    error_message = "gallery_shm must be a whole number between 1 and 1099511627776."
  }
}

variable "gallery_task_migrate_image" {
  description = "Container image"
  type        = string
}

variable "gallery_task_migrate_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "gallery_task_migrate_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "gallery_task_migrate_user" {
  description = "User that the container runs as"
  type        = string
}

variable "gallery_task_herald_image" {
  description = "Container image"
  type        = string
}

variable "gallery_file_gallery_conf" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "gallery_port_http_to" {
  description = "Port in the container"
  type        = number

  validation {
    condition     = var.gallery_port_http_to >= 1 && var.gallery_port_http_to <= 65535 && floor(var.gallery_port_http_to) == var.gallery_port_http_to
    error_message = "gallery_port_http_to must be a whole number between 1 and 65535."
  }
}

variable "gallery_check_path" {
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
