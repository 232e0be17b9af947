# What the token of one session in a task may do in Nomad. It never leaves the control minion, which lets a person through
# to one instance. Without `alloc-node-exec` Nomad itself refuses tasks that run as programs of their host.

namespace "*" {
  capabilities = ["alloc-exec"]
}
