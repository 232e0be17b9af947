//! Nodes: one graph over all layers. Each has one writer, and knows the source of every attribute.

use crate::emit::terraform::{PLATFORM, Workspace};
use crate::lowered::{Driver, Lowered};
use crate::option::human_size;
use crate::source::{Source, Sourced};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// `kind/name`, such as `job/grafana`; unique within an environment.
    pub address: String,
    pub environment: String,
    /// The component it belongs to, or `platform`.
    pub component: String,
    pub layer: Layer,
    pub writer: Writer,
    pub reversibility: Reversibility,
    /// One line for a person.
    pub summary: String,
    pub attributes: BTreeMap<String, Attribute>,
    /// Addresses that must be done before.
    pub after: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    pub value: Value,
    pub from: Source,
}

/// Where a person would look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    Secret,
    Host,
    Cloud,
    Job,
    Service,
}

impl Layer {
    pub const ALL: [Self; 5] = [Self::Secret, Self::Host, Self::Cloud, Self::Job, Self::Service];

    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Host => "host",
            Self::Cloud => "cloud",
            Self::Job => "job",
            Self::Service => "service",
        }
    }
}

/// Who changes it. Nomad, Consul and Vault are where it is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Writer {
    Salt,
    Terraform,
    Secret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reversibility {
    /// A compensation is known.
    Reversible,
    /// From a snapshot taken first.
    Restorable,
    /// A point of no return.
    Final,
}

/// The nodes of what an environment's components share.
pub fn platform_nodes(workspace: &Workspace) -> Vec<Node> {
    let environment = &workspace.environment;
    let why = || {
        Source::pass(
            "environment",
            "an environment is a Nomad namespace of the same name",
        )
    };
    vec![Node {
        address: namespace_address(environment),
        environment: environment.clone(),
        component: PLATFORM.to_owned(),
        layer: Layer::Job,
        writer: Writer::Terraform,
        reversibility: Reversibility::Reversible,
        summary: format!("namespace {environment}"),
        attributes: attributes([("name", environment.as_str().into(), why())]),
        after: Vec::new(),
    }]
}

fn namespace_address(environment: &str) -> String {
    format!("namespace/{environment}")
}

/// The nodes of one component.
pub fn component_nodes(lowered: &Lowered) -> Vec<Node> {
    let mut nodes = Vec::new();
    let node = |address: String, layer, writer, summary: String, attributes, after| Node {
        address,
        environment: lowered.environment.clone(),
        component: lowered.component.clone(),
        layer,
        writer,
        reversibility: Reversibility::Reversible,
        summary,
        attributes,
        after,
    };
    let namespace = vec![namespace_address(&lowered.environment)];
    let mut job_after = namespace.clone();
    if !lowered.secrets.is_empty() {
        let address = format!("secret/{}", lowered.component);
        let items: Vec<&str> = lowered
            .secrets
            .iter()
            .map(|secret| secret.item.as_str())
            .collect();
        let recipe = Source::pass("secrets", format!("recipe {} names them", lowered.recipe));
        nodes.push(node(
            address.clone(),
            Layer::Secret,
            Writer::Secret,
            format!("secret/{}  {}", lowered.workspace(), items.join(", ")),
            attributes([("items", items.into(), recipe)]),
            namespace.clone(),
        ));
        job_after.push(address);
    }
    for volume in &lowered.volumes {
        let address = format!("volume/{}", volume.name);
        let owner = || Source::pass("storage", format!("recipe {} names its owner", lowered.recipe));
        let (user, group) = (&volume.user, &volume.group);
        nodes.push(node(
            address.clone(),
            Layer::Host,
            Writer::Salt,
            format!(
                "{}  volume {}  directory {} (size {} not enforced)",
                volume.host.value,
                volume.name,
                volume.path.value,
                human_size(volume.size.value)
            ),
            attributes([
                (
                    "host",
                    volume.host.value.as_str().into(),
                    volume.host.from.clone(),
                ),
                (
                    "path",
                    volume.path.value.as_str().into(),
                    volume.path.from.clone(),
                ),
                ("size", volume.size.value.into(), volume.size.from.clone()),
                (
                    "filesystem",
                    "directory".into(),
                    Source::pass("storage", "the host has no volume group"),
                ),
                ("owner", format!("{user}:{group}").into(), owner()),
                ("mode", volume.mode.as_str().into(), owner()),
            ]),
            Vec::new(),
        ));
        job_after.push(address);
    }
    nodes.push(node(
        format!("job/{}", lowered.component),
        Layer::Job,
        Writer::Terraform,
        job_summary(lowered),
        job_attributes(lowered),
        job_after,
    ));
    for group in lowered.groups.iter().filter(|group| !group.ports.is_empty()) {
        let mut list = vec![(
            "name",
            group.service.as_str().into(),
            Source::pass("environment", "named after component and environment"),
        )];
        let mut summary = group.service.clone();
        if let Some(check) = &group.check {
            summary.push_str(&format!("  check GET {}", check.value));
            list.push(("check", check.value.as_str().into(), check.from.clone()));
        }
        nodes.push(node(
            format!("service/{}", group.service),
            Layer::Service,
            Writer::Terraform,
            summary,
            attributes(list),
            vec![format!("job/{}", lowered.component)],
        ));
    }
    nodes
}

fn job_summary(lowered: &Lowered) -> String {
    let groups: Vec<_> = lowered
        .groups
        .iter()
        .map(|group| {
            let run = match &group.driver {
                Driver::Docker { image } => format!("image {}", image.value),
                Driver::RawExec { command, .. } => format!("program {}", command.value),
            };
            let ports: String = group
                .ports
                .iter()
                .filter_map(|port| port.fixed.as_ref())
                .map(|port| format!("port {}, ", port.value))
                .collect();
            let memory = human_size(u64::from(group.memory.value) << 20);
            format!(
                "{} x ({} MHz, {memory}), {ports}{run}",
                group.count.value, group.cpu.value
            )
        })
        .collect();
    format!("{}  {}", lowered.component, groups.join("; "))
}

fn job_attributes(lowered: &Lowered) -> BTreeMap<String, Attribute> {
    let mut list: Vec<(String, Value, Source)> = Vec::new();
    let mut add = |name: String, value: Value, from: &Source| list.push((name, value, from.clone()));
    add(
        "version".into(),
        lowered.version.as_str().into(),
        &Source::pass("expand", format!("version of recipe {}", lowered.recipe)),
    );
    add(
        "datacenter".into(),
        lowered.datacenter.value.as_str().into(),
        &lowered.datacenter.from,
    );
    for group in &lowered.groups {
        let name = |attribute: &str| match lowered.groups.len() {
            1 => format!("group.{attribute}"),
            _ => format!("group.{}.{attribute}", group.name),
        };
        for (attribute, figure) in [
            ("count", &group.count),
            ("cpu", &group.cpu),
            ("memory", &group.memory),
        ] {
            add(name(attribute), figure.value.into(), &figure.from);
        }
        let mut add_text = |attribute: &str, text: &Sourced<String>| {
            add(name(attribute), text.value.as_str().into(), &text.from)
        };
        match &group.driver {
            Driver::Docker { image } => add_text("image", image),
            Driver::RawExec { command, args } => {
                add_text("command", command);
                for (index, arg) in args.iter().enumerate() {
                    add_text(&format!("arg.{index}"), arg);
                }
            }
        }
        for (variable, value) in &group.env {
            add_text(&format!("env.{variable}"), value);
        }
        for port in &group.ports {
            if let Some(fixed) = &port.fixed {
                add(
                    name(&format!("port.{}", port.label)),
                    fixed.value.into(),
                    &fixed.from,
                );
            }
            if let Some(to) = &port.to {
                add(
                    name(&format!("port.{}.to", port.label)),
                    to.value.into(),
                    &to.from,
                );
            }
        }
        let recipe = Source::pass(
            "expand",
            format!("service {} of recipe {}", group.name, lowered.recipe),
        );
        for secret in &group.secrets {
            add(
                name(&format!("secret.{}", secret.variable)),
                secret.item.as_str().into(),
                &recipe,
            );
        }
        for mount in &group.mounts {
            add(
                name(&format!("mount.{}", mount.volume)),
                mount.path.as_str().into(),
                &recipe,
            );
        }
    }
    list.into_iter()
        .map(|(name, value, from)| (name, Attribute { value, from }))
        .collect()
}

fn attributes<'a>(list: impl IntoIterator<Item = (&'a str, Value, Source)>) -> BTreeMap<String, Attribute> {
    list.into_iter()
        .map(|(name, value, from)| (name.to_owned(), Attribute { value, from }))
        .collect()
}
