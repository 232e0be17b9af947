//! The whole compiler in one function: pillar and catalog in, components, nodes and artifacts out.

use crate::address::NodeKind;
use crate::backend::Setup;
use crate::canonical::canonical_digest;
use crate::catalog::Catalog;
use crate::compose::{Key, compose};
use crate::diagnostic::Diagnostic;
use crate::emit::{self, Artifacts, graph, salt, terraform, terraform::Workspace};
use crate::kinds::{KINDS, host, job, namespace};
use crate::lowered::Lowered;
use crate::node::{Node, component_nodes};
use crate::passes::{self, Ground};
use crate::pillar::{Host, Pillar};
use crate::profile::Profile;
use crate::recipe::Risk;
use crate::scope::Scope;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Compilation {
    pub profile: Profile,
    pub components: BTreeMap<Key, Lowered>,
    /// The hosts of the estate, by name.
    pub hosts: BTreeMap<String, Host>,
    /// Of each component, and `platform` of each environment.
    pub workspaces: BTreeMap<Key, Workspace>,
    pub artifacts: Artifacts,
    /// The minion that runs Terraform.
    pub control: Option<String>,
    /// What names the release made of these artifacts.
    pub release: String,
}

impl Compilation {
    pub fn component(&self, environment: &str, name: &str) -> Option<&Lowered> {
        self.components.get(&(environment.to_owned(), name.to_owned()))
    }

    pub fn workspace(&self, environment: &str, component: &str) -> Option<&Workspace> {
        self.workspaces
            .get(&(environment.to_owned(), component.to_owned()))
    }

    /// The one digest of a component, of `platform` or of a host that is recorded once it is applied. Of a component it is
    /// that of its workspace, and that of what hosts have of it beside.
    pub fn digest(&self, key: &Key) -> Option<String> {
        if Scope::of(key) == Scope::Estate {
            return self.hosts.get(&key.1).map(host::digest);
        }
        let workspace = self.workspaces.get(key).map(|workspace| workspace.digest.clone());
        let hosts = self.components.get(key).and_then(host_digest);
        match (workspace, hosts) {
            (Some(workspace), Some(hosts)) => Some(format!("{workspace}{BESIDE}{hosts}")),
            (workspace, hosts) => workspace.or(hosts),
        }
    }

    /// The nodes of a component, of `platform` or of a host. Made when they are asked for: those of a large estate need
    /// more room than all that is compiled from them.
    pub fn nodes(&self, key: &Key) -> Vec<Node> {
        if Scope::of(key) == Scope::Estate {
            return self.hosts.get(&key.1).map(host::node).into_iter().collect();
        }
        match (self.components.get(key), self.workspaces.get(key)) {
            (Some(component), _) => nodes_of(component, &self.components),
            (None, Some(platform)) => namespace::nodes(platform),
            (None, None) => Vec::new(),
        }
    }

    /// The nodes of all components and of each `platform`.
    pub fn all_nodes(&self) -> BTreeMap<Key, Vec<Node>> {
        let keys: BTreeSet<&Key> = self.workspaces.keys().chain(self.components.keys()).collect();
        keys.into_iter()
            .map(|key| (key.clone(), self.nodes(key)))
            .collect()
    }

    /// The components that cannot be without this one: they use it, though it is not their own and not optional, or it serves their host
    /// names.
    pub fn need(&self, environment: &str, name: &str, is_proxy: bool) -> Vec<&str> {
        let served = self.component(environment, name).filter(|_| is_proxy);
        let mut names = Vec::new();
        for one in self.components.values() {
            let mut uses = one.uses.iter();
            let uses = uses.any(|(of, used)| used == name && !one.optional.contains(of));
            let is_served = served.is_some_and(|proxy| proxy.before.contains(&one.component));
            if one.environment == environment && one.component != name && (uses || is_served) {
                names.push(one.component.as_str());
            }
        }
        names
    }

    pub fn of_environment<'c>(&'c self, environment: &'c str) -> impl Iterator<Item = &'c Lowered> {
        self.components
            .values()
            .filter(move |component| component.environment == environment)
    }
}

/// Between the digest of a workspace and that of what hosts have beside it.
const BESIDE: char = '+';

/// The digest of the workspace in one that was recorded of a component with a workspace.
pub fn workspace_digest(recorded: &str) -> &str {
    recorded.split(BESIDE).next().unwrap_or(recorded)
}

/// One digest of all that hosts have of a component and its workspace does not cover.
fn host_digest(component: &Lowered) -> Option<String> {
    let mut digests: Vec<String> = KINDS.iter().flat_map(|kind| kind.recorded(component)).collect();
    match digests.len() {
        0 | 1 => digests.pop(),
        _ => Some(canonical_digest(&digests.into())),
    }
}

fn nodes_of(component: &Lowered, components: &BTreeMap<Key, Lowered>) -> Vec<Node> {
    let before = component.before.iter();
    let before = before.filter_map(|name| components.get(&(component.environment.clone(), name.clone())));
    let mut nodes = component_nodes(component, before.flat_map(job::ends).collect());
    for node in nodes
        .iter_mut()
        .filter(|node| node.address.kind == NodeKind::Secret)
    {
        node.risk = secret_risk(component, components);
    }
    nodes
}

/// The risk of a component's secrets: the highest of its own and of those whose secrets it has copies of.
fn secret_risk(component: &Lowered, components: &BTreeMap<Key, Lowered>) -> Risk {
    let sources = component.secrets.iter().filter_map(|secret| {
        let of = &secret.copy_of.as_ref()?.component;
        components.get(&(component.environment.clone(), of.clone()))
    });
    let risks = sources.map(|source| secret_risk(source, components));
    risks.fold(component.risk, Risk::max)
}

/// All components with every value decided, by pass after pass.
pub fn lower(
    pillar: &Pillar,
    catalog: &Catalog,
    profile: Profile,
) -> (BTreeMap<Key, Lowered>, Vec<Diagnostic>) {
    let (mut composed, mut found) = compose(pillar, catalog);
    passes::tell_where_to_listen(&mut composed, profile);
    let ground = Ground::new(pillar, profile);
    let mut lowered = Vec::with_capacity(composed.components.len());
    for (key, expanded) in composed.components {
        let mut used = expanded.uses.values().map(|name| (key.0.clone(), name.clone()));
        // What uses a component that is not there was found wrong already, and has nothing to be made from.
        if !used.all(|used| composed.before.contains_key(&used)) {
            continue;
        }
        let order = |name: &str| {
            let key = (key.0.clone(), name.to_owned());
            let wave = composed.waves.get(&key).copied().unwrap_or(0);
            (composed.before.get(&key).cloned().unwrap_or_default(), wave)
        };
        match passes::lower(&expanded, &ground, order) {
            Ok(jobs) => lowered.extend(jobs.into_iter().map(|component| (component.key(), component))),
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    // A map that is made of a list in one go is packed; one that grows in order is half empty.
    let mut components: BTreeMap<Key, Lowered> = lowered.into_iter().collect();
    for (key, volume) in &pillar.volumes {
        match passes::standing(volume, &ground) {
            // What another has for its own use is not in the pillar, and has a name all the same.
            Ok(_) if components.contains_key(key) => {
                let words = format!("{} is the name of a component, too", key.1);
                let hint = "Choose another name for the volume";
                found.push(
                    Diagnostic::new(words)
                        .at(&volume.at.file, volume.at.position)
                        .hint(hint),
                );
            }
            Ok(lowered) => {
                components.insert(key.clone(), lowered);
            }
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    found.extend(passes::check_volumes(components.values()));
    if profile == Profile::Full {
        found.extend(passes::weave(&mut components));
    }
    passes::monitoring::watch(&mut components);
    found.extend(passes::check_ports(components.values(), &ground));
    found.extend(passes::check_names(components.values()));
    (components, found)
}

/// For a profile with all that it presets, or for a setup that differs in something.
pub fn compile(
    pillar: &Pillar,
    catalog: &Catalog,
    setup: impl Into<Setup>,
) -> Result<Compilation, Vec<Diagnostic>> {
    let setup = setup.into();
    let profile = setup.profile;
    let (components, mut found) = lower(pillar, catalog, profile);
    let control = salt::control(pillar).map(str::to_owned);
    if control.is_none() && !components.is_empty() {
        found.push(
            Diagnostic::new("No host has the role control, which runs Terraform")
                .hint("Add roles: [client, control] to a host in pillar/infrastructure/common.sls"),
        );
    }
    if !found.is_empty() {
        return Err(found);
    }
    let mut artifacts = Artifacts::new();
    let mut workspaces = BTreeMap::new();
    let with_workspace = || {
        components
            .iter()
            .filter(|(_, component)| component.has_workspace())
    };
    // What all components share is Nomad's: without a job nobody needs it.
    let environments: BTreeSet<&String> = components
        .iter()
        .filter(|(_, component)| component.runs())
        .map(|((environment, _), _)| environment)
        .collect();
    for environment in environments {
        let generation = pillar.generations.get(environment).copied().unwrap_or_default();
        let workspace = terraform::platform(environment, generation, &setup, &mut artifacts);
        let key = (environment.clone(), workspace.component.clone());
        graph::emit(&key, &namespace::nodes(&workspace), &mut artifacts);
        workspaces.insert(key, workspace);
    }
    for (key, component) in with_workspace() {
        workspaces.insert(
            key.clone(),
            terraform::component(component, &setup, &mut artifacts),
        );
    }
    for (key, component) in &components {
        graph::emit(key, &nodes_of(component, &components), &mut artifacts);
    }
    salt::emit(pillar, &components, &workspaces, &mut artifacts);
    let release = emit::release_digest(&artifacts);
    Ok(Compilation {
        profile,
        components,
        hosts: pillar.hosts.clone(),
        workspaces,
        artifacts,
        control,
        release,
    })
}
