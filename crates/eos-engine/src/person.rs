//! The policy of a person's token in Nomad and Vault: its name, and its text from the formula.

/// The policy's files in the formula. Each has `USER` for the name of the Salt API user.
pub const NOMAD_FILE: &str = "files/eos-person.policy.hcl";
pub const VAULT_FILE: &str = "files/eos-person.vault.hcl";

/// Of the same name in both engines.
pub fn policy_name(user: &str) -> String {
    format!("eos-person-{user}")
}

/// The rules for one user, from the text of a file.
pub fn rules(text: &str, user: &str) -> String {
    text.replace("USER", user)
}
