//! The namespace: the Nomad namespace that the components of an environment share. It is all that `platform` has.

use crate::address::{Address, NodeKind};
use crate::emit::terraform::{PLATFORM, Workspace};
use crate::node::{Attribute, Layer, Node, Reversibility, Writer, attributes};
use crate::recipe::Risk;
use crate::source::Source;

pub fn address(environment: &str) -> Address {
    NodeKind::Namespace.at(environment)
}

/// The nodes of what an environment's components share.
pub fn nodes(workspace: &Workspace) -> Vec<Node> {
    let environment = &workspace.environment;
    let why = "an environment is a Nomad namespace of the same name";
    let name = Attribute::new(environment.as_str(), Source::pass("environment", why));
    vec![Node {
        address: address(environment),
        environment: environment.clone(),
        component: PLATFORM.to_owned(),
        owner: None,
        risk: Risk::Low,
        layer: Layer::Job,
        writer: Writer::Terraform,
        reversibility: Reversibility::Reversible,
        summary: format!("namespace {environment}"),
        attributes: attributes([("name", name)]),
        after: Vec::new(),
    }]
}
