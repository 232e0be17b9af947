variable "namespace" {
  description = "Nomad namespace: the environment"
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
