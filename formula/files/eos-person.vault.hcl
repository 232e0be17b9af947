# What one person's token may do in Vault (full profile): see versions of secrets and no value, and use a place of the
# person's own. Put the name of the Salt API user in the place of USER.

path "secret/metadata/*" {
  capabilities = ["read", "list"]
}

path "secret/data/eos_users/USER/*" {
  capabilities = ["create", "read", "update"]
}

path "secret/metadata/eos_users/USER/*" {
  capabilities = ["read", "list", "delete"]
}

path "sys/health" {
  capabilities = ["read"]
}

path "sys/seal-status" {
  capabilities = ["read"]
}

# So that drift can tell whether the policies are still as they were written, and the doctor what this token may do.
path "sys/policies/acl/*" {
  capabilities = ["read"]
}

path "sys/auth" {
  capabilities = ["read"]
}

path "sys/capabilities-self" {
  capabilities = ["update"]
}

path "auth/token/lookup-self" {
  capabilities = ["read"]
}

path "auth/token/renew-self" {
  capabilities = ["update"]
}
