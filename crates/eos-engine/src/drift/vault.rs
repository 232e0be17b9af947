//! What Vault lets whom do: the policies that Eos relies on, as they are and as they should be.

use std::collections::BTreeMap;

use eos_core::drift::{PolicySeen, VaultSeen};
use serde_json::Value;

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind};
use crate::http::Request;
use crate::person;
use crate::vault::{VaultClient, policies};

/// Texts that are not the program's own.
#[derive(Clone, Copy)]
pub struct Policies<'a> {
    /// That of the control minion, which comes with the formula.
    pub control: &'a str,
    /// That of a person, for whoever it is.
    pub person: &'a str,
}

/// Nothing in an estate without Vault.
pub async fn ask(engines: &Engines, texts: Policies<'_>) -> Option<Result<VaultSeen, EngineError>> {
    let user = &engines.endpoints.salt.user;
    Some(look(engines.vault.as_ref()?, texts, user).await)
}

async fn look(vault: &VaultClient, texts: Policies<'_>, user: &str) -> Result<VaultSeen, EngineError> {
    let accessor = accessor(vault).await?;
    let workloads = policies::workloads(accessor.as_deref().unwrap_or_default());
    let (name, rules_of_person) = (person::policy_name(user), person::rules(texts.person, user));
    let wanted = [
        (name.as_str(), rules_of_person.as_str()),
        (policies::CONTROL, texts.control),
        (policies::WORKLOADS, &workloads),
    ];
    let mut found = BTreeMap::new();
    for (name, wanted) in wanted {
        let seen = PolicySeen {
            wanted: wanted.to_owned(),
            real: rules(vault, name).await?,
        };
        found.insert(name.to_owned(), seen);
    }
    Ok(VaultSeen { policies: found })
}

/// How policies speak of the way in which jobs come.
async fn accessor(vault: &VaultClient) -> Result<Option<String>, EngineError> {
    let request = Request {
        object: "auth methods",
        path: "sys/auth",
        query: &[],
    };
    let methods: Value = vault.get(request).await.map_err(hinted)?;
    let accessor = &methods["data"][format!("{}/", policies::JOBS_COME_BY)]["accessor"];
    Ok(accessor.as_str().map(str::to_owned))
}

async fn rules(vault: &VaultClient, name: &str) -> Result<Option<String>, EngineError> {
    let request = Request {
        object: &format!("policy {name}"),
        path: &format!("sys/policies/acl/{name}"),
        query: &[],
    };
    match vault.get::<Value>(request).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        answer => Ok(answer.map_err(hinted)?["data"]["policy"]
            .as_str()
            .map(str::to_owned)),
    }
}

fn hinted(error: EngineError) -> EngineError {
    match error.kind {
        ErrorKind::Refused => error.with_hint(
            "The policy eos-person-USER lets Eos read sys/auth and sys/policies/acl/*; in a lab, eos lab up \
             writes it",
        ),
        _ => error,
    }
}
