//! Terraform's workspaces: whether each is as it was applied, and who holds its lock.

use std::collections::BTreeMap;
use std::time::Duration;

use eos_core::compile::workspace_digest;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Seen, Trouble, counted};
use crate::component_lock;
use crate::engines::Engines;
use crate::error::EngineError;
use crate::estate::Estate;
use crate::lock::{self, Target};
use crate::store::Applied;

const ANSWER: Duration = Duration::from_secs(11);

#[derive(Debug, Clone, Serialize)]
pub struct TerraformSeen {
    pub workspaces: Vec<WorkspaceStatus>,
}

#[derive(Debug, Clone, Serialize)]
pub struct WorkspaceStatus {
    /// `environment/component`.
    pub workspace: String,
    /// Whether its Terraform state is the one that the last operation left.
    pub as_applied: bool,
    pub serial: Option<u64>,
    pub resources: usize,
    /// Why its Terraform state cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Who holds its lock.
    pub locked: Option<String>,
}

pub(super) async fn ask(
    estate: &Estate,
    engines: &Engines,
    environment: &str,
    applied: &[Applied],
) -> Result<TerraformSeen, EngineError> {
    let applied: Vec<&Applied> = applied.iter().filter(|one| one.has_workspace()).collect();
    let names: Vec<String> = applied
        .iter()
        .map(|one| format!("{environment}/{}", one.component))
        .collect();
    let control = &engines.endpoints.control;
    let (observed, mut locks) = tokio::try_join!(
        engines.salt.call(
            control,
            "eos.observe",
            json!({"parts": {"workspace": names}}),
            ANSWER
        ),
        locks(estate, engines, environment, &applied),
    )?;
    let workspaces = applied
        .iter()
        .zip(names)
        .map(|(one, workspace)| {
            let seen = observed.get("workspace").and_then(|all| all.get(&workspace));
            let part = |name: &str| seen.and_then(|seen| seen.get(name));
            WorkspaceStatus {
                as_applied: part("digest").and_then(Value::as_str) == Some(workspace_digest(&one.digest)),
                serial: part("serial").and_then(Value::as_u64),
                resources: part("resources").and_then(Value::as_array).map_or(0, Vec::len),
                fault: part("error")
                    .and_then(|error| error.get("words")?.as_str())
                    .map(str::to_owned),
                locked: locks.remove(&one.component),
                workspace,
            }
        })
        .collect();
    Ok(TerraformSeen { workspaces })
}

/// Component -> who holds its lock: in Consul or, in the solo profile, a process on this machine.
async fn locks(
    estate: &Estate,
    engines: &Engines,
    environment: &str,
    applied: &[&Applied],
) -> Result<BTreeMap<String, String>, EngineError> {
    if let Some(consul) = &engines.consul {
        let held = component_lock::all_held(consul).await?;
        let here = held.into_iter().filter(|lock| lock.environment == environment);
        return Ok(here.map(|lock| (lock.component.clone(), lock.words())).collect());
    }
    let mut held = BTreeMap::new();
    for one in applied {
        let component = &one.component;
        let target = Target::Component {
            environment,
            component,
        };
        if let Some(holder) = lock::held_by(&estate.root, target)? {
            held.insert(component.clone(), holder.words());
        }
    }
    Ok(held)
}

impl Seen for TerraformSeen {
    fn words(&self) -> String {
        let locked = self.workspaces.iter().filter(|one| one.locked.is_some()).count();
        format!("{}, {locked} locked", counted(self.workspaces.len(), "workspace"))
    }

    /// That one is locked is no trouble: somebody is at work.
    fn troubles(&self) -> Vec<Trouble> {
        let trouble = |one: &WorkspaceStatus| {
            let about = format!("workspace {}", one.workspace);
            let changed = "it changed since the last operation";
            Trouble::new(about, one.fault.as_deref().unwrap_or(changed), "eos drift")
        };
        let moved = self
            .workspaces
            .iter()
            .filter(|one| !one.as_applied && one.locked.is_none());
        moved.map(trouble).collect()
    }
}
