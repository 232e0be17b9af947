//! Plans: what would change and in which steps. A pure function of what is wanted, what was applied and what was observed.
//! A plan is what a person confirms, and the only thing an operation carries out.

mod changes;
pub mod effects;
mod hooks;
mod steps;

use crate::compile::Compilation;
use crate::diagnostic::Diagnostic;
use crate::emit::terraform::PLATFORM;
use crate::intent::{Intent, Noun};
use crate::lowered::CopyOf;
use crate::node::{Layer, Node, Reversibility};
use crate::pillar::Host;
use crate::pins::Pins;
use crate::recipe::Risk;
use crate::source::Source;
use crate::storage::{HostStorage, Misfit, fit};
use crate::tiers::Tiers;
use changes::{component_changes, host_changes};
use effects::{Effect, Unasked};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub use crate::compose::Key;

/// Of the form in which plans are written to files.
pub const VERSION: u32 = 3;

/// The texts that pillar files get, by path; nothing for a file that goes.
pub type PillarEdit = BTreeMap<String, Option<String>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub version: u32,
    pub environment: String,
    pub components: Vec<String>,
    pub intent: Option<Intent>,
    /// Digest of the pillar files that the plan was made from: they must still be so when it is applied.
    pub base: String,
    /// Pillar files after the edit; only those that change. One without a text goes.
    pub pillar: PillarEdit,
    /// The release that the steps expect to be served.
    pub release: String,
    /// Whether the engines were asked. A plan made without them is a preview only.
    pub observed: bool,
    /// What was observed where, so that it can be told whether it moved before this is applied.
    #[serde(default)]
    pub pins: Pins,
    pub changes: Vec<Change>,
    pub steps: Vec<Step>,
    /// What the engines say that the steps would do; empty before they were asked.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// What could not be asked.
    #[serde(default)]
    pub unasked: Vec<Unasked>,
}

impl Plan {
    pub fn count(&self, action: Action) -> usize {
        self.changes
            .iter()
            .filter(|change| change.action == action)
            .count()
    }

    /// The highest of its steps.
    pub fn risk(&self) -> Risk {
        self.steps.iter().map(|step| step.risk).max().unwrap_or_default()
    }

    /// The host that it is about, where it is about one and not about components.
    pub fn host(&self) -> Option<&str> {
        let of_host = self.intent.as_ref().filter(|intent| intent.noun == Noun::Host);
        of_host.map(|intent| intent.component.as_str())
    }

    pub fn points_of_no_return(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(|change| change.reversibility == Reversibility::Final)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub address: String,
    pub environment: String,
    pub component: String,
    pub layer: Layer,
    pub action: Action,
    pub summary: String,
    pub reversibility: Reversibility,
    /// Something a person should know beside the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub attributes: Vec<AttributeChange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Create,
    Change,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttributeChange {
    pub name: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub from: Option<Source>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Unique within the plan; the idempotency key of the call, with the operation.
    pub id: String,
    pub environment: String,
    pub component: String,
    /// The steps that must have ended before this one begins.
    #[serde(default)]
    pub after: Vec<String>,
    #[serde(default)]
    pub risk: Risk,
    #[serde(flatten)]
    pub work: Work,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// Make the release the one that Salt serves.
    Deliver,
    /// Salt runs one emitted SLS on a minion: the volumes of a component.
    Volumes {
        minion: String,
        sls: String,
        /// Of the facts about them that the minion is given.
        digest: String,
        paths: Vec<String>,
        /// Something of it cannot be had back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lasting: bool,
    },
    /// Salt has Terraform bring a workspace to its digest.
    Workspace {
        minion: String,
        sls: String,
        digest: String,
    },
    /// Salt brings secret values into the secrets engine; items without a given value are made if they are not there.
    Secret {
        minion: String,
        path: String,
        items: Vec<SecretWork>,
    },
    /// The secrets engine holds again what it held before an operation wrote to it.
    RestoreSecret {
        minion: String,
        path: String,
        previous: Previous,
    },
    /// The component runs, is registered and passes its checks.
    Verify {
        digest: String,
        groups: Vec<Expected>,
    },
    RemoveWorkspace {
        minion: String,
    },
    RemoveSecret {
        minion: String,
        path: String,
    },
    /// Salt removes volumes with their data: ephemeral ones, and those that a person asked to go with it.
    RemoveVolumes {
        minion: String,
        /// `environment/component/need` -> path.
        volumes: BTreeMap<String, String>,
        /// Those that are not ephemeral.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        with_data: Vec<String>,
    },
    /// Volumes that the pillar names no longer are there all the same, with their data.
    VerifyKept {
        minion: String,
        paths: Vec<String>,
        /// Those that were there when it was planned.
        #[serde(default, skip_serializing_if = "Standing::is_empty")]
        there: Standing,
    },
    /// Salt removes directories that the operation which is taken back made, each if it is empty.
    RemoveUnusedVolumes {
        minion: String,
        /// `environment/component/need` -> path.
        volumes: BTreeMap<String, String>,
    },
    /// The host answers as a minion, and, if it is to run tasks, as a Nomad client.
    VerifyHost {
        minion: String,
        client: bool,
    },
    /// Nothing of the component runs or is registered any more.
    VerifyGone {
        services: Vec<String>,
        /// Seconds that a task of it has to end by itself, where its recipe says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<u64>,
    },
    /// Salt has the monitor of the environment load the component's rules, and the monitor gets answers from it.
    Monitor {
        minion: String,
        sls: String,
        digest: String,
    },
    /// Salt takes the component's rules from a monitor.
    RemoveMonitor {
        minion: String,
        /// The component that watched it.
        by: String,
    },
    /// The monitor asks the component no longer.
    VerifyUnwatched {
        by: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecretWork {
    pub item: String,
    /// The person gave a value with this command.
    pub given: bool,
    /// A new value takes the place of the one that is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rotate: bool,
    pub generate: Option<u32>,
    /// The value is that of another component's secret, in the same environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
}

/// What the secrets engine held before an operation wrote to it; where to find it, never what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Previous {
    Nothing,
    /// A version that the engine itself keeps.
    Version(u64),
    /// The path of a copy that the engine keeps until the operation ends.
    Kept(String),
}

/// What verification expects of one task group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub group: String,
    pub service: Option<String>,
    pub count: u32,
    pub check: bool,
}

impl Work {
    /// The step in a word, for progress and errors.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Volumes { .. } => "volume",
            Self::Workspace { .. } => "terraform",
            Self::Secret { .. } | Self::RestoreSecret { .. } => "secret",
            Self::Verify { .. } => "healthy",
            Self::RemoveWorkspace { .. } => "terraform",
            Self::RemoveSecret { .. } => "secret",
            Self::RemoveVolumes { .. } | Self::RemoveUnusedVolumes { .. } => "volume",
            Self::VerifyKept { .. } => "kept",
            Self::VerifyHost { .. } => "host",
            Self::VerifyGone { .. } => "gone",
            Self::Monitor { .. } | Self::RemoveMonitor { .. } | Self::VerifyUnwatched { .. } => "monitor",
        }
    }

    /// Whether it may leave anything changed of its component: the others look, or serve what was compiled.
    pub fn changes(&self) -> bool {
        !matches!(
            self,
            Self::Deliver
                | Self::Verify { .. }
                | Self::VerifyGone { .. }
                | Self::VerifyHost { .. }
                | Self::VerifyKept { .. }
                | Self::VerifyUnwatched { .. }
        )
    }

    /// Whether what it does cannot be had back, not even by taking back the operation that it belongs to. Secrets can:
    /// until that ends, a copy is kept.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::RemoveVolumes { .. } | Self::Volumes { lasting: true, .. }
        )
    }
}

/// Path of a volume that is there -> the UUID of the filesystem that is mounted at it; nothing for a directory.
pub type Standing = BTreeMap<String, Option<String>>;

/// What was read from the engines, in O(1) requests. Absent where nobody answered.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// `environment/component` -> digest that was applied there.
    pub workspaces: BTreeMap<String, Option<String>>,
    /// (namespace, job) -> digest in the job's meta.
    pub jobs: BTreeMap<Key, Option<String>>,
    /// (namespace, path) -> names of the items there.
    pub secrets: BTreeMap<Key, BTreeSet<String>>,
    /// Host -> drivers that are healthy there.
    pub drivers: BTreeMap<String, BTreeSet<String>>,
    /// Hosts that can give a task a network of its own, as the mesh needs it.
    pub bridges: BTreeSet<String>,
    /// Host -> what it has of storage, for hosts with volumes on LVM.
    pub storage: BTreeMap<String, HostStorage>,
    /// Host -> what is there of volumes that the pillar names no longer.
    pub standing: BTreeMap<String, Standing>,
    /// By which lists the control minion will judge a step.
    pub tiers: Option<Tiers>,
}

/// What an operation has left behind beside what the nodes tell.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// What it overwrote of a component's secrets.
    pub secrets: BTreeMap<Key, Previous>,
    pub unused_volumes: UnusedVolumes,
}

/// Component and minion -> `environment/component/need` -> path: directories that an operation made, on which no task was
/// started.
pub type UnusedVolumes = BTreeMap<(Key, String), BTreeMap<String, String>>;

pub struct PlanInput<'a> {
    pub environment: &'a str,
    /// The components to look at; none means all of the environment.
    pub components: Option<&'a [String]>,
    pub intent: Option<Intent>,
    pub compilation: &'a Compilation,
    /// Nodes as they were last applied.
    pub applied: &'a BTreeMap<Key, Vec<Node>>,
    /// Components of `applied` that an operation began to make and did not finish.
    pub unfinished: &'a BTreeSet<Key>,
    pub observed: Option<&'a Observed>,
    /// What an operation that is taken back has left behind.
    pub left: Option<&'a Left>,
    /// Secret options of the intent's component that the person gave a value for.
    pub given: &'a BTreeSet<String>,
    /// The hosts of the pillar before and after the intent.
    pub hosts: (&'a BTreeMap<String, Host>, &'a BTreeMap<String, Host>),
    pub base: String,
    pub pillar: PillarEdit,
}

/// What stands in the way of the wanted components, as far as the engines have told.
pub fn refusals(
    environment: &str,
    components: Option<&[String]>,
    compilation: &Compilation,
    observed: &Observed,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for component in compilation.of_environment(environment) {
        if components.is_some_and(|names| !names.contains(&component.component)) {
            continue;
        }
        let at = &component.at;
        let drivers: BTreeSet<&str> = component.groups.iter().map(|group| group.driver.name()).collect();
        for driver in drivers {
            if !observed.drivers.values().any(|healthy| healthy.contains(driver)) {
                let hint = match driver {
                    "docker" => {
                        "Start a Docker engine on a host and restart its Nomad client (in a lab: `eos lab up --containers`)"
                    }
                    _ => "Enable the driver in the Nomad client's configuration",
                };
                found.push(
                    Diagnostic::new(format!(
                        "{} needs the Nomad driver {driver}, which no host offers",
                        component.component
                    ))
                    .at(&at.file, at.position)
                    .hint(hint),
                );
            }
        }
        if observed.bridges.is_empty() && component.is_meshed() {
            found.push(
                Diagnostic::new(format!(
                    "{} needs the mesh, and no host can give a task its own network",
                    component.component
                ))
                .at(&at.file, at.position)
                .hint(
                    "Run Nomad as root with the CNI plugins (apt install containernetworking-plugins); \
                    `eos doctor` shows the missing part",
                ),
            );
        }
        for volume in &component.volumes {
            let Some(host) = observed.storage.get(&volume.host.value) else {
                continue;
            };
            if let Err(Misfit { words, hint }) = fit(component, volume, host) {
                let words = format!("Volume {}: {words}", volume.name);
                found.push(Diagnostic::new(words).at(&at.file, at.position).hint(hint));
            }
        }
    }
    found
}

/// What a plan for some components has to look at: them, what they use, what they had for their own use, and those that
/// come after them, which may have to know.
pub fn scope(
    environment: &str,
    components: &[String],
    compilation: &Compilation,
    applied: &BTreeMap<Key, Vec<Node>>,
) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = components.iter().cloned().collect();
    let named_addresses: BTreeSet<&str> = components
        .iter()
        .filter_map(|name| applied.get(&(environment.to_owned(), name.clone())))
        .flatten()
        .map(|node| node.address.as_str())
        .collect();
    for component in compilation.of_environment(environment) {
        let key = (environment.to_owned(), component.component.clone());
        let waited = applied
            .get(&key)
            .into_iter()
            .flatten()
            .flat_map(|node| &node.after);
        let after = components.iter().any(|name| component.before.contains(name))
            || waited
                .into_iter()
                .any(|address| named_addresses.contains(address.as_str()));
        if after {
            names.insert(component.component.clone());
        }
    }
    // Those it called have it among their callers.
    let called: BTreeSet<&str> = components
        .iter()
        .filter_map(|name| applied.get(&(environment.to_owned(), name.clone())))
        .flatten()
        .flat_map(|node| node.after.iter().map(String::as_str))
        .filter(|address| address.starts_with("service/"))
        .collect();
    for ((of, component), nodes) in applied {
        if of == environment && nodes.iter().any(|node| called.contains(node.address.as_str())) {
            names.insert(component.clone());
        }
    }
    names.extend(hooks::watched_by(environment, components, compilation, applied));
    let mut open: Vec<String> = components.to_vec();
    while let Some(name) = open.pop() {
        let used = compilation.component(environment, &name).into_iter();
        let used = used.flat_map(|component| component.uses.values().cloned());
        let owned = applied.iter().filter(|((of, component), nodes)| {
            of == environment
                && *component != name
                && nodes.iter().any(|node| node.owner.as_ref() == Some(&name))
        });
        let owned = owned.map(|((_, component), _)| component.clone());
        for other in used.chain(owned) {
            if names.insert(other.clone()) {
                open.push(other);
            }
        }
    }
    names
}

pub fn plan(input: PlanInput<'_>) -> Plan {
    let environment = input.environment;
    let compiled = input.compilation.workspaces.keys();
    let compiled = compiled.chain(input.compilation.components.keys());
    let wanted = compiled.chain(input.applied.keys());
    let mut keys: BTreeSet<&Key> = wanted.filter(|(of, _)| of == environment).collect();
    if let Some(components) = input.components {
        let scope = scope(environment, components, input.compilation, input.applied);
        let platform = (environment.to_owned(), PLATFORM.to_owned());
        let empties = !scope.is_empty() && !input.compilation.workspaces.contains_key(&platform);
        let needs_platform = scope
            .iter()
            .any(|name| input.compilation.workspace(environment, name).is_some());
        keys.retain(|(_, name)| scope.contains(name) || (name == PLATFORM && (needs_platform || empties)));
    }
    let mut changes = Vec::new();
    let mut touched = Vec::new();
    for key in keys {
        let before = changes.len();
        changes.extend(component_changes(&input, key));
        if changes.len() > before {
            touched.push(key.clone());
        }
    }
    let mut steps = match changes.is_empty() && input.left.is_none() {
        true => Vec::new(),
        false => steps::steps(&input, &touched, &changes),
    };
    let hosts = host_changes(&input);
    if !hosts.is_empty() {
        let of_host = steps::host_steps(&input, &steps);
        steps.extend(of_host);
        changes.extend(hosts);
    }
    let components = match input.components {
        Some(components) => components.to_vec(),
        None => touched
            .iter()
            .map(|(_, name)| name.clone())
            .filter(|name| name != PLATFORM)
            .collect(),
    };
    Plan {
        version: VERSION,
        environment: environment.to_owned(),
        components,
        intent: input.intent,
        base: input.base,
        pillar: input.pillar,
        release: input.compilation.release.clone(),
        observed: input.observed.is_some(),
        pins: Pins::default(),
        changes,
        steps,
        effects: Vec::new(),
        unasked: Vec::new(),
    }
}
