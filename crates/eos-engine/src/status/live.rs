//! The health of each node of the graph, as far as the engines know it.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::address::{Address, NodeKind};
use eos_core::graph::live::{Health, Live};
use eos_core::node::Node;

use super::{ComponentStatus, Status, in_time, look};
use crate::engines::Engines;
use crate::error::{EngineError, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::nomad::Volume;

/// What one environment has of the things that only exist or do not.
struct There {
    namespaces: BTreeSet<String>,
    volumes: Vec<Volume>,
    /// Of Nomad's nodes, by id.
    nodes: BTreeMap<String, String>,
    /// Components that have secrets; unknown where the engine does not list them.
    secrets: Option<BTreeSet<String>>,
}

/// Asks for the health of these nodes, environment by environment.
pub async fn ask(estate: &Estate, engines: &Engines, nodes: &[&Node]) -> Result<Live, Failure> {
    let environments: BTreeSet<&str> = nodes.iter().map(|node| node.environment.as_str()).collect();
    let mut live = Live::default();
    for environment in environments {
        let (status, there) = tokio::join!(
            look(estate, Some(engines), environment, None),
            in_time(Layer::Nomad, there(engines, environment)),
        );
        let status = status?;
        for node in nodes.iter().filter(|node| node.environment == environment) {
            live.set(node, health(node, &status, there.as_ref().ok()));
        }
        let silent = status.layers.iter().flat_map(|layers| layers.silent());
        live.silent
            .extend(silent.map(|trouble| format!("{}: {}", trouble.about, trouble.words)));
    }
    Ok(live)
}

async fn there(engines: &Engines, environment: &str) -> Result<There, EngineError> {
    let nomad = &engines.nomad;
    let (namespaces, volumes, nodes) =
        tokio::try_join!(nomad.namespaces(), nomad.volumes(environment), nomad.nodes())?;
    let secrets = match &engines.vault {
        Some(vault) => vault.names_below(environment).await.ok(),
        None => Some(nomad.variable_paths(environment).await?),
    };
    let of_component = |path: String| match path.strip_prefix("nomad/jobs/") {
        Some(component) => component.to_owned(),
        None => path.trim_end_matches('/').to_owned(),
    };
    Ok(There {
        namespaces: namespaces.into_iter().map(|one| one.name).collect(),
        volumes,
        nodes: nodes.into_iter().map(|node| (node.id, node.name)).collect(),
        secrets: secrets.map(|paths| paths.into_iter().map(of_component).collect()),
    })
}

type HealthOf = fn(&NomadNow<'_>) -> Option<Health>;

/// What is known of the sorts of nodes that an engine was asked about. Of any other nothing is known.
const KNOWN: [(NodeKind, HealthOf); 5] = [
    (NodeKind::Job, |asked| asked.component.map(job)),
    (NodeKind::Service, |asked| {
        asked.component.map(|component| service(component, asked.name))
    }),
    (NodeKind::Namespace, |asked| {
        Some(exists(asked.there?.namespaces.contains(asked.name)))
    }),
    (NodeKind::Volume, |asked| Some(volume(asked.name, asked.there?))),
    (NodeKind::Secret, |asked| {
        Some(exists(asked.there?.secrets.as_ref()?.contains(asked.name)))
    }),
];

/// One node, and all that was heard of it.
struct NomadNow<'a> {
    name: &'a str,
    component: Option<&'a ComponentStatus>,
    there: Option<&'a There>,
}

fn health(node: &Node, status: &Status, there: Option<&There>) -> Health {
    let component = status
        .components
        .iter()
        .find(|component| component.component == node.component);
    let Address { kind, name } = &node.address;
    let asked = NomadNow {
        name,
        component,
        there,
    };
    let known = KNOWN.iter().find(|(sort, _)| sort == kind);
    known.and_then(|(_, of)| of(&asked)).unwrap_or(Health::Unknown)
}

fn exists(there: bool) -> Health {
    match there {
        true => Health::Well,
        false => Health::Absent,
    }
}

fn job(component: &ComponentStatus) -> Health {
    match (component.desired, component.healthy) {
        (Some(0), _) => Health::Absent,
        (Some(_), Some(_)) if component.is_well() => Health::Well,
        (Some(desired), Some(healthy)) => {
            let why = component.trouble.as_ref().map(|trouble| trouble.words.as_str());
            let counts = format!("{healthy} of {desired} healthy");
            Health::Ill(
                [Some(counts.as_str()), why]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": "),
            )
        }
        _ => Health::Unknown,
    }
}

/// A service without checks is as well as its job.
fn service(component: &ComponentStatus, name: &str) -> Health {
    let checks = || {
        component
            .instances
            .iter()
            .flat_map(|one| &one.checks)
            .filter(|check| check.service == name)
    };
    match checks().find(|check| check.status != super::CheckStatus::PASSING) {
        Some(check) => Health::Ill(check.failing_words()),
        None if checks().next().is_some() => Health::Well,
        None => job(component),
    }
}

/// `data@node1` is the one of that host; of others there is only one.
fn volume(name: &str, there: &There) -> Health {
    let (name, host) = match name.split_once('@') {
        Some((name, host)) => (name, Some(host)),
        None => (name, None),
    };
    let is_it = |volume: &&Volume| {
        let node = there.nodes.get(&volume.node_id).map(String::as_str);
        volume.name == name && (host.is_none() || node == host)
    };
    match there.volumes.iter().find(is_it) {
        None => Health::Absent,
        Some(volume) if volume.state == "ready" => Health::Well,
        Some(volume) => Health::Ill(format!("its registration is {}", volume.state)),
    }
}
