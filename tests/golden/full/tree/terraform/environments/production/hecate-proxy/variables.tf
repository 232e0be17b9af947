variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "hecate_proxy_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "hecate_proxy_count" {
  description = "How many instances run"
  type        = number
}

variable "hecate_proxy_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number
}

variable "hecate_proxy_memory" {
  description = "Memory of an instance, in MiB"
  type        = number
}

variable "hecate_proxy_image" {
  description = "Container image"
  type        = string
}

variable "hecate_proxy_arg_0" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_1" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_2" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_3" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_4" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_arg_5" {
  description = "Argument of the program"
  type        = string
}

variable "hecate_proxy_file_caddyfile" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "hecate_proxy_file_routes" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "hecate_proxy_port_http" {
  description = "Port of the host"
  type        = number
}

variable "hecate_proxy_port_http_to" {
  description = "Port in the container"
  type        = number
}

variable "hecate_proxy_port_https" {
  description = "Port of the host"
  type        = number
}

variable "hecate_proxy_port_https_to" {
  description = "Port in the container"
  type        = number
}

variable "hecate_proxy_upstream_0" {
  description = "Service that is called through the mesh"
  type        = string
}

variable "hecate_proxy_upstream_1" {
  description = "Service that is called through the mesh"
  type        = string
}

variable "hecate_proxy_check_path" {
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
}

variable "outputs" {
  description = "Texts of the outputs; the place of the service stands in them as in a format"
  type        = map(string)
}

variable "node_ids" {
  description = "Nomad node ids by node name, looked up when Terraform runs"
  type        = map(string)
}

variable "registered" {
  description = "Where the first service answers, looked up when Terraform runs; null before it is registered"
  type        = object({ address = string, port = number })
}
