//! Plans: what would change and in which steps. A pure function of what is wanted, what was applied and what was observed.
//! A plan is what a person confirms, and the only thing an operation carries out.

use crate::compile::Compilation;
use crate::diagnostic::Diagnostic;
use crate::emit::salt::{sls, volume_pieces};
use crate::emit::terraform::PLATFORM;
use crate::intent::{Intent, Noun, Verb};
use crate::lowered::{CopyOf, Filesystem, Lowered, secret_path};
use crate::node::{Attribute, Layer, Node, Reversibility, host_node};
use crate::order::{self, Before};
use crate::pillar::Host;
use crate::pins::Pins;
use crate::profile::Profile;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub use crate::compose::Key;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub version: u32,
    pub environment: String,
    pub components: Vec<String>,
    pub intent: Option<Intent>,
    /// Digest of the pillar files that the plan was made from: they must still be so when it is applied.
    pub base: String,
    /// Pillar files after the edit; only those that change.
    pub pillar: BTreeMap<String, String>,
    /// The release that the steps expect to be served.
    pub release: String,
    /// Whether the engines were asked. A plan made without them is a preview only.
    pub observed: bool,
    /// What was observed where, so that it can be told whether it moved before this is applied.
    #[serde(default)]
    pub pins: Pins,
    pub changes: Vec<Change>,
    pub steps: Vec<Step>,
}

impl Plan {
    pub fn count(&self, action: Action) -> usize {
        self.changes
            .iter()
            .filter(|change| change.action == action)
            .count()
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
        paths: Vec<String>,
    },
    /// Salt has Terraform bring a workspace to its digest.
    Workspace {
        minion: String,
        sls: String,
        digest: String,
    },
    /// Secret values go to the secrets engine; items without a given value are made if they are not there.
    Secret {
        path: String,
        items: Vec<SecretWork>,
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
        path: String,
    },
    /// Salt removes directories of ephemeral volumes, with their data.
    RemoveVolumes {
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
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecretWork {
    pub item: String,
    /// The person gave a value with this command.
    pub given: bool,
    pub generate: Option<u32>,
    /// The value is that of another component's secret, in the same environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
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
            Self::Secret { .. } => "secret",
            Self::Verify { .. } => "healthy",
            Self::RemoveWorkspace { .. } => "terraform",
            Self::RemoveSecret { .. } => "secret",
            Self::RemoveVolumes { .. } => "volume",
            Self::VerifyHost { .. } => "host",
            Self::VerifyGone { .. } => "gone",
        }
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
    /// Secret options of the intent's component that the person gave a value for.
    pub given: &'a BTreeSet<String>,
    /// The hosts of the pillar before and after the intent.
    pub hosts: (&'a BTreeMap<String, Host>, &'a BTreeMap<String, Host>),
    pub base: String,
    pub pillar: BTreeMap<String, String>,
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
                    "{} needs the mesh, and no host can give a task a network of its own",
                    component.component
                ))
                .at(&at.file, at.position)
                .hint("Run Nomad as root with the CNI plugins (apt install containernetworking-plugins); `eos doctor` says what is missing"),
            );
        }
        for volume in &component.volumes {
            if volume.filesystem.value != Filesystem::Directory {
                let (name, filesystem) = (&volume.name, volume.filesystem.value.word());
                found.push(
                    Diagnostic::new(format!(
                        "Volume {name} is to be {filesystem} on LVM, which the formula does not make yet"
                    ))
                    .at(&at.file, at.position)
                    .hint(format!(
                        "Take volume_group and devices from host {}: it then gets a directory",
                        volume.host.value
                    )),
                );
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
    let wanted = input.compilation.workspaces.keys().chain(input.applied.keys());
    let mut keys: BTreeSet<&Key> = wanted.filter(|(of, _)| of == environment).collect();
    if let Some(components) = input.components {
        let scope = scope(environment, components, input.compilation, input.applied);
        let platform = (environment.to_owned(), PLATFORM.to_owned());
        let empties = !scope.is_empty() && !input.compilation.workspaces.contains_key(&platform);
        let needs_platform = scope
            .iter()
            .any(|name| input.compilation.component(environment, name).is_some());
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
    let mut steps = match changes.is_empty() {
        true => Vec::new(),
        false => steps(&input, &touched, &changes),
    };
    let hosts = host_changes(&input);
    if !hosts.is_empty() {
        steps.extend(host_steps(&input, steps.is_empty()));
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
        version: 1,
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
    }
}

/// What an intent changes about a host.
fn host_changes(input: &PlanInput<'_>) -> Vec<Change> {
    let Some(intent) = input.intent.as_ref().filter(|intent| intent.noun == Noun::Host) else {
        return Vec::new();
    };
    let (before, after) = (&input.hosts.0, &input.hosts.1);
    let before = before.get(&intent.component).map(host_node);
    let after = after.get(&intent.component).map(host_node);
    match (before, after) {
        (None, Some(node)) => vec![change(Action::Create, &node, None)],
        (Some(node), None) => vec![change(Action::Delete, &node, None)],
        (Some(before), Some(node)) if !same_values(&before, &node) => {
            vec![change(Action::Change, &node, Some(&before))]
        }
        _ => Vec::new(),
    }
}

fn host_steps(input: &PlanInput<'_>, deliver: bool) -> Vec<Step> {
    let Some(intent) = &input.intent else {
        return Vec::new();
    };
    let step = |id: &str, work| Step {
        id: id.to_owned(),
        environment: input.environment.to_owned(),
        component: intent.component.clone(),
        work,
    };
    let mut steps = Vec::new();
    if deliver {
        steps.push(step("1-deliver", Work::Deliver));
    }
    if let Some(host) = input.hosts.1.get(&intent.component) {
        steps.push(step(
            "host",
            Work::VerifyHost {
                minion: host.name.clone(),
                client: host.has_role("client"),
            },
        ));
    }
    steps
}

/// Whether the engines say that the workspace and its job are what the pillar wants.
fn in_step(input: &PlanInput<'_>, key: &Key) -> bool {
    let (Some(observed), Some(workspace)) = (input.observed, input.compilation.workspace(&key.0, &key.1))
    else {
        return true;
    };
    let name = format!("{}/{}", key.0, key.1);
    let workspace_in_step = observed
        .workspaces
        .get(&name)
        .is_some_and(|digest| digest.as_deref() == Some(&workspace.digest));
    let job_in_step = key.1 == PLATFORM
        || observed
            .jobs
            .get(key)
            .is_some_and(|digest| digest.as_deref() == Some(&workspace.job_digest));
    workspace_in_step && job_in_step
}

fn component_changes(input: &PlanInput<'_>, key: &Key) -> Vec<Change> {
    let nothing = Vec::new();
    let wanted = input.compilation.nodes(key);
    // What is there of an unfinished component is not known: if it is wanted, all of it is made.
    let known = input
        .applied
        .get(key)
        .filter(|_| wanted.is_empty() || !input.unfinished.contains(key));
    let applied = known.unwrap_or(&nothing);
    let mut changes: Vec<_> = wanted
        .iter()
        .filter_map(
            |node| match applied.iter().find(|before| before.address == node.address) {
                None => Some(change(Action::Create, node, None)),
                Some(before) if !same_values(before, node) => {
                    Some(change(Action::Change, node, Some(before)))
                }
                Some(_) => None,
            },
        )
        .collect();
    changes.extend(
        applied
            .iter()
            .filter(|node| !wanted.iter().any(|now| now.address == node.address))
            .map(|node| change(Action::Delete, node, None)),
    );
    add_given_secrets(input, key, &wanted, &mut changes);
    if changes.is_empty() && !wanted.is_empty() && !in_step(input, key) {
        changes.extend(
            wanted
                .iter()
                .filter(|node| node.address.starts_with("job/") || key.1 == PLATFORM)
                .map(|node| Change {
                    note: Some("the engines are not in step with the pillar".to_owned()),
                    ..change(Action::Change, node, Some(node))
                }),
        );
    }
    for change in &mut changes {
        note(change, input);
    }
    changes
}

/// A value given for a secret that was there before replaces it. Vault keeps the earlier version, Nomad's variables do
/// not. Those who have a copy of it get the new one.
fn add_given_secrets(input: &PlanInput<'_>, key: &Key, wanted: &[Node], changes: &mut Vec<Change>) {
    let Some(node) = wanted.iter().find(|node| node.layer == Layer::Secret) else {
        return;
    };
    let items = secret_items(input, key);
    let missing = items.iter().any(|item| missing_item(input, key, &item.item));
    let replaced = items.iter().any(|item| item.given || copies_given(input, item));
    let reversibility = match input.compilation.profile {
        Profile::Solo => Reversibility::Final,
        Profile::Full => Reversibility::Reversible,
    };
    let already = changes.iter_mut().find(|change| change.address == node.address);
    match already {
        Some(change) if change.action == Action::Change && replaced => {
            change.reversibility = reversibility;
        }
        Some(_) => {}
        None if replaced => {
            let mut replaced = change(Action::Change, node, Some(node));
            replaced.reversibility = reversibility;
            changes.insert(0, replaced);
        }
        None if missing => changes.insert(0, change(Action::Change, node, Some(node))),
        None => {}
    }
}

fn copies_given(input: &PlanInput<'_>, item: &SecretWork) -> bool {
    let named = input.intent.as_ref().map(|intent| intent.component.as_str());
    let copied = |copy: &CopyOf| Some(copy.component.as_str()) == named && input.given.contains(&copy.item);
    item.copy_of.as_ref().is_some_and(copied)
}

fn missing_item(input: &PlanInput<'_>, key: &Key, item: &str) -> bool {
    let Some(observed) = input.observed else {
        return false;
    };
    let Some(component) = input.compilation.component(&key.0, &key.1) else {
        return false;
    };
    let place = (key.0.clone(), component.secret_path());
    observed
        .secrets
        .get(&place)
        .is_none_or(|items| !items.contains(item))
}

fn note(change: &mut Change, input: &PlanInput<'_>) {
    let text = match (change.layer, change.action) {
        (Layer::Secret, Action::Delete) => {
            change.reversibility = Reversibility::Final;
            "its values cannot be had back"
        }
        (Layer::Secret, Action::Create) => {
            let items = secret_items(input, &(change.environment.clone(), change.component.clone()));
            let generated = items.iter().any(|item| !item.given && item.copy_of.is_none());
            match (generated, items.iter().any(|item| item.given)) {
                (true, true) => "what was not given is generated",
                (true, false) => "generated",
                (false, true) => "given",
                (false, false) => "copied from what it uses",
            }
        }
        (Layer::Secret, Action::Change) if change.reversibility == Reversibility::Final => {
            "the old value cannot be had back"
        }
        (Layer::Host, Action::Delete) => {
            let key = (change.environment.clone(), change.component.clone());
            let mut doomed = doomed_volumes(input, &key).into_iter();
            match doomed.any(|volume| volume.address == change.address) {
                true => {
                    change.reversibility = Reversibility::Final;
                    let environment = &change.environment;
                    &format!("the directory and its data are deleted: storage of {environment} is ephemeral")
                }
                false => "the directory and its data are kept",
            }
        }
        _ => return,
    };
    change.note = Some(text.to_owned());
}

/// A directory that goes with its component.
struct Doomed<'a> {
    address: &'a str,
    /// The name that its host knows it under: `environment/component/need`.
    name: String,
    host: &'a str,
    path: &'a str,
}

/// The directories that go with a component. Nothing but a person's word that it shall go takes data along: not an update
/// that needs a volume no longer, and not an edit of the pillar by hand.
fn doomed_volumes<'a>(input: &PlanInput<'a>, key: &Key) -> Vec<Doomed<'a>> {
    let deleted = input.compilation.component(&key.0, &key.1).is_none() && deleted_by_intent(input, key);
    let nodes = input.applied.get(key).filter(|_| deleted);
    let ephemeral = nodes
        .into_iter()
        .flatten()
        .filter(|node| node.is_ephemeral_directory());
    let doomed = ephemeral.filter_map(|node| {
        Some(Doomed {
            address: &node.address,
            name: format!("{}/{}/{}", key.0, key.1, node.volume_need()?),
            host: node.text("host")?,
            path: node.text("path")?,
        })
    });
    doomed.collect()
}

/// Whether the intent deletes the component, or one that has it for its own use.
fn deleted_by_intent(input: &PlanInput<'_>, key: &Key) -> bool {
    let deletes = |intent: &&Intent| intent.verb == Verb::Delete && intent.environment == key.0;
    let Some(intent) = input.intent.as_ref().filter(deletes) else {
        return false;
    };
    match intent.noun {
        Noun::Component => {}
        Noun::Host => return false,
        Noun::Environment => return true,
    }
    let mut passed = BTreeSet::new();
    let mut name = Some(&key.1);
    while let Some(current) = name.filter(|current| passed.insert(*current)) {
        if *current == intent.component {
            return true;
        }
        let nodes = input.applied.get(&(key.0.clone(), current.clone()));
        name = nodes.into_iter().flatten().find_map(|node| node.owner.as_ref());
    }
    false
}

fn same_values(a: &Node, b: &Node) -> bool {
    a.attributes.len() == b.attributes.len()
        && a.attributes.iter().all(|(name, attribute)| {
            b.attributes
                .get(name)
                .is_some_and(|other| other.value == attribute.value)
        })
}

fn change(action: Action, node: &Node, before: Option<&Node>) -> Change {
    let nothing = BTreeMap::new();
    let (old, new): (&BTreeMap<String, Attribute>, _) = match action {
        Action::Create => (&nothing, &node.attributes),
        Action::Delete => (&node.attributes, &nothing),
        Action::Change => (
            before.map_or(&nothing, |before| &before.attributes),
            &node.attributes,
        ),
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let attributes = names
        .into_iter()
        .map(|name| AttributeChange {
            name: name.clone(),
            before: old.get(name).map(|attribute| attribute.value.clone()),
            after: new.get(name).map(|attribute| attribute.value.clone()),
            from: new.get(name).map(|attribute| attribute.from.clone()),
        })
        .filter(|change| change.before != change.after)
        .collect();
    Change {
        address: node.address.clone(),
        environment: node.environment.clone(),
        component: node.component.clone(),
        layer: node.layer,
        action,
        summary: node.summary.clone(),
        reversibility: node.reversibility,
        note: None,
        attributes,
    }
}

fn secret_items(input: &PlanInput<'_>, key: &Key) -> Vec<SecretWork> {
    let named = input
        .intent
        .as_ref()
        .is_none_or(|intent| intent.component == key.1);
    input
        .compilation
        .component(&key.0, &key.1)
        .map_or_else(Vec::new, |component| {
            component
                .secrets
                .iter()
                .map(|secret| SecretWork {
                    item: secret.item.clone(),
                    given: named && input.given.contains(&secret.item),
                    generate: secret.generate,
                    copy_of: secret.copy_of.clone(),
                })
                .collect()
        })
}

/// Namespace first, then secrets and volumes, then jobs, each verified; what cannot be taken back comes last.
fn steps(input: &PlanInput<'_>, touched: &[Key], changes: &[Change]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |key: &Key, work: Work| {
        let id = format!("{}-{}", steps.len() + 1, work.title());
        steps.push(Step {
            id,
            environment: key.0.clone(),
            component: key.1.clone(),
            work,
        });
    };
    let Some(control) = input.compilation.control.clone() else {
        return Vec::new();
    };
    let deliver_for = (input.environment.to_owned(), PLATFORM.to_owned());
    add(&deliver_for, Work::Deliver);
    let (wanted, gone): (Vec<&Key>, Vec<&Key>) = touched
        .iter()
        .partition(|key| input.compilation.workspace(&key.0, &key.1).is_some());
    let (platform, components): (Vec<&Key>, Vec<&Key>) =
        wanted.into_iter().partition(|key| key.1 == PLATFORM);
    let workspace = |key: &Key| {
        let wanted = input.compilation.workspace(&key.0, &key.1)?;
        Some(Work::Workspace {
            minion: control.clone(),
            sls: sls(&key.1, &key.0, "workspace"),
            digest: wanted.digest.clone(),
        })
    };
    for key in platform {
        workspace(key).into_iter().for_each(|work| add(key, work));
    }
    let mut components: Vec<&Lowered> = components
        .into_iter()
        .filter_map(|key| input.compilation.component(&key.0, &key.1))
        .collect();
    components.sort_by_key(|component| (component.wave, &component.component));
    for component in components {
        let key = &(component.environment.clone(), component.component.clone());
        let touches = |layer: Layer| {
            changes
                .iter()
                .any(|c| c.component == component.component && c.layer == layer && c.action != Action::Delete)
        };
        if touches(Layer::Secret) {
            add(
                key,
                Work::Secret {
                    path: component.secret_path(),
                    items: secret_items(input, key),
                },
            );
        }
        if touches(Layer::Host) {
            for (minion, (piece, volumes)) in volume_pieces(component) {
                let paths = volumes.into_iter().map(|volume| volume.path.value.clone());
                add(
                    key,
                    Work::Volumes {
                        minion: minion.to_owned(),
                        sls: sls(&key.1, &key.0, &piece),
                        paths: paths.collect(),
                    },
                );
            }
        }
        workspace(key).into_iter().for_each(|work| add(key, work));
        let digest = input
            .compilation
            .workspace(&key.0, &key.1)
            .map(|w| w.job_digest.clone())
            .unwrap_or_default();
        add(
            key,
            Work::Verify {
                digest,
                groups: expected(component),
            },
        );
    }
    // The namespace goes after all that lies in it, its secrets included.
    let (empty_platform, gone): (Vec<&Key>, Vec<&Key>) = gone.into_iter().partition(|key| key.1 == PLATFORM);
    let gone = dependents_first(input, gone);
    for key in &gone {
        let services = applied_names(input, key, Layer::Service);
        add(
            key,
            Work::RemoveWorkspace {
                minion: control.clone(),
            },
        );
        add(key, Work::VerifyGone { services });
    }
    for key in &gone {
        if input
            .applied
            .get(*key)
            .is_some_and(|nodes| nodes.iter().any(|node| node.layer == Layer::Secret))
        {
            add(
                key,
                Work::RemoveSecret {
                    path: secret_path(input.compilation.profile, &key.0, &key.1),
                },
            );
        }
    }
    for key in empty_platform {
        add(
            key,
            Work::RemoveWorkspace {
                minion: control.clone(),
            },
        );
    }
    for key in &gone {
        let mut by_host: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        for Doomed { name, host, path, .. } in doomed_volumes(input, key) {
            by_host.entry(host).or_default().insert(name, path.to_owned());
        }
        for (host, volumes) in by_host {
            let minion = host.to_owned();
            add(key, Work::RemoveVolumes { minion, volumes });
        }
    }
    steps
}

/// What is to go, in the reverse of the order in which it came.
fn dependents_first<'k>(input: &PlanInput<'_>, gone: Vec<&'k Key>) -> Vec<&'k Key> {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for key in &gone {
        for node in input.applied.get(*key).into_iter().flatten() {
            owners.insert(&node.address, &key.1);
        }
    }
    let before: Before<'_> = gone
        .iter()
        .map(|key| {
            let after = input
                .applied
                .get(*key)
                .into_iter()
                .flatten()
                .flat_map(|node| &node.after);
            let names = after.filter_map(|address| owners.get(address.as_str()).copied());
            (key.1.as_str(), names.filter(|name| *name != key.1).collect())
        })
        .collect();
    // What was applied came in an order, so there is no cycle in it; if there were one, any order would do.
    let waves = order::waves(&before).unwrap_or_default();
    let mut gone = gone;
    gone.sort_by_key(|key| std::cmp::Reverse(waves.get(key.1.as_str()).copied().unwrap_or(0)));
    gone
}

fn applied_names(input: &PlanInput<'_>, key: &Key, layer: Layer) -> Vec<String> {
    let nodes = input.applied.get(key).map_or(&[][..], Vec::as_slice);
    let of_layer = nodes.iter().filter(|node| node.layer == layer);
    of_layer
        .filter_map(|node| node.address.split_once('/').map(|(_, name)| name.to_owned()))
        .collect()
}

fn expected(component: &Lowered) -> Vec<Expected> {
    component
        .groups
        .iter()
        .map(|group| Expected {
            group: group.name.clone(),
            service: (!group.ports.is_empty()).then(|| group.service.clone()),
            count: group.count.value,
            check: group.check.is_some(),
        })
        .collect()
}
