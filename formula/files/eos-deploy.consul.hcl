# What the token of one Terraform run may do in Consul (full profile): its Terraform state, and the rules of the mesh.

key_prefix "terraform/" {
  policy = "write"
}

# The lock of the Terraform state.
session_prefix "" {
  policy = "write"
}

service_prefix "" {
  policy     = "read"
  intentions = "write"
}

node_prefix "" {
  policy = "read"
}

agent_prefix "" {
  policy = "read"
}

mesh = "write"
