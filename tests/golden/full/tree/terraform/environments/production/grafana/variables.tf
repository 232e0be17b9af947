variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "datacenter" {
  description = "Datacenter the instances run in"
  type        = string
}

variable "grafana_service" {
  description = "Name the service is registered under"
  type        = string
}

variable "grafana_count" {
  description = "How many instances run"
  type        = number
}

variable "grafana_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number
}

variable "grafana_memory" {
  description = "Memory of an instance, in MiB"
  type        = number
}

variable "grafana_image" {
  description = "Container image"
  type        = string
}

variable "grafana_env_gf_server_http_addr" {
  description = "Environment of the task"
  type        = string
}

variable "grafana_env_gf_server_root_url" {
  description = "Environment of the task"
  type        = string
}

variable "grafana_file_datasources_yaml" {
  description = "Template that Nomad renders for the task"
  type        = string
}

variable "grafana_port_http" {
  description = "Port of the host"
  type        = number
}

variable "grafana_port_http_to" {
  description = "Port in the container"
  type        = number
}

variable "grafana_callers" {
  description = "Services that may call it through the mesh"
  type        = list(string)
}

variable "grafana_route_0" {
  description = "Host name under which the proxy serves it"
  type        = string
}

variable "grafana_check_path" {
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

variable "secret_version" {
  description = "Version of the component's secrets, looked up when Terraform runs"
  type        = number
}

variable "registered" {
  description = "Where the first service answers, looked up when Terraform runs; null before it is registered"
  type        = object({ address = string, port = number })
}
