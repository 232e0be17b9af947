//! What was observed, as the engines tell it.

use super::Held;
use crate::compose::Key;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What an engine said, or why it said nothing.
pub type OrSilent<T> = Result<T, Silent>;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Silent {
    pub words: String,
    pub hint: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The minion that runs Terraform.
    pub control: Option<String>,
    pub minions: BTreeMap<String, OrSilent<Inspection>>,
    pub nomad: Option<OrSilent<NomadSeen>>,
    /// Nothing in an estate without Consul; likewise of Vault.
    pub consul: Option<OrSilent<ConsulSeen>>,
    pub vault: Option<OrSilent<VaultSeen>>,
    pub estate: Vec<FileSeen>,
    pub release: Option<OrSilent<Vec<FileSeen>>>,
    pub held: Vec<Held>,
}

/// What `eos.inspect` says of one minion.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Inspection {
    pub release: Option<String>,
    /// What would change of its volumes and rules if they were made again.
    #[serde(default)]
    pub states: Vec<StateRun>,
    /// Of the control minion; nothing on others.
    #[serde(default)]
    pub workspaces: Option<BTreeMap<String, Option<WorkspaceSeen>>>,
    /// Workspaces that the pillar does not name.
    #[serde(default)]
    pub orphans: Option<Vec<String>>,
    #[serde(default)]
    pub synced: Option<Synced>,
    /// Why the rest could not be told.
    #[serde(default)]
    pub error: Option<Trouble>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Trouble {
    pub layer: String,
    pub words: String,
    #[serde(default)]
    pub hint: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct StateRun {
    /// The path.
    pub name: String,
    pub result: Option<bool>,
    #[serde(default)]
    pub changes: Value,
    #[serde(default)]
    pub comment: String,
    /// Of the part that the state makes: `volume` or `rules`.
    pub kind: String,
    /// `environment/component/need` of a volume, `environment/component` of rules.
    pub part: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct WorkspaceSeen {
    /// What is applied there.
    pub digest: Option<String>,
    pub serial: Option<u64>,
    /// When it was applied.
    #[serde(default)]
    pub when: Option<String>,
    #[serde(default)]
    pub secret_version: Option<Value>,
    /// Address of a resource -> attributes that are not as they were recorded.
    #[serde(default)]
    pub state_changed: Option<BTreeMap<String, Vec<String>>>,
    #[serde(default)]
    pub resources: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    pub tree: Option<Tree>,
    /// Why its Terraform state cannot be read.
    #[serde(default)]
    pub error: Option<Trouble>,
    /// The backend of its Terraform state did not answer: nothing is known of it.
    #[serde(default)]
    pub unread: bool,
}

impl WorkspaceSeen {
    /// The index of the job that Terraform remembers.
    pub fn job_index(&self) -> Option<u64> {
        let index = self
            .resources
            .values()
            .filter(|resource| resource.get("type").is_some_and(|kind| kind == "nomad_job"))
            .find_map(|resource| resource.get("modify_index"))?;
        match index {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Tree {
    #[serde(default)]
    pub changed: Vec<String>,
    #[serde(default)]
    pub missing: Vec<String>,
    /// There, and not of what was rendered.
    #[serde(default)]
    pub strange: Vec<String>,
}

/// What the control minion's schedule last found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Synced {
    pub when: String,
    #[serde(default)]
    pub workspaces: BTreeMap<String, SyncedWorkspace>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyncedWorkspace {
    /// `in step`, `differs`, `failed`
    pub verdict: String,
    #[serde(default)]
    pub resources: Value,
    #[serde(default)]
    pub words: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct NomadSeen {
    pub namespaces: BTreeSet<String>,
    pub jobs: BTreeMap<Key, JobSeen>,
    /// (namespace, job, group) -> instances that run.
    pub running: BTreeMap<(String, String, String), u64>,
    /// (namespace, name) of services in Nomad's own catalogue.
    pub services: BTreeSet<Key>,
    /// (namespace, name) -> names of the nodes on which a host volume is registered.
    pub volumes: BTreeMap<Key, BTreeSet<String>>,
    /// The jobs that were read whole.
    pub compared: BTreeMap<Key, OrSilent<Compared>>,
}

/// A job as it is and as it was applied, both as Nomad's JSON, and Nomad's own diff from the one to the other.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    pub diff: Value,
    pub real: Value,
    pub wanted: Value,
}

#[derive(Clone, Debug, Default)]
pub struct JobSeen {
    pub stop: bool,
    pub index: u64,
    pub meta: BTreeMap<String, String>,
    /// When it was last registered.
    pub submitted: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct ConsulSeen {
    /// Service -> how many instances of it are registered.
    pub services: BTreeMap<String, u64>,
    /// Service -> who may call it, by the rules of the mesh.
    pub intentions: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Clone, Debug, Default)]
pub struct VaultSeen {
    /// Policy -> what it says and what it should say; nothing where it is not there.
    pub policies: BTreeMap<String, PolicySeen>,
}

#[derive(Clone, Debug)]
pub struct PolicySeen {
    pub wanted: String,
    pub real: Option<String>,
}

/// A generated file that is not as it was compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSeen {
    pub path: String,
    pub how: FileChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    Changed,
    Missing,
    /// There, and not of what was compiled.
    Strange,
}
