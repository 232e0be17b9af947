//! Parts of hosts: what a recipe asks of hosts themselves, and of which. Each kind below `host:` reads its own.

use super::read::read_values;
use crate::diagnostic::Position;
use crate::kinds::HostNeeds;
use crate::read::{Reader, find};
use crate::template::Template;
use crate::yaml::Node;

#[derive(Clone, Debug)]
pub struct OnHosts {
    /// Names of hosts; without it, or where it gives none, every host of the component's datacenter.
    pub hosts: Option<Template>,
    pub needs: HostNeeds,
    pub at: Position,
}

impl OnHosts {
    /// Every template of it. All must be known before anything is placed.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.hosts.iter().chain(self.needs.templates())
    }
}

pub(super) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<OnHosts> {
    let keys: Vec<&str> = ["hosts"].iter().chain(HostNeeds::KEYS).copied().collect();
    let fields = reader.record("host", node, &keys);
    let hosts = find(fields, "hosts").and_then(|node| read_values(reader, "hosts", node));
    let needs = HostNeeds::read(reader, fields);
    if needs.is_empty() && reader.diagnostics.is_empty() {
        reader.report_with_hint(
            node.at,
            "host: asks nothing of a host",
            format!("Add one of: {}", HostNeeds::KEYS.join(", ")),
        );
    }
    Some(OnHosts {
        hosts,
        needs,
        at: node.at,
    })
}
