//! Plans: what would change and in which steps. A pure function of what is wanted, what was applied and what was observed.
//! A plan is what a person confirms, and the only thing an operation carries out.

mod changes;
pub mod earlier;
pub mod effects;
mod steps;

use crate::address::{Address, NodeKind};
use crate::compile::Compilation;
use crate::diagnostic::Diagnostic;
use crate::emit::terraform::PLATFORM;
use crate::intent::{Intent, Noun};
use crate::kinds::{self, Made, Phase, Proof, Request, Unmade, rules, secret, volume};
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
pub const VERSION: u32 = 4;

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

    /// The components, `platform` among them, that are what the pillar says once the plan is applied.
    pub fn touched(&self) -> BTreeSet<Key> {
        let of_component = |change: &&Change| change.address.kind != NodeKind::Host;
        let changed = self.changes.iter().filter(of_component).map(Change::key);
        let steps = self.steps.iter().filter(|step| step.work.is_of_component());
        changed.chain(steps.map(Step::key)).collect()
    }

    pub fn points_of_no_return(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(|change| change.reversibility == Reversibility::Final)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub address: Address,
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

impl Change {
    /// The component that it is about.
    pub fn key(&self) -> Key {
        (self.environment.clone(), self.component.clone())
    }

    /// Whether it is about a part that comes after a healthy component.
    fn is_after_healthy(&self) -> bool {
        kinds::of(self.address.kind).is_some_and(|kind| kind.phase() == Phase::AfterHealthy)
    }

    /// A node that is made again as it was.
    pub(crate) fn again(node: &Node) -> Self {
        changes::change(Action::Change, node, Some(node))
    }
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

impl Step {
    /// The component that it is about.
    pub fn key(&self) -> Key {
        (self.environment.clone(), self.component.clone())
    }

    /// The same as a person writes it: `environment/component`.
    pub fn place(&self) -> String {
        format!("{}/{}", self.environment, self.component)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum Work {
    /// Make the release the one that Salt serves.
    Deliver,
    Make(Made),
    Unmake(Unmade),
    Prove(Proof),
    Secret(secret::Moved),
}

impl Work {
    /// What a minion is asked for; nothing where Eos delivers, or only looks.
    pub fn request(&self) -> Option<&dyn Request> {
        match self {
            Self::Make(made) => Some(made.request()),
            Self::Unmake(unmade) => Some(unmade.request()),
            Self::Secret(moved) => Some(moved),
            Self::Deliver | Self::Prove(_) => None,
        }
    }

    /// The step in a word, for progress and errors.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Make(made) => made.request().title(),
            Self::Unmake(unmade) => unmade.request().title(),
            Self::Prove(proof) => proof.title(),
            Self::Secret(moved) => moved.title(),
        }
    }

    /// Whether it is about a component. Delivery and hosts belong to none.
    pub fn is_of_component(&self) -> bool {
        match self {
            Self::Deliver => false,
            Self::Prove(proof) => proof.is_of_component(),
            Self::Make(_) | Self::Unmake(_) | Self::Secret(_) => true,
        }
    }

    /// Whether it may leave anything changed of its component. The others look, or serve the compiled files.
    pub fn changes(&self) -> bool {
        self.request().is_some()
    }

    /// The secrets that it writes.
    pub fn writes(&self) -> &[secret::SecretWork] {
        match self {
            Self::Secret(moved) => moved.items(),
            Self::Deliver | Self::Make(_) | Self::Unmake(_) | Self::Prove(_) => &[],
        }
    }

    /// Whether Terraform runs for it.
    pub fn is_workspace(&self) -> bool {
        self.request().is_some_and(Request::is_workspace)
    }

    /// Whether nothing brings back its effect, not even a rollback of its operation. Secrets come back: until an
    /// operation ends, a copy is kept.
    pub fn is_final(&self) -> bool {
        self.request().is_some_and(Request::is_final)
    }
}

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
    pub standing: BTreeMap<String, volume::Standing>,
    /// By which lists the control minion will judge a step.
    pub tiers: Option<Tiers>,
}

/// What an operation has left behind beside what the nodes tell.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// What it overwrote of a component's secrets.
    pub secrets: BTreeMap<Key, secret::Previous>,
    pub unused_volumes: volume::Unused,
}

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
    let named_addresses: BTreeSet<&Address> = components
        .iter()
        .filter_map(|name| applied.get(&(environment.to_owned(), name.clone())))
        .flatten()
        .map(|node| &node.address)
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
                .any(|address| named_addresses.contains(address));
        if after {
            names.insert(component.component.clone());
        }
    }
    // Those it called have it among their callers.
    let called: BTreeSet<&Address> = components
        .iter()
        .filter_map(|name| applied.get(&(environment.to_owned(), name.clone())))
        .flatten()
        .flat_map(|node| &node.after)
        .filter(|address| address.kind == NodeKind::Service)
        .collect();
    for ((of, component), nodes) in applied {
        if of == environment && nodes.iter().any(|node| called.contains(&node.address)) {
            names.insert(component.clone());
        }
    }
    names.extend(rules::watched_by(environment, components, compilation, applied));
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
