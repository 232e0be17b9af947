variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "hello_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "hello_count" {
  description = "How many instances run"
  type        = number

  validation {
    condition     = var.hello_count >= 1 && var.hello_count <= 1000 && floor(var.hello_count) == var.hello_count
    error_message = "hello_count must be a whole number between 1 and 1000."
  }
}

variable "hello_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number

  validation {
    condition     = var.hello_cpu >= 1 && var.hello_cpu <= 1000000 && floor(var.hello_cpu) == var.hello_cpu
    error_message = "hello_cpu must be a whole number between 1 and 1000000."
  }
}

variable "hello_memory" {
  description = "Memory of an instance, in MiB"
  type        = number

  validation {
    condition     = var.hello_memory >= 10 && var.hello_memory <= 10000000 && floor(var.hello_memory) == var.hello_memory
    error_message = "hello_memory must be a whole number between 10 and 10000000."
  }
}

variable "hello_command" {
  description = "Program of the host"
  type        = string
}

variable "hello_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "hello_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "hello_arg_2" {
  description = "Argument of the program"
  type        = string
}

variable "hello_env_eos_hello_greeting" {
  description = "Environment of the task"
  type        = string
}

variable "hello_check_path" {
  description = "Path of the health check"
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
