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
use crate::intent::Intent;
use crate::kinds::{self, Acted, Deed, Made, Phase, Proof, Request, Unmade, rules, secret, volume};
use crate::lowered::{Group, Lowered};
use crate::node::{Layer, Node, Reversibility};
use crate::option::human_size;
use crate::pins::Pins;
use crate::recipe::{Requires, Risk};
use crate::scope::Scope;
use crate::source::Source;
use crate::storage::{HostStorage, Misfit, fit};
use crate::tiers::Tiers;
use changes::changes_of;
use effects::{Effect, Refused, Unasked};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub use crate::compose::Key;

/// Of the form in which plans are written to files.
pub const VERSION: u32 = 6;

/// The texts that pillar files get, by path; nothing for a file that goes.
pub type PillarEdit = BTreeMap<String, Option<String>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub version: u32,
    pub environment: String,
    pub components: Vec<String>,
    /// The hosts that it is about; they belong to no environment.
    pub hosts: Vec<String>,
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
    /// What is done beside, though nothing changes by it.
    pub acts: Vec<Act>,
    pub steps: Vec<Step>,
    /// What the engines say that the steps would do; empty before they were asked.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// What could not be asked.
    #[serde(default)]
    pub unasked: Vec<Unasked>,
    /// What engines refuse of it: then it is never applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

impl Plan {
    pub fn count(&self, action: Action) -> usize {
        self.changes
            .iter()
            .filter(|change| change.action == action)
            .count()
    }

    /// Whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.changes.is_empty() && self.acts.is_empty() && self.pillar.is_empty()
    }

    /// The act that is all it does: nothing undoes it.
    pub fn only_act(&self) -> Option<&Act> {
        self.acts.first().filter(|_| self.changes.is_empty())
    }

    /// The secret that it overwrites for good: once its operation has ended, no engine has the value before.
    pub fn lost_secret(&self) -> Option<&Change> {
        let is_lost = |change: &&Change| {
            change.address.kind == NodeKind::Secret
                && change.action == Action::Change
                && change.reversibility == Reversibility::Final
        };
        self.changes.iter().find(is_lost)
    }

    /// The highest of its steps.
    pub fn risk(&self) -> Risk {
        self.steps.iter().map(|step| step.risk).max().unwrap_or_default()
    }

    /// Whether it is about hosts and nothing of its environment.
    pub fn is_of_hosts(&self) -> bool {
        !self.hosts.is_empty() && self.components.is_empty()
    }

    /// The components, `platform` among them, and the hosts that are what the pillar says once the plan is applied.
    pub fn touched(&self) -> BTreeSet<Key> {
        let changed = self.changes.iter().map(Change::key);
        changed.chain(self.worked_on()).collect()
    }

    /// The components and hosts that nobody else may change while the plan is applied.
    pub fn locked(&self) -> BTreeSet<Key> {
        // The removal of a host is no step of its own.
        let changed = self.changes.iter().map(Change::key);
        let hosts = changed.filter(|key| Scope::of(key) == Scope::Estate);
        hosts.chain(self.worked_on()).collect()
    }

    /// What the steps are about. A delivery is about all things at once.
    fn worked_on(&self) -> impl Iterator<Item = Key> {
        let steps = self.steps.iter().filter(|step| step.work != Work::Deliver);
        steps.map(Step::key)
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
    /// The component or host that it is about.
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

/// Something that is done with a component. It changes nothing that the pillar says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Act {
    pub deed: Deed,
    pub environment: String,
    pub component: String,
    pub layer: Layer,
    pub summary: String,
}

impl Act {
    pub fn key(&self) -> Key {
        (self.environment.clone(), self.component.clone())
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
    /// Empty for a host.
    pub environment: String,
    /// The component, or the host.
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
    /// The component or host that it is about.
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
    Act(Acted),
    Prove(Proof),
    Secret(secret::Moved),
}

impl Work {
    /// What a minion is asked for; nothing where Eos delivers, or only looks.
    pub fn request(&self) -> Option<&dyn Request> {
        match self {
            Self::Make(made) => Some(made.request()),
            Self::Unmake(unmade) => Some(unmade.request()),
            Self::Act(acted) => Some(acted.request()),
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
            Self::Act(acted) => acted.request().title(),
            Self::Prove(proof) => proof.title(),
            Self::Secret(moved) => moved.title(),
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
            Self::Deliver | Self::Make(_) | Self::Unmake(_) | Self::Act(_) | Self::Prove(_) => &[],
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
    /// Host -> what it is and has, where a component requires something of hosts.
    pub hosts: BTreeMap<String, HostHas>,
    /// Hosts that can give a task a network of its own, as the mesh needs it.
    pub bridges: BTreeSet<String>,
    /// Host -> what it has of storage, for hosts with volumes on LVM.
    pub storage: BTreeMap<String, HostStorage>,
    /// Host -> what is there of volumes that the pillar names no longer.
    pub standing: BTreeMap<String, volume::Standing>,
    /// By which lists the control minion will judge a step.
    pub tiers: Option<Tiers>,
}

/// What a host is and has, as Nomad's client there says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostHas {
    pub datacenter: String,
    pub architecture: String,
    /// Bytes of memory at all.
    pub memory: u64,
    /// Bytes that are free on the disk of its tasks.
    pub disk: u64,
}

/// What an operation has left behind beside what the nodes tell.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// What it overwrote of a component's secrets.
    pub secrets: BTreeMap<Key, secret::Previous>,
    pub unused_volumes: volume::Unused,
    /// What its steps began to make, by component.
    pub begun: Vec<(Key, Made)>,
}

pub struct PlanInput<'a> {
    pub environment: &'a str,
    /// The components to look at; none means all of the environment.
    pub components: Option<&'a [String]>,
    /// The hosts to look at; none means all of the estate.
    pub hosts: Option<&'a [String]>,
    pub intent: Option<Intent>,
    pub compilation: &'a Compilation,
    /// Nodes as they were last applied, of components and hosts.
    pub applied: &'a BTreeMap<Key, Vec<Node>>,
    /// Components of `applied` that an operation began to make and did not finish.
    pub unfinished: &'a BTreeSet<Key>,
    pub observed: Option<&'a Observed>,
    /// What an operation that is taken back has left behind.
    pub left: Option<&'a Left>,
    /// Secret options of the intent's component that the person gave a value for.
    pub given: &'a BTreeSet<String>,
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
        let requires = component.groups.iter().find_map(Group::requires);
        let homes = homes(component, compilation);
        found.extend(requires.and_then(|requires| unmet(component, requires, observed, homes.as_ref())));
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

/// The hosts on which all volumes lie that its job mounts; none where it mounts none.
fn homes<'c>(component: &'c Lowered, compilation: &'c Compilation) -> Option<BTreeSet<&'c str>> {
    let lender = component
        .lender()
        .and_then(|owner| compilation.component(&component.environment, owner));
    let volumes = lender.unwrap_or(component).volumes_by_need();
    let mounts = component.groups.iter().flat_map(|group| &group.mounts);
    let hosts = mounts.filter_map(|mount| {
        let of_need = volumes.get(mount.volume.as_str())?.iter();
        Some(
            of_need
                .map(|volume| volume.host.value.as_str())
                .collect::<BTreeSet<_>>(),
        )
    });
    hosts.reduce(|one, other| &one & &other)
}

/// What no host has of what a component requires, of those in its datacenter that have its volumes.
fn unmet(
    component: &Lowered,
    requires: &Requires,
    observed: &Observed,
    homes: Option<&BTreeSet<&str>>,
) -> Option<Diagnostic> {
    let datacenter = &component.datacenter.value;
    let hosts = observed.hosts.iter();
    let is_home = |name: &String| homes.is_none_or(|homes| homes.contains(name.as_str()));
    let hosts: Vec<(&String, &HostHas)> = hosts
        .filter(|(name, has)| has.datacenter == *datacenter && is_home(name))
        .collect();
    let fits = |has: &HostHas| {
        requires.memory.is_none_or(|(bytes, _)| has.memory >= bytes)
            && requires.disk.is_none_or(|(bytes, _)| has.disk >= bytes)
            && requires
                .architecture
                .is_none_or(|(one, _)| has.architecture == one.word())
    };
    if hosts.iter().any(|(_, has)| fits(has)) {
        return None;
    }
    let memory = requires
        .memory
        .map(|(bytes, _)| format!("{} of memory", human_size(bytes)));
    let disk = requires
        .disk
        .map(|(bytes, _)| format!("{} of free disk", human_size(bytes)));
    let architecture = requires.architecture.map(|(one, _)| one.word().to_owned());
    let wanted: Vec<String> = [architecture, memory, disk].into_iter().flatten().collect();
    let there = hosts.iter().map(|(name, has)| {
        let (memory, disk) = (human_size(has.memory), human_size(has.disk));
        format!(
            "{name} is {} with {memory} of memory and {disk} of free disk",
            has.architecture
        )
    });
    let there: Vec<String> = there.collect();
    let where_it_lies = match homes {
        Some(_) => " with its volumes",
        None => "",
    };
    let words = format!(
        "{} requires {}, which no host{where_it_lies} in datacenter {datacenter} has",
        component.component,
        wanted.join(", ")
    );
    let there = match there.is_empty() {
        true => String::new(),
        false => format!("{}. ", there.join("; ")),
    };
    let hint = format!("{there}Add a host that has it, or choose another --datacenter");
    let at = &component.at;
    Some(Diagnostic::new(words).at(&at.file, at.position).hint(hint))
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

/// The keys of the hosts that a plan has to look at.
fn hosts(input: &PlanInput<'_>) -> BTreeSet<Key> {
    let is_meant = |name: &String| input.hosts.is_none_or(|names| names.contains(name));
    let applied = input.applied.keys();
    let applied = applied.filter(|key| Scope::of(key) == Scope::Estate);
    let names = input
        .compilation
        .hosts
        .keys()
        .chain(applied.map(|(_, name)| name));
    names
        .filter(|name| is_meant(name))
        .map(|name| Scope::Estate.key(name))
        .collect()
}

/// What the intent has done with a component.
fn acts(input: &PlanInput<'_>) -> Vec<Act> {
    let asked = input.intent.as_ref().and_then(Intent::act).into_iter();
    let asked = asked.filter_map(|(key, deed)| {
        let component = input.compilation.components.get(&key)?;
        deed.home().act(deed, component)
    });
    asked.collect()
}

pub fn plan(input: PlanInput<'_>) -> Plan {
    let environment = input.environment;
    let compiled = input.compilation.workspaces.keys();
    let compiled = compiled.chain(input.compilation.components.keys());
    let wanted = compiled.chain(input.applied.keys());
    let mut keys: BTreeSet<&Key> = wanted
        .filter(|key| Scope::of(key) == Scope::Environment(environment))
        .collect();
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
    for key in keys.into_iter().cloned().chain(hosts(&input)) {
        let before = changes.len();
        changes.extend(changes_of(&input, &key));
        if changes.len() > before {
            touched.push(key);
        }
    }
    let acts = acts(&input);
    let steps = match changes.is_empty() && acts.is_empty() && input.left.is_none() {
        true => Vec::new(),
        false => steps::steps(&input, &touched, &changes, &acts),
    };
    let names = |scope: Scope<'_>| -> Vec<String> {
        let keys = touched.iter().filter(|key| Scope::of(key) == scope);
        keys.map(|(_, name)| name.clone())
            .filter(|name| name != PLATFORM)
            .collect()
    };
    let components = match input.components {
        Some(components) => components.to_vec(),
        None => names(Scope::Environment(environment)),
    };
    let hosts = match input.hosts {
        Some(hosts) => hosts.to_vec(),
        None => names(Scope::Estate),
    };
    Plan {
        version: VERSION,
        environment: environment.to_owned(),
        components,
        hosts,
        intent: input.intent,
        base: input.base,
        pillar: input.pillar,
        release: input.compilation.release.clone(),
        observed: input.observed.is_some(),
        pins: Pins::default(),
        changes,
        acts,
        steps,
        effects: Vec::new(),
        unasked: Vec::new(),
        refused: Vec::new(),
    }
}
