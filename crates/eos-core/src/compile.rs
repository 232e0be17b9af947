//! The whole compiler in one function: pillar and catalog in, components, nodes and artifacts out.

use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::emit::{self, Artifacts, salt, terraform, terraform::Workspace};
use crate::expand::expand;
use crate::lowered::Lowered;
use crate::node::{Node, component_nodes, platform_nodes};
use crate::passes;
use crate::pillar::Pillar;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Compilation {
    /// In order of environment, then name.
    pub components: Vec<Lowered>,
    pub workspaces: Vec<Workspace>,
    /// (environment, component or `platform`) -> its nodes.
    pub nodes: BTreeMap<(String, String), Vec<Node>>,
    pub artifacts: Artifacts,
    /// The minion that runs Terraform.
    pub control: Option<String>,
    /// What names the release made of these artifacts.
    pub release: String,
}

impl Compilation {
    pub fn component(&self, environment: &str, name: &str) -> Option<&Lowered> {
        self.components
            .iter()
            .find(|component| component.environment == environment && component.component == name)
    }

    pub fn workspace(&self, environment: &str, component: &str) -> Option<&Workspace> {
        self.workspaces
            .iter()
            .find(|workspace| workspace.environment == environment && workspace.component == component)
    }
}

pub fn compile(pillar: &Pillar, catalog: &Catalog) -> Result<Compilation, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut components = Vec::new();
    for component in pillar.components.values() {
        let lowered = catalog
            .find(&component.recipe)
            .map_err(|unknown| vec![unknown.at(&component.at.file, component.at.position)])
            .and_then(|recipe| expand(component, recipe))
            .and_then(|expanded| passes::lower(&expanded, pillar));
        match lowered {
            Ok(lowered) => components.push(lowered),
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    found.extend(passes::check_ports(&components, pillar));
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
    let environments: BTreeSet<&str> = components
        .iter()
        .map(|component| component.environment.as_str())
        .collect();
    let mut workspaces: Vec<_> = environments
        .into_iter()
        .map(|e| terraform::platform(e, &mut artifacts))
        .collect();
    let mut nodes: BTreeMap<_, _> = workspaces
        .iter()
        .map(|workspace| {
            (
                (workspace.environment.clone(), workspace.component.clone()),
                platform_nodes(workspace),
            )
        })
        .collect();
    for component in &components {
        workspaces.push(terraform::component(component, &mut artifacts));
        nodes.insert(
            (component.environment.clone(), component.component.clone()),
            component_nodes(component),
        );
    }
    salt::emit(pillar, &components, &workspaces, &mut artifacts);
    for ((environment, component), nodes) in &nodes {
        let mut text = serde_json::to_string_pretty(nodes).expect("nodes have a JSON form");
        text.push('\n');
        artifacts.insert(format!("graph/{environment}/{component}.json"), text.into_bytes());
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
