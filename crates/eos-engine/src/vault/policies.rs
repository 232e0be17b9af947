//! Who may do what in Vault: the texts that a lab installs, an administrator too, and drift compares with.

use serde_json::{Value, json};

/// How jobs come in: an auth method of this name, and a role and a policy of that one.
pub const JOBS_COME_BY: &str = "jwt-nomad";
pub const WORKLOADS: &str = "nomad-workloads";

/// The control minion's comes with the formula, which does its work.
pub const CONTROL: &str = "eos-control";
pub const CONTROL_FILE: &str = "files/eos-control.vault.hcl";

/// By what Vault knows a job again. The subject names region, namespace, job, group and task, so no two jobs are one
/// identity: what Vault keeps of an identity is what its last login said.
pub fn role_of_workloads() -> Value {
    let claims = ["nomad_namespace", "nomad_job_id", "nomad_task"];
    let claims: Value = claims.into_iter().map(|claim| (claim, claim)).collect();
    json!({
        "role_type": "jwt",
        "bound_audiences": ["vault.io"],
        "user_claim": "sub",
        "user_claim_json_pointer": false,
        "claim_mappings": claims,
        "token_type": "service",
        "token_period": "30m",
        "token_policies": [WORKLOADS],
    })
}

/// Of the jobs: each reads its own secrets, told by what Nomad says of it. `accessor` names the way they come in.
pub fn workloads(accessor: &str) -> String {
    let of_job = |what: &str| format!("{{{{identity.entity.aliases.{accessor}.metadata.{what}}}}}");
    format!(
        "path \"secret/data/{}/{}/*\" {{\n  capabilities = [\"read\"]\n}}\n",
        of_job("nomad_namespace"),
        of_job("nomad_job_id")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_told_by_namespace_and_name() {
        assert_eq!(
            workloads("jwt_1"),
            "path \"secret/data/{{identity.entity.aliases.jwt_1.metadata.nomad_namespace}}/\
             {{identity.entity.aliases.jwt_1.metadata.nomad_job_id}}/*\" {\n  capabilities = [\"read\"]\n}\n"
        );
    }
}
