variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "cron" {
  description = "When the job starts a run"
  type        = string
}

variable "zone" {
  description = "Time zone of its hours"
  type        = string
}

variable "thumbnails_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "thumbnails_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.thumbnails_count >= 1 && var.thumbnails_count <= 1000 && floor(var.thumbnails_count) == var.thumbnails_count
    error_message = "thumbnails_count must be a whole number between 1 and 1000."
  }
}

variable "thumbnails_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.thumbnails_cpu >= 1 && var.thumbnails_cpu <= 1000000 && floor(var.thumbnails_cpu) == var.thumbnails_cpu
    error_message = "thumbnails_cpu must be a whole number between 1 and 1000000."
  }
}

variable "thumbnails_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.thumbnails_memory >= 10 && var.thumbnails_memory <= 10000000 && floor(var.thumbnails_memory) == var.thumbnails_memory
    error_message = "thumbnails_memory must be a whole number between 10 and 10000000."
  }
}

variable "thumbnails_image" {
  description = "Container image"
  type        = string
}

variable "volume_data_name" {
  description = "Name of the volume in Nomad"
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
