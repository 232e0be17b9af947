//! The whole compiler in one function: pillar and catalog in, components, nodes and artifacts out.

use crate::catalog::Catalog;
use crate::compose::{Key, compose};
use crate::diagnostic::Diagnostic;
use crate::emit::{self, Artifacts, salt, terraform, terraform::Workspace};
use crate::lowered::Lowered;
use crate::node::{Node, component_nodes, ends, platform_nodes};
use crate::passes::{self, Ground};
use crate::pillar::Pillar;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Compilation {
    pub components: BTreeMap<Key, Lowered>,
    /// Of each component, and `platform` of each environment.
    pub workspaces: BTreeMap<Key, Workspace>,
    /// Of each component, and `platform` of each environment.
    pub nodes: BTreeMap<Key, Vec<Node>>,
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

    pub fn of_environment<'c>(&'c self, environment: &'c str) -> impl Iterator<Item = &'c Lowered> {
        self.components
            .values()
            .filter(move |component| component.environment == environment)
    }
}

/// All components with every value decided, by pass after pass.
pub fn lower(pillar: &Pillar, catalog: &Catalog) -> (BTreeMap<Key, Lowered>, Vec<Diagnostic>) {
    let (composed, mut found) = compose(pillar, catalog);
    let ground = Ground::new(pillar);
    let mut components = BTreeMap::new();
    for (key, expanded) in &composed.components {
        let mut used = expanded.uses.values().map(|name| (key.0.clone(), name.clone()));
        // What uses a component that is not there was found wrong already, and has nothing to be made from.
        if !used.all(|used| composed.components.contains_key(&used)) {
            continue;
        }
        let wave = composed.waves.get(key).copied().unwrap_or(0);
        match passes::lower(expanded, &ground, &composed.before[key], wave) {
            Ok(lowered) => {
                components.insert(key.clone(), lowered);
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    found.extend(passes::check_ports(components.values(), &ground));
    (components, found)
}

pub fn compile(pillar: &Pillar, catalog: &Catalog) -> Result<Compilation, Vec<Diagnostic>> {
    let (components, mut found) = lower(pillar, catalog);
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
    let mut nodes = BTreeMap::new();
    let environments: BTreeSet<&String> = components.keys().map(|(environment, _)| environment).collect();
    for environment in environments {
        let workspace = terraform::platform(environment, &mut artifacts);
        let key = (environment.clone(), workspace.component.clone());
        nodes.insert(key.clone(), platform_nodes(&workspace));
        workspaces.insert(key, workspace);
    }
    for (key, component) in &components {
        workspaces.insert(key.clone(), terraform::component(component, &mut artifacts));
        let before = component.before.iter();
        let before = before.filter_map(|name| components.get(&(key.0.clone(), name.clone())));
        nodes.insert(
            key.clone(),
            component_nodes(component, before.flat_map(ends).collect()),
        );
    }
    salt::emit(pillar, &components, &workspaces, &mut artifacts);
    for ((environment, component), nodes) in &nodes {
        let path = format!("graph/{environment}/{component}.json");
        artifacts.insert(path, emit::json_lines("", nodes));
    }
    let release = emit::release_digest(&artifacts);
    Ok(Compilation {
        components,
        workspaces,
        nodes,
        artifacts,
        control,
        release,
    })
}
