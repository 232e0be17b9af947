//! Mesh: in the full profile a service reaches another through Consul Connect alone, and only where a component says
//! that it uses the other.

use crate::compose::{Composed, Key};
use crate::diagnostic::Diagnostic;
use crate::lowered::{Check, Group, Lowered, Mesh, Upstream};
use crate::profile::Profile;
use crate::recipe::Run;
use crate::runtime::{Piece, RuntimeText};
use crate::source::{Source, Sourced};
use std::collections::{BTreeMap, BTreeSet};

/// What a task finds in its own network at the first port from here on is the first service it calls.
const FIRST_PORT: u16 = 20_000;
const FIRST_OWN_PORT: u16 = 8_080;
const LOOPBACK: &str = "127.0.0.1";
const EVERYWHERE: &str = "0.0.0.0";

/// Tells each component where its front service is to listen: on loopback, if only the mesh is to reach it. A port of the
/// host that somebody chose is a door for everybody.
pub fn tell_where_to_listen(composed: &mut Composed<'_>, profile: Profile) {
    let called: BTreeSet<Key> = match profile {
        Profile::Solo => BTreeSet::new(),
        Profile::Full => std::mem::take(&mut composed.called),
    };
    for (key, component) in &mut composed.components {
        let Some(front) = component.recipe.front() else {
            continue;
        };
        let port = &front.ports[0];
        // A port that cannot be evaluated is told when the service is lowered.
        let has_door = component
            .port(port.fixed.as_ref())
            .is_ok_and(|port| port.is_some());
        let calls = profile == Profile::Full && (component.recipe.is_proxy() || !component.uses.is_empty());
        let is_called = called.contains(key);
        let address = match &front.run {
            _ if is_called && !has_door => LOOPBACK.to_owned(),
            // A program that is in no network of its own would listen on all of its host's.
            Run::Program(_) if !calls && !is_called => Piece::OwnAddress(port.label.clone()).mark(),
            Run::Program(_) | Run::Image(..) => EVERYWHERE.to_owned(),
        };
        component
            .context
            .insert("listen_address".to_owned(), address.into());
    }
}

/// Gives every group that calls another its upstreams, and every group that is called its callers.
pub fn weave(components: &mut BTreeMap<Key, Lowered>) -> Vec<Diagnostic> {
    let mut callers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for group in components
        .values_mut()
        .flat_map(|component| &mut component.groups)
    {
        let upstreams = upstreams(group);
        for upstream in &upstreams {
            callers
                .entry(upstream.service.clone())
                .or_default()
                .insert(group.service.clone());
        }
        resolve(group, &upstreams);
        if !upstreams.is_empty() {
            group.mesh.get_or_insert_default().upstreams = upstreams;
        }
    }
    let mut found = Vec::new();
    for component in components.values_mut() {
        for group in &mut component.groups {
            if callers.contains_key(&group.service) || group.mesh.is_some() {
                number_ports(group);
            }
            let Some(callers) = callers.remove(&group.service) else {
                continue;
            };
            group.mesh.get_or_insert_default().callers = callers;
            if group.is_closed() && matches!(&group.check, Some(Check::Tcp { command }) if command.is_empty())
            {
                let at = &component.at;
                found.push(
                    Diagnostic::new(format!(
                        "The port of {} is open to the mesh alone, where Consul cannot check it",
                        component.component
                    ))
                    .at(&at.file, at.position)
                    .hint(format!(
                        "Give the check of recipe {} a command that runs in the task: {{tcp: true, command: [...]}}",
                        component.recipe
                    )),
                );
            }
        }
    }
    found
}

/// In a network of its own a task can have any port; the sidecar has to know which.
fn number_ports(group: &mut Group) {
    for (port, number) in group.ports.iter_mut().zip(FIRST_OWN_PORT..) {
        port.to.get_or_insert_with(|| {
            Sourced::new(number, Source::pass("mesh", "a port in the task's own network"))
        });
    }
}

/// The services that the texts of a group name, each at a port of its own.
fn upstreams(group: &Group) -> Vec<Upstream> {
    let services: BTreeSet<String> = texts(group)
        .flat_map(|text| &text.0)
        .filter_map(|piece| piece.service().map(str::to_owned))
        .collect();
    services
        .into_iter()
        .zip(FIRST_PORT..)
        .map(|(service, port)| Upstream { service, port })
        .collect()
}

fn texts(group: &Group) -> impl Iterator<Item = &RuntimeText> {
    let plain = group.env.iter().chain(&group.files).map(|(_, text)| &text.value);
    plain.chain(group.secrets.iter().map(|secret| &secret.text.value))
}

/// In the mesh the address of a service is known: the task's own sidecar answers for it.
fn resolve(group: &mut Group, upstreams: &[Upstream]) {
    let plain = group
        .env
        .iter_mut()
        .chain(&mut group.files)
        .map(|(_, text)| &mut text.value);
    for text in plain.chain(group.secrets.iter_mut().map(|secret| &mut secret.text.value)) {
        let resolved = text.0.drain(..).map(|piece| {
            let upstream = upstreams
                .iter()
                .find(|upstream| piece.service() == Some(upstream.service.as_str()));
            match (upstream, &piece) {
                (Some(upstream), Piece::Address(_) | Piece::Addresses(_)) => {
                    Piece::Text(format!("{LOOPBACK}:{}", upstream.port))
                }
                (Some(_), Piece::Host(_)) => Piece::Text(LOOPBACK.to_owned()),
                (Some(upstream), Piece::Port(_)) => Piece::Text(upstream.port.to_string()),
                _ => piece,
            }
        });
        *text = RuntimeText::joined(resolved.collect::<Vec<_>>());
    }
}

impl Mesh {
    /// Whether it has anybody who may call it.
    pub fn is_called(&self) -> bool {
        !self.callers.is_empty()
    }
}
