# What one person's token may do in Nomad: look at everything but secrets, plan jobs, and use a place of the person's own.
# Of other variables it sees paths and versions only. Put the name of the Salt API user in the place of USER.

namespace "*" {
  policy       = "read"
  capabilities = ["plan-job", "read-logs"]

  variables {
    path "*" {
      capabilities = ["list"]
    }
  }
}

# Nomad takes the rules of the namespace that is named exactly, and of no other.
namespace "default" {
  policy       = "read"
  capabilities = ["plan-job", "read-logs"]

  variables {
    path "*" {
      capabilities = ["list"]
    }

    path "eos_users/USER/*" {
      capabilities = ["destroy", "list", "read", "write"]
    }
  }
}

agent {
  policy = "read"
}

host_volume "*" {
  policy = "read"
}

node {
  policy = "read"
}

operator {
  policy = "read"
}

plugin {
  policy = "read"
}
