# What a Terraform run may look up in Nomad before it plans: the ids of nodes (full profile).

node {
  policy = "read"
}
