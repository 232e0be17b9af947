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
}

variable "gallery_cpu" {
  description = "Processor share of an instance, in MHz"
  type        = number
}

variable "gallery_memory" {
  description = "Memory of an instance, in MiB"
  type        = number
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
