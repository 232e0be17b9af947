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
}

variable "hello_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number
}

variable "hello_memory" {
  description = "Memory of an instance, in MiB"
  type        = number
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
}

variable "outputs" {
  description = "Texts of the outputs; the place of the service stands in them as in a format"
  type        = map(string)
}

variable "registered" {
  description = "Where the first service answers, looked up when Terraform runs; null before it is registered"
  type        = object({ address = string, port = number })
}
