//! What was left behind: operations that were interrupted, locks that nobody holds any more, workspaces of nobody.

use std::collections::BTreeSet;

use serde_json::Value;

use super::files::quoted;
use super::{Area, Condition, Finding};
use crate::component_lock::{self, Locked};
use crate::consul::ConsulClient;
use crate::error::EngineError;
use crate::estate::Estate;
use crate::lock;
use crate::operation::is_alive;
use crate::store::{Operation, Store};

/// How many letters of an operation's id tell it apart.
const LETTERS: usize = 10;

/// Operations of this machine that did not come to their end, and files of locks that outlived their holders.
pub(super) fn operations(estate: &Estate) -> Vec<Finding> {
    // To look is not to make one.
    if !estate.root.join(".eos/store.db").exists() {
        return Vec::new();
    }
    let looked = || -> Result<(Vec<Operation>, Vec<String>), EngineError> {
        let mut unfinished = estate.store_to_read()?.unfinished()?;
        unfinished.retain(|operation| !is_alive(estate, operation));
        Ok((unfinished, lock::left_by_operations(&estate.root)?))
    };
    let (interrupted, mut left) = match looked() {
        Ok(found) => found,
        Err(error) => {
            let words = format!("{}: {}", error.object, error.words);
            let mend = "eos audit verify";
            return vec![Finding::not_ok(
                Area::Estate,
                "store",
                Condition::Broken,
                words,
                mend,
            )];
        }
    };
    // That of an interrupted one goes when it is gone on with.
    left.retain(|id| interrupted.iter().all(|operation| operation.id != *id));
    let mut findings: Vec<Finding> = interrupted.iter().map(interrupted_finding).collect();
    if !left.is_empty() {
        findings.push(left_finding(estate, left.len()));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(
            Area::Estate,
            "operations",
            "no operation was interrupted, no lock is left over",
        ));
    }
    findings
}

fn interrupted_finding(operation: &Operation) -> Finding {
    let id = short(&operation.id);
    let words = format!("{id} stopped before its end: {}", operation.words);
    Finding::not_ok(
        Area::Estate,
        "operations",
        Condition::Broken,
        words,
        format!("eos resume {id}"),
    )
}

fn left_finding(estate: &Estate, count: usize) -> Finding {
    let words = match count {
        1 => "the lock of an operation exists, but no process holds it".to_owned(),
        count => format!("locks of {count} operations exist, but no process holds them"),
    };
    // Only those that are free: an operation may begin meanwhile.
    let directory = quoted(&estate.root.join(".eos/locks/operations"));
    let mend = format!(r"find {directory} -name '*.lock' -exec flock -n {{}} rm {{}} \;");
    Finding::not_ok(Area::Estate, "locks", Condition::Limited, words, mend)
}

fn short(id: &str) -> &str {
    id.get(..LETTERS).unwrap_or(id)
}

/// What there is below `terraform/` in Consul.
pub(super) struct Keys {
    pub names: Vec<String>,
    pub held: Vec<Locked>,
    /// State locks of Terraform that no session holds, by the key of the state.
    pub state_locks: BTreeSet<String>,
}

pub(super) async fn keys(consul: &ConsulClient) -> Result<Keys, EngineError> {
    let names = consul.keys("terraform/").await?;
    let mut state_locks = BTreeSet::new();
    for name in &names {
        let Some((state, end)) = name.rsplit_once('/') else {
            continue;
        };
        if matches!(end, ".lock" | ".lockinfo")
            && consul
                .key(&format!("{state}/.lock"))
                .await?
                .is_none_or(|key| key.session.is_none())
        {
            state_locks.insert(state.to_owned());
        }
    }
    Ok(Keys {
        held: component_lock::all_held(consul).await?,
        names,
        state_locks,
    })
}

/// Locks in Consul whose holder is an operation of this machine that no process is at work on.
pub(super) fn consul_locks(estate: &Estate, keys: &Keys) -> Vec<Finding> {
    // `operations` tells of a store that cannot be read; without one, no lock is known to be this machine's.
    let store = estate.store_to_read().ok();
    let operation = |id: &str| {
        store
            .as_ref()
            .and_then(|store: &Store| store.operation(id).ok().flatten())
    };
    let held = keys.held.iter().filter_map(|lock| {
        let found = operation(&lock.holder.as_ref()?.operation)?;
        (!is_alive(estate, &found)).then(|| held_finding(lock, &found))
    });
    let state = keys.state_locks.iter().map(|state| {
        let words = format!("a Terraform run that is gone locked {state} in Consul");
        let mend = format!("consul kv delete -recurse {state}/.lock");
        Finding::not_ok(Area::Terraform, "locks", Condition::Limited, words, mend)
    });
    held.chain(state).collect()
}

fn held_finding(lock: &Locked, operation: &Operation) -> Finding {
    let (id, name) = (
        short(&operation.id),
        format!("{}/{}", lock.environment, lock.component),
    );
    let words = format!("operation {id} holds the lock of {name}, but its process is gone");
    let mend = match operation.ended {
        None => format!("eos resume {id}"),
        Some(_) => format!("consul kv delete terraform/{name}/lock"),
    };
    Finding::not_ok(Area::Consul, "locks", Condition::Limited, words, mend)
}

/// Workspaces whose Terraform state is in Consul although the pillar does not name them.
pub(super) fn orphans_in_consul(keys: &Keys, named: &[&str]) -> Vec<String> {
    let workspace = |key: &String| {
        let parts: Vec<&str> = key.split('/').collect();
        match parts[..] {
            ["terraform", environment, component, "state"] => Some(format!("{environment}/{component}")),
            _ => None,
        }
    };
    let all = keys.names.iter().filter_map(workspace);
    all.filter(|name| !named.contains(&name.as_str())).collect()
}

/// Terraform's own locks, as `eos.examine` reports them: those of runs that are gone, and those that others hold.
pub(super) fn state_locks(seen: &Value, mend: impl Fn(&str) -> String) -> Vec<Finding> {
    let all = seen.get("state_locks").and_then(Value::as_array);
    let finding = |lock: &Value| {
        let is = |name: &str| lock.get(name) == Some(&Value::Bool(true));
        let text = |name: &str| lock.get(name).and_then(Value::as_str).unwrap_or_default();
        let workspace = text("workspace");
        let words = match (is("held"), is("by_eos")) {
            (true, true) => return None,
            (true, false) => format!(
                "{} has locked the Terraform state of {workspace} since {}: {}",
                text("who"),
                text("since"),
                text("where")
            ),
            (false, _) => format!("a run that is gone locked the Terraform state of {workspace}"),
        };
        let mend = mend(text("unlock"));
        Some(Finding::not_ok(
            Area::Terraform,
            "locks",
            Condition::Limited,
            words,
            mend,
        ))
    };
    all.into_iter().flatten().filter_map(finding).collect()
}
