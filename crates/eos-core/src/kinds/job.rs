//! Jobs: what Nomad runs of a component, and the services that it registers. Both are part of the component's workspace.

use super::{
    Asked, Going, KINDS, Kind, Made, Parting, Phase, Piece, Proof, Slices, Unmade, Wanted, workspace,
};
use crate::address::{Address, NodeKind};
use crate::lowered::{Check, Driver, Group, Lowered};
use crate::node::{Attribute, Layer, Node, Writer, attributes};
use crate::option::human_size;
use crate::plan::{Change, Key, PlanInput, Work};
use crate::profile::Profile;
use crate::recipe::Risk;
use crate::source::Source;
use crate::timing::Said;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is proved of a component's job once its workspace is applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Healthy {
    /// In the job's meta.
    pub digest: String,
    pub groups: Vec<Expected>,
}

impl Healthy {
    pub fn services(&self) -> Vec<&str> {
        let services = self.groups.iter().filter_map(|group| group.service.as_deref());
        services.collect()
    }
}

/// What verification expects of one task group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub group: String,
    pub service: Option<String>,
    pub count: u32,
    pub check: bool,
}

/// What is proved once a workspace is destroyed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gone {
    pub services: Vec<String>,
    /// Seconds that a task of it has to end by itself, where its recipe says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<u64>,
}

pub fn address(component: &str) -> Address {
    NodeKind::Job.at(component)
}

pub fn service_address(group: &Group) -> Address {
    NodeKind::Service.at(&group.service)
}

/// The nodes that are done last of a component: a dependent waits for them.
pub fn ends(component: &Lowered) -> Vec<Address> {
    if !component.runs() {
        let nodes = KINDS.iter().flat_map(|kind| kind.nodes(component));
        return nodes.map(|node| node.address).collect();
    }
    let services: Vec<Address> = component
        .groups
        .iter()
        .filter(|group| !group.ports.is_empty())
        .map(service_address)
        .collect();
    match services.is_empty() {
        true => vec![address(&component.component)],
        false => services,
    }
}

pub(crate) struct Jobs;

impl Kind for Jobs {
    fn phase(&self) -> Phase {
        Phase::Job
    }

    /// What the job waits for is added by whoever has all nodes.
    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        if !component.runs() {
            return Vec::new();
        }
        let job = Node::of(
            component,
            address(&component.component),
            (Layer::Job, Writer::Terraform),
            summary(component),
            job_attributes(component),
            Vec::new(),
        );
        let groups = component.groups.iter().filter(|group| !group.ports.is_empty());
        let services = groups.map(|group| service_node(component, group));
        std::iter::once(job).chain(services).collect()
    }

    fn part(&self, _: &Node) -> Option<String> {
        None
    }

    /// Workspaces, not jobs, have slices.
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

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<Asked> {
        let (environment, component) = (&wanted.key.0, &wanted.key.1);
        let workspace = wanted.input.compilation.workspace(environment, component);
        let applied = workspace.map(|workspace| Asked {
            risk: wanted.risk,
            work: Work::Make(Made::Workspace(workspace::Made {
                minion: wanted.control.to_owned(),
                digest: workspace.digest.clone(),
            })),
        });
        let healthy = wanted.component.runs().then(|| Asked {
            risk: Risk::Low,
            work: Work::Prove(Proof::Healthy(Healthy {
                digest: workspace.map_or_else(String::new, |workspace| workspace.job_digest.clone()),
                groups: wanted.component.groups.iter().map(expected).collect(),
            })),
        });
        applied.into_iter().chain(healthy).collect()
    }

    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, Asked)> {
        let services = going.applied().iter().map(|node| &node.address);
        let services = services.filter(|address| address.kind == NodeKind::Service);
        let stop = going.applied().iter().filter_map(Node::stop).max();
        let removed = going.had_workspace().then(|| Asked {
            risk: going.risk,
            work: Work::Unmake(Unmade::Workspace(workspace::Unmade {
                minion: going.control.to_owned(),
            })),
        });
        let gone = going.ran().then(|| Asked {
            risk: Risk::Low,
            work: Work::Prove(Proof::Gone(Gone {
                services: services.map(|address| address.name.clone()).collect(),
                stop: stop.map(|span| span.duration().as_secs()),
            })),
        });
        let steps = removed.into_iter().chain(gone);
        steps.map(|asked| (Parting::Job, asked)).collect()
    }

    fn leftovers(&self, _: &PlanInput<'_>) -> Vec<(Key, Work)> {
        Vec::new()
    }

    fn waits_for<'c>(&self, _: &'c Lowered) -> Option<&'c str> {
        None
    }

    /// The plan compares with what the engines have.
    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    /// Whatever changes a job says why.
    fn remark(&self, _: &mut Change, _: &PlanInput<'_>) {}
}

fn expected(group: &Group) -> Expected {
    Expected {
        group: group.name.clone(),
        service: (!group.ports.is_empty()).then(|| group.service.clone()),
        count: group.count.value,
        check: group.check.is_some(),
    }
}

fn service_node(lowered: &Lowered, group: &Group) -> Node {
    let named = Source::pass("environment", "named after component and environment");
    let mut list = vec![("name", Attribute::new(group.service.as_str(), named))];
    if lowered.profile == Profile::Full {
        let why = Source::pass("profile", "services of the full profile are in Consul");
        list.push(("catalogue", Attribute::new("consul", why)));
    }
    if let Some(mesh) = group.mesh.as_ref().filter(|mesh| mesh.is_called()) {
        let callers: Vec<&str> = mesh.callers.iter().map(String::as_str).collect();
        let why = Source::pass("mesh", "those that use it may call it, and nobody else");
        list.push(("callers", Attribute::new(callers, why)));
    }
    if group.is_closed() {
        let why = Source::pass(
            "mesh",
            "it is used by others, and nobody chose a port of the host for it",
        );
        list.push(("reached", Attribute::new("through the mesh alone", why)));
    }
    let mut summary = group.service.clone();
    match &group.check {
        Some(Check::Http(path)) => {
            summary.push_str(&format!("  check GET {}", path.value));
            list.push(("check", Attribute::of(path, format!("GET {}", path.value))));
        }
        Some(Check::Tcp { .. }) => {
            summary.push_str("  check TCP");
            list.push(("check", Attribute::new("TCP", group.declared.clone())));
        }
        None => {}
    }
    for (name, said) in [
        ("check.every", group.timing.every),
        ("check.timeout", group.timing.timeout),
    ] {
        list.extend(said.map(|said| (name, said_by_recipe(lowered, said))));
    }
    if let Some(path) = &group.metrics {
        let attribute = match group.is_closed() {
            false => Attribute::new(path.as_str(), group.declared.clone()),
            true => {
                let why = "what is reached through the mesh alone cannot be measured from outside";
                Attribute::new("none", Source::pass("monitoring", why))
            }
        };
        list.push(("metrics", attribute));
    }
    Node::of(
        lowered,
        service_address(group),
        (Layer::Service, Writer::Terraform),
        summary,
        attributes(list),
        vec![address(&lowered.component)],
    )
}

fn summary(lowered: &Lowered) -> String {
    let groups: Vec<_> = lowered
        .groups
        .iter()
        .map(|group| {
            let run = match &group.driver {
                Driver::Docker { image, .. } => format!("image {}", image.value),
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
    let version = Source::pass("expand", format!("version of recipe {}", lowered.recipe));
    let mut list = attributes([
        ("version", Attribute::new(lowered.version.as_str(), version)),
        (
            "datacenter",
            Attribute::of(&lowered.datacenter, lowered.datacenter.value.as_str()),
        ),
    ]);
    if lowered.generation > 0 {
        let from = Source::Kept {
            what: "generation".to_owned(),
            file: lowered.at.file.clone(),
            line: lowered.at.position.line,
        };
        list.insert("generation".to_owned(), Attribute::new(lowered.generation, from));
    }
    for group in &lowered.groups {
        let prefix = match lowered.groups.len() {
            1 => "group".to_owned(),
            _ => format!("group.{}", group.name),
        };
        let mut add = |name: String, attribute: Attribute| {
            list.insert(format!("{prefix}.{name}"), attribute);
        };
        for (name, figure) in [
            ("count", &group.count),
            ("cpu", &group.cpu),
            ("memory", &group.memory),
        ] {
            add(name.to_owned(), Attribute::of(figure, figure.value));
        }
        for (name, said) in [("start", group.timing.start), ("stop", group.timing.stop)] {
            if let Some(said) = said {
                add(name.to_owned(), said_by_recipe(lowered, said));
            }
        }
        let (name, text) = match &group.driver {
            Driver::Docker { image, .. } => ("image", image),
            Driver::RawExec { command, .. } => ("command", command),
        };
        add(name.to_owned(), Attribute::of(text, text.value.as_str()));
        for (index, arg) in group.driver.args().iter().enumerate() {
            add(format!("arg.{index}"), Attribute::of(arg, arg.value.as_str()));
        }
        for (kind, texts) in [("env", &group.env), ("file", &group.files)] {
            for (name, text) in texts {
                add(
                    format!("{kind}.{name}"),
                    Attribute::of(text, text.value.to_string()),
                );
            }
        }
        for port in &group.ports {
            if let Some(fixed) = &port.fixed {
                add(format!("port.{}", port.label), Attribute::of(fixed, fixed.value));
            }
            if let Some(to) = &port.to {
                add(format!("port.{}.to", port.label), Attribute::of(to, to.value));
            }
        }
        for secret in &group.secrets {
            let text = secret.text.value.to_string();
            add(
                format!("secret.{}", secret.variable),
                Attribute::of(&secret.text, text),
            );
        }
        for mount in &group.mounts {
            let path = mount.path.as_str();
            add(
                format!("mount.{}", mount.volume),
                Attribute::new(path, group.declared.clone()),
            );
        }
    }
    list
}

/// A span of time that the recipe says; the usual ones are no attributes.
fn said_by_recipe(lowered: &Lowered, said: Said) -> Attribute {
    Attribute::new(said.span.to_string(), Source::recipe(&lowered.recipe, said.line))
}
