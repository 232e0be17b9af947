//! Nodes: one graph over all layers. Each has one writer, and knows the source of every attribute.

use crate::address::{Address, NodeKind};
use crate::kinds::{KINDS, Phase, namespace};
use crate::lowered::{Durability, Lowered, instance_name};
use crate::pillar::STANDING_NEED;
use crate::recipe::Risk;
use crate::source::{Overruled, Source, Sourced};
use crate::timing::Span;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique within an environment.
    pub address: Address,
    pub environment: String,
    /// The component it belongs to, or `platform`.
    pub component: String,
    /// The component that has that one for its own use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Risk::is_low")]
    pub risk: Risk,
    pub layer: Layer,
    pub writer: Writer,
    pub reversibility: Reversibility,
    /// One line for a person.
    pub summary: String,
    pub attributes: BTreeMap<String, Attribute>,
    /// Those that must be done before.
    pub after: Vec<Address>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    pub value: Value,
    pub from: Source,
    /// What else would have set it, strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<Overruled>,
}

impl Node {
    /// Whether another node has the same attributes; where their values come from does not matter.
    pub fn has_values_of(&self, other: &Self) -> bool {
        self.attributes.len() == other.attributes.len()
            && self.attributes.iter().all(|(name, attribute)| {
                let of_other = other.attributes.get(name);
                of_other.is_some_and(|of_other| of_other.value == attribute.value)
            })
    }

    /// One thing of a component.
    pub(crate) fn of(
        component: &Lowered,
        address: Address,
        (layer, writer): (Layer, Writer),
        summary: String,
        attributes: BTreeMap<String, Attribute>,
        after: Vec<Address>,
    ) -> Self {
        Self {
            address,
            environment: component.environment.clone(),
            component: component.component.clone(),
            owner: component.owner.clone(),
            risk: component.risk,
            layer,
            writer,
            reversibility: Reversibility::Reversible,
            summary,
            attributes,
            after,
        }
    }

    /// The need of its component that asks for it, if it is a volume.
    pub fn volume_need(&self) -> Option<&str> {
        if self.address.kind != NodeKind::Volume {
            return None;
        }
        let name = self.address.name.as_str();
        let name = name.split_once('@').map_or(name, |(name, _)| name);
        let instance = instance_name(&self.environment, &self.component);
        match name.strip_prefix(instance.as_str())? {
            "" => Some(STANDING_NEED),
            need => need.strip_prefix('-'),
        }
    }

    /// A volume that goes with its component when a person deletes that.
    pub fn is_ephemeral(&self) -> bool {
        self.text("durability") == Some(Durability::Ephemeral.word())
    }

    /// How long a task of it has to end by itself, if it is a job whose recipe says so: the longest of its groups.
    pub fn stop(&self) -> Option<Span> {
        let is_stop = |name: &str| name.starts_with("group.") && name.ends_with(".stop");
        let own = self.attributes.iter().filter(|(name, _)| is_stop(name));
        own.filter_map(|(_, attribute)| Span::parse(attribute.value.as_str()?).ok())
            .max()
    }

    pub fn text(&self, attribute: &str) -> Option<&str> {
        self.attributes.get(attribute)?.value.as_str()
    }
}

impl Attribute {
    pub(crate) fn new(value: impl Into<Value>, from: Source) -> Self {
        Self {
            value: value.into(),
            from,
            over: Vec::new(),
        }
    }

    pub(crate) fn of<T>(sourced: &Sourced<T>, value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            from: sourced.from.clone(),
            over: sourced.over.to_vec(),
        }
    }
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
    /// What is done for a component once it is healthy, in a system beside the engines.
    Hook,
}

impl Layer {
    /// Whether a Terraform workspace makes it. A service follows from its job.
    pub fn is_of_workspace(self) -> bool {
        match self {
            Self::Cloud | Self::Job => true,
            Self::Secret | Self::Host | Self::Service | Self::Hook => false,
        }
    }

    pub const ALL: [Self; 6] = [
        Self::Secret,
        Self::Host,
        Self::Cloud,
        Self::Job,
        Self::Service,
        Self::Hook,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Host => "host",
            Self::Cloud => "cloud",
            Self::Job => "job",
            Self::Service => "service",
            Self::Hook => "hook",
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

/// The nodes of one component; `before` are those of others that its job waits for.
pub fn component_nodes(component: &Lowered, before: Vec<Address>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut job_after = vec![namespace::address(&component.environment)];
    for kind in KINDS {
        let mut own = kind.nodes(component);
        match kind.phase() {
            Phase::BeforeJob => job_after.extend(own.iter().map(|node| node.address.clone())),
            Phase::Job => {
                for job in own.iter_mut().filter(|node| node.address.kind == NodeKind::Job) {
                    job.after = job_after.iter().chain(&before).cloned().collect();
                }
            }
            Phase::AfterHealthy => {}
        }
        nodes.extend(own);
    }
    // Without a job, all of it waits for those before.
    if !component.runs() {
        for node in &mut nodes {
            node.after.extend(before.iter().cloned());
        }
    }
    nodes
}

pub(crate) fn attributes<'a>(
    list: impl IntoIterator<Item = (&'a str, Attribute)>,
) -> BTreeMap<String, Attribute> {
    list.into_iter()
        .map(|(name, attribute)| (name.to_owned(), attribute))
        .collect()
}
