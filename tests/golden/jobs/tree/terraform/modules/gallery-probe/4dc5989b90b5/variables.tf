variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "probe_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "probe_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.probe_count >= 1 && var.probe_count <= 1000 && floor(var.probe_count) == var.probe_count
    error_message = "probe_count must be a whole number between 1 and 1000."
  }
}

variable "probe_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.probe_cpu >= 1 && var.probe_cpu <= 1000000 && floor(var.probe_cpu) == var.probe_cpu
    error_message = "probe_cpu must be a whole number between 1 and 1000000."
  }
}

variable "probe_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.probe_memory >= 10 && var.probe_memory <= 10000000 && floor(var.probe_memory) == var.probe_memory
    error_message = "probe_memory must be a whole number between 10 and 10000000."
  }
}

variable "probe_image" {
  description = "Container image"
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
