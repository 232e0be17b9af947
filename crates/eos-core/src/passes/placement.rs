//! The placement pass: are there hosts enough, and does no host get one port twice?

use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::lowered::{Group, Lowered, Shape};
use crate::pillar::{Host, Pillar};
use crate::profile::Profile;
use std::collections::BTreeMap;

/// The hosts, and those that run tasks by datacenter.
pub struct Ground<'a> {
    pub profile: Profile,
    pub hosts: &'a BTreeMap<String, Host>,
    clients: BTreeMap<&'a str, Vec<&'a Host>>,
}

impl<'a> Ground<'a> {
    pub fn new(pillar: &'a Pillar, profile: Profile) -> Self {
        let mut clients: BTreeMap<&str, Vec<&Host>> = BTreeMap::new();
        for host in pillar.hosts.values().filter(|host| host.has_role("client")) {
            clients.entry(&host.datacenter).or_default().push(host);
        }
        Self {
            profile,
            hosts: &pillar.hosts,
            clients,
        }
    }

    pub fn clients(&self, datacenter: &str) -> &[&'a Host] {
        self.clients.get(datacenter).map_or(&[], Vec::as_slice)
    }

    /// Whether there is any, anywhere.
    fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }
}

pub fn place(expanded: &Expanded<'_>, ground: &Ground<'_>, groups: &[Group], found: &mut Vec<Diagnostic>) {
    if groups.is_empty() {
        return;
    }
    let datacenter = expanded.datacenter();
    let hosts = ground.clients(datacenter).len();
    let at = &expanded.component.at;
    let name = &expanded.component.name;
    if hosts == 0 {
        let (message, hint) = match ground.is_empty() {
            true => (
                format!("No host can run {name}: none has the role client"),
                "Add one: `eos create host NAME --address ADDRESS --role client`",
            ),
            false => (
                format!(
                    "No host can run {name}: none with the role client is in datacenter {}",
                    crate::name::named(datacenter)
                ),
                "Choose another --datacenter, or add a host there",
            ),
        };
        found.push(Diagnostic::new(message).at(&at.file, at.position).hint(hint));
        return;
    }
    for group in groups {
        if group.distinct_hosts && group.count.value as usize > hosts {
            let why = match group.ports.iter().any(|port| port.fixed.is_some()) {
                true => "on a static port",
                false => "with a volume each",
            };
            let there = match hosts {
                1 => "is 1 host".to_owned(),
                many => format!("are {many} hosts"),
            };
            found.push(
                Diagnostic::new(format!(
                    "{name} wants {} instances of {} {why}, each on a host of its own, but there {there}",
                    group.count.value, group.name,
                ))
                .at(&at.file, at.position)
                .hint(format!("Use --replicas {hosts}, or add hosts")),
            );
        }
    }
}

/// A static port is asked for at most once per host, over all components of all environments.
pub fn check_ports<'c>(
    components: impl Iterator<Item = &'c Lowered>,
    ground: &Ground<'_>,
) -> Vec<Diagnostic> {
    let mut asked: BTreeMap<(&str, u16), Vec<(&Lowered, u32)>> = BTreeMap::new();
    let mut twice = Vec::new();
    for component in components {
        for group in &component.groups {
            let mut known = BTreeMap::new();
            for (label, fixed) in group
                .ports
                .iter()
                .filter_map(|port| Some((&port.label, port.fixed.as_ref()?)))
            {
                if let Some(other) = known.insert(fixed.value, label) {
                    twice.push(same_port(component, group, fixed.value, [other, label]));
                    continue;
                }
                asked
                    .entry((&component.datacenter.value, fixed.value))
                    .or_default()
                    .push((component, times(component, group, ground)));
            }
        }
    }
    let mut found = twice;
    for ((datacenter, port), users) in asked {
        let hosts = ground.clients(datacenter).len();
        let instances: usize = users.iter().map(|(_, count)| *count as usize).sum();
        if users.len() > 1 && instances > hosts {
            let names: Vec<_> = users.iter().map(|(component, _)| component.workspace()).collect();
            let at = &users[users.len() - 1].0.at;
            found.push(
                Diagnostic::new(format!(
                    "Port {port} is asked for by {}, and hosts are too few",
                    names.join(" and ")
                ))
                .at(&at.file, at.position)
                .hint("Give one of them another --port"),
            );
        }
    }
    found
}

/// Nomad gives a number of the host to one label, for both protocols.
fn same_port(component: &Lowered, group: &Group, port: u16, labels: [&String; 2]) -> Diagnostic {
    Diagnostic::new(format!(
        "Service {} of {} has port {port} as {} and as {}",
        group.name,
        component.workspace(),
        labels[0],
        labels[1]
    ))
    .at(&component.at.file, component.at.position)
    .hint("Name it once: one port takes tcp and udp")
}

/// How many instances run in all.
fn times(component: &Lowered, group: &Group, ground: &Ground<'_>) -> u32 {
    match component.shape {
        Shape::System => {
            let hosts = ground.clients(&component.datacenter.value).len();
            group.count.value * u32::try_from(hosts).unwrap_or(u32::MAX)
        }
        Shape::Service | Shape::Batch | Shape::Scheduled(_) => group.count.value,
    }
}
