variable "namespace" {
  description = "Nomad namespace: the environment"
  type        = string
}

variable "generation" {
  description = "How often the pillar was put through again, unused by the job"
  type        = number
}
