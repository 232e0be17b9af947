//! Routes: a proxy serves a component under its host names. The proxy finds them in the catalogue of services, so that nothing
//! is made of them; what is so is asked of the proxy itself.

use super::{Going, Kind, Parting, Phase, PhaseStep, Piece, Proof, Slices, Wanted, job};
use crate::address::NodeKind;
use crate::lowered::Lowered;
use crate::node::{Attribute, Layer, Node, Writer, attributes};
use crate::plan::{Change, Key, PlanInput, Work};
use crate::recipe::Risk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a proxy is to answer for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Routed {
    /// The component that is the proxy.
    pub by: String,
    /// Host names that it serves.
    pub hosts: Vec<String>,
    /// Host names that it serves no longer.
    pub gone: Vec<String>,
}

pub(crate) struct Routes;

impl Kind for Routes {
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::Route]
    }

    fn phase(&self) -> Phase {
        Phase::AfterHealthy
    }

    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        let Some(proxy) = component.routed_by.as_ref().filter(|_| component.runs()) else {
            return Vec::new();
        };
        let routes = component
            .groups
            .iter()
            .flat_map(|group| group.routes.iter().map(move |host| (group, host)));
        let nodes = routes.map(|(group, host)| {
            Node::of(
                component,
                NodeKind::Route.at(&host.value),
                (Layer::Hook, Writer::Terraform),
                format!("{proxy}  route {} to {}", host.value, group.service),
                attributes([
                    ("by", Attribute::of(host, proxy.as_str())),
                    ("service", Attribute::of(host, group.service.as_str())),
                ]),
                vec![job::service_address(group)],
            )
        });
        nodes.collect()
    }

    fn part(&self, _: &Node) -> Option<String> {
        None
    }

    fn slices<'a>(&self, _: &'a BTreeMap<Key, Lowered>, _: &mut Slices<'a>) {}

    fn pieces(&self, _: &Lowered) -> Vec<Piece> {
        Vec::new()
    }

    fn recorded(&self, _: &Lowered) -> Vec<String> {
        Vec::new()
    }

    fn files(&self, _: &Lowered) -> Vec<(&'static str, Vec<u8>)> {
        Vec::new()
    }

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let hosts: Vec<String> = match wanted.component.is_stopped() {
            // Nothing of it is registered, and no route leads to it.
            true => Vec::new(),
            false => hosts(&self.nodes(wanted.component)),
        };
        let before = wanted
            .input
            .applied
            .get(wanted.key)
            .map_or(&[][..], Vec::as_slice);
        let gone = hosts_of(before).filter(|host| !hosts.contains(host)).collect();
        let by = wanted.component.routed_by.clone();
        let by = by.or_else(|| door(before, wanted.input, wanted.key));
        proved(by, hosts, gone).into_iter().collect()
    }

    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        let applied = going.applied();
        let by = door(applied, going.input, going.key);
        let step = proved(by, Vec::new(), hosts(applied));
        step.map(|step| (Parting::AfterJob, step)).into_iter().collect()
    }

    fn leftovers(&self, _: &PlanInput<'_>) -> Vec<(Key, Work)> {
        Vec::new()
    }

    fn waits_for<'c>(&self, component: &'c Lowered) -> Option<&'c str> {
        component.routed_by.as_deref()
    }

    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    fn remark(&self, _: &mut Change, _: &PlanInput<'_>) {}
}

fn proved(by: Option<String>, hosts: Vec<String>, gone: Vec<String>) -> Option<PhaseStep> {
    let by = by.filter(|_| !hosts.is_empty() || !gone.is_empty())?;
    Some(PhaseStep {
        risk: Risk::Low,
        work: Work::Prove(Proof::Routed(Routed { by, hosts, gone })),
    })
}

fn hosts_of(nodes: &[Node]) -> impl Iterator<Item = String> {
    let routes = nodes.iter().filter(|node| node.address.kind == NodeKind::Route);
    routes.map(|node| node.address.name.clone())
}

fn hosts(nodes: &[Node]) -> Vec<String> {
    hosts_of(nodes).collect()
}

/// The proxy of routes as they were last applied, if it stays.
fn door(applied: &[Node], input: &PlanInput<'_>, key: &Key) -> Option<String> {
    let by = applied
        .iter()
        .find(|node| node.address.kind == NodeKind::Route)?
        .text("by")?;
    input.compilation.component(&key.0, by)?;
    Some(by.to_owned())
}
