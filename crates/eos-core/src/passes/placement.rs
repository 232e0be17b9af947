//! The placement pass: are there hosts enough, and does no host get one port twice?

use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::lowered::{Group, Lowered};
use crate::pillar::{Host, Pillar};
use std::collections::BTreeMap;

/// Hosts that run tasks.
pub fn clients(pillar: &Pillar) -> impl Iterator<Item = &Host> {
    pillar
        .hosts
        .values()
        .filter(|host| host.roles.iter().any(|role| role == "client"))
}

pub fn place(expanded: &Expanded<'_>, pillar: &Pillar, groups: &mut [Group], found: &mut Vec<Diagnostic>) {
    let hosts = clients(pillar).count();
    let at = &expanded.component.at;
    let name = &expanded.component.name;
    if hosts == 0 {
        found.push(
            Diagnostic::new(format!("No host can run {name}: none has the role client"))
                .at(&at.file, at.position)
                .hint("Add a host with roles: [client] to pillar/infrastructure/common.sls"),
        );
        return;
    }
    for group in groups {
        if group.count.value == 0 {
            found.push(
                Diagnostic::new(format!("{name} cannot run 0 instances"))
                    .at(&at.file, at.position)
                    .hint(format!("Remove it with `eos delete {name}`")),
            );
        }
        if group.distinct_hosts && group.count.value as usize > hosts {
            found.push(
                Diagnostic::new(format!(
                    "{name} wants {} instances of {} on a static port, each on a host of its own, but there {}",
                    group.count.value,
                    group.name,
                    if hosts == 1 { "is 1 host".to_owned() } else { format!("are {hosts} hosts") }
                ))
                .at(&at.file, at.position)
                .hint(format!("Use --replicas {hosts}, or add hosts")),
            );
        }
    }
}

/// A static port is asked for at most once per host, over all components of all environments.
pub fn check_ports(components: &[Lowered], pillar: &Pillar) -> Vec<Diagnostic> {
    let hosts = clients(pillar).count();
    let mut asked: BTreeMap<u16, Vec<(&Lowered, u32)>> = BTreeMap::new();
    for component in components {
        for group in &component.groups {
            for fixed in group.ports.iter().filter_map(|port| port.fixed.as_ref()) {
                asked
                    .entry(fixed.value)
                    .or_default()
                    .push((component, group.count.value));
            }
        }
    }
    let mut found = Vec::new();
    for (port, users) in asked {
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
