//! Hosts: machines of the whole estate. A host is proved, not made: its slice comes with the delivery.

use crate::address::NodeKind;
use crate::called::{Called, slice_file};
use crate::canonical::canonical_digest;
use crate::node::{Attribute, Layer, Node, Reversibility, Writer, attributes};
use crate::pillar::Host;
use crate::recipe::Risk;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The host answers as a minion, and, if it is to run tasks, as a Nomad client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    pub minion: String,
    pub client: bool,
}

impl Answers {
    pub fn of(host: &Host) -> Self {
        Self {
            minion: host.name.clone(),
            client: host.has_role("client"),
        }
    }
}

/// The digest of all that the pillar says of a host.
pub fn digest(host: &Host) -> String {
    let node = node(host);
    let values = node
        .attributes
        .iter()
        .map(|(name, one)| (name.clone(), one.value.clone()));
    canonical_digest(&json!(values.collect::<std::collections::BTreeMap<_, _>>()))
}

/// Its minion, its Nomad node and its lock have its own name.
pub fn called(host: &str) -> Vec<Called> {
    match host.contains('.') {
        true => vec![Called::new("Salt", slice_file(host))],
        false => Vec::new(),
    }
}

/// A host as a node: what a plan says of it.
pub fn node(host: &Host) -> Node {
    let list = |items: &[String]| Value::from(items.to_vec());
    let mut all = vec![
        ("address", Value::from(host.address.as_str())),
        ("datacenter", Value::from(host.datacenter.as_str())),
        ("devices", list(&host.devices)),
        ("roles", list(&host.roles)),
    ];
    if let Some(group) = &host.volume_group {
        all.push(("volume_group", group.as_str().into()));
    }
    if let Some(directory) = &host.volumes_below {
        all.push(("volumes_below", directory.as_str().into()));
    }
    Node {
        address: NodeKind::Host.at(&host.name),
        environment: String::new(),
        component: host.name.clone(),
        owner: None,
        risk: Risk::Low,
        layer: Layer::Host,
        writer: Writer::Salt,
        reversibility: Reversibility::Reversible,
        summary: format!("{}  {}  {}", host.name, host.address, host.roles.join(", ")),
        attributes: attributes(
            all.into_iter()
                .map(|(name, value)| (name, Attribute::new(value, host.source()))),
        ),
        after: Vec::new(),
    }
}
