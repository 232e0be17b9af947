variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "index_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "index_count" {
  description = "How many instances run"
  type        = number
}

variable "index_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number
}

variable "index_memory" {
  description = "Memory of an instance, in MiB"
  type        = number
}

variable "index_image" {
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
}
