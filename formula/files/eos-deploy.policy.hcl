# What the token of one Terraform run or restart may do in Nomad: jobs and host volumes in every namespace.
# Of secrets it sees paths only. Namespaces themselves need a management token (the platform workspace).

namespace "*" {
  capabilities = [
    "alloc-lifecycle",
    "host-volume-delete",
    "host-volume-read",
    "host-volume-register",
    "list-jobs",
    "parse-job",
    "read-job",
    "submit-job",
  ]

  variables {
    path "*" {
      capabilities = ["list"]
    }
  }
}

# To submit a job that mounts a volume.
host_volume "*" {
  policy = "write"
}

node {
  policy = "read"
}
