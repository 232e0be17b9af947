variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}
