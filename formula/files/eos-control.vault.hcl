# What the control minion may do in Vault (full profile): lease tokens for a Terraform run, keep the secrets of components,
# and end its own token. Renewing what it leased is in Vault's policy `default`.

path "nomad/creds/eos-deploy" {
  capabilities = ["read"]
}

path "nomad/creds/eos-platform" {
  capabilities = ["read"]
}

path "nomad/creds/eos-session" {
  capabilities = ["read"]
}

path "nomad/creds/eos-read" {
  capabilities = ["read"]
}

path "consul/creds/eos-deploy" {
  capabilities = ["read"]
}

path "secret/data/*" {
  capabilities = ["create", "read", "update"]
}

path "secret/metadata/*" {
  capabilities = ["read", "list", "delete"]
}

path "auth/token/revoke-self" {
  capabilities = ["update"]
}
