# What the control minion may do in Vault (full profile): lease tokens for a Terraform run, see versions of secrets and
# no value, and end its own token. Renewing what it leased is in Vault's policy `default`.

path "nomad/creds/eos-deploy" {
  capabilities = ["read"]
}

path "nomad/creds/eos-platform" {
  capabilities = ["read"]
}

path "nomad/creds/eos-read" {
  capabilities = ["read"]
}

path "consul/creds/eos-deploy" {
  capabilities = ["read"]
}

path "secret/metadata/*" {
  capabilities = ["read", "list"]
}

path "auth/token/revoke-self" {
  capabilities = ["update"]
}
