//! Nodes: one graph over all layers. Each has one writer, and knows the source of every attribute.

use crate::emit::terraform::{PLATFORM, Workspace};
use crate::lowered::{Check, Driver, Durability, Lowered, Lvm, Monitor, Volume, instance_name};
use crate::option::human_size;
use crate::pillar::{Converted, Host, Restored, STANDING_NEED};
use crate::profile::Profile;
use crate::recipe::Risk;
use crate::source::{Overruled, Source, Sourced};
use crate::timing::{Said, Span};
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
    /// Addresses that must be done before.
    pub after: Vec<String>,
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
    /// The need of its component that asks for it, if it is a volume.
    pub fn volume_need(&self) -> Option<&str> {
        let name = self.address.strip_prefix("volume/")?;
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
    fn new(value: impl Into<Value>, from: Source) -> Self {
        Self {
            value: value.into(),
            from,
            over: Vec::new(),
        }
    }

    fn of<T>(sourced: &Sourced<T>, value: impl Into<Value>) -> Self {
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
        owner: None,
        risk: Risk::Low,
        layer: Layer::Job,
        writer: Writer::Terraform,
        reversibility: Reversibility::Reversible,
        summary: format!("namespace {environment}"),
        attributes: attributes([("name", Attribute::new(environment.as_str(), why()))]),
        after: Vec::new(),
    }]
}

fn namespace_address(environment: &str) -> String {
    format!("namespace/{environment}")
}

/// A host as a node: what a plan says of it.
pub fn host_node(host: &Host) -> Node {
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
    Node {
        address: format!("host/{}", host.name),
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

/// The nodes that are done last of a component: a dependent waits for them.
pub fn ends(component: &Lowered) -> Vec<String> {
    let services: Vec<_> = component
        .groups
        .iter()
        .filter(|group| !group.ports.is_empty())
        .map(|group| format!("service/{}", group.service))
        .collect();
    match services.is_empty() {
        true => vec![job_address(component)],
        false => services,
    }
}

pub(crate) fn volume_address(volume: &Volume) -> String {
    match volume.each {
        true => format!("volume/{}@{}", volume.name, volume.host.value),
        false => format!("volume/{}", volume.name),
    }
}

fn job_address(component: &Lowered) -> String {
    format!("job/{}", component.component)
}

fn secret_address(component: &str) -> String {
    format!("secret/{component}")
}

/// The nodes of one component; `before` are those of others that its job waits for.
pub fn component_nodes(lowered: &Lowered, before: Vec<String>) -> Vec<Node> {
    let mut nodes = Vec::new();
    let node = |address: String, layer, writer, summary: String, attributes, after| Node {
        address,
        environment: lowered.environment.clone(),
        component: lowered.component.clone(),
        owner: lowered.owner.clone(),
        risk: lowered.risk,
        layer,
        writer,
        reversibility: Reversibility::Reversible,
        summary,
        attributes,
        after,
    };
    let namespace = namespace_address(&lowered.environment);
    let mut job_after = vec![namespace.clone()];
    if !lowered.secrets.is_empty() {
        let address = secret_address(&lowered.component);
        let copied = lowered
            .secrets
            .iter()
            .filter_map(|secret| secret.copy_of.as_ref());
        let mut after = vec![namespace.clone()];
        after.extend(copied.map(|copy| secret_address(&copy.component)));
        after.dedup();
        nodes.push(node(
            address.clone(),
            Layer::Secret,
            Writer::Secret,
            secret_summary(lowered),
            secret_attributes(lowered),
            after,
        ));
        job_after.push(address);
    }
    for volume in &lowered.volumes {
        let address = volume_address(volume);
        nodes.push(node(
            address.clone(),
            Layer::Host,
            Writer::Salt,
            volume_summary(volume),
            volume_attributes(volume),
            Vec::new(),
        ));
        job_after.push(address);
    }
    if !lowered.runs() {
        return nodes;
    }
    job_after.extend(before);
    nodes.push(node(
        job_address(lowered),
        Layer::Job,
        Writer::Terraform,
        job_summary(lowered),
        job_attributes(lowered),
        job_after,
    ));
    for group in lowered.groups.iter().filter(|group| !group.ports.is_empty()) {
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
        nodes.push(node(
            format!("service/{}", group.service),
            Layer::Service,
            Writer::Terraform,
            summary,
            attributes(list),
            vec![job_address(lowered)],
        ));
    }
    let Some(monitor) = &lowered.watched_by else {
        return nodes;
    };
    for (group, path) in lowered.measured() {
        nodes.push(node(
            format!("target/{}", group.service),
            Layer::Hook,
            Writer::Terraform,
            format!("{}  target {}, {path}", monitor.component, group.service),
            attributes([("path", Attribute::new(path, group.declared.clone()))]),
            vec![format!("service/{}", group.service)],
        ));
    }
    nodes.push(node(
        rules_address(&lowered.component),
        Layer::Hook,
        Writer::Salt,
        rules_summary(lowered, monitor),
        rules_attributes(lowered, monitor),
        ends(lowered),
    ));
    nodes
}

/// Its alert rules as a node; there is one with a `by` for each component that is watched.
pub fn rules_address(component: &str) -> String {
    format!("rules/{component}")
}

fn rules_summary(lowered: &Lowered, monitor: &Monitor) -> String {
    let mut names: Vec<&str> = lowered.alerts().iter().map(|alert| alert.name).collect();
    names.dedup();
    let (names, patience) = (names.join(", "), &monitor.patience.value);
    format!("{}  alerts {names} after {patience}", monitor.component)
}

fn rules_attributes(lowered: &Lowered, monitor: &Monitor) -> BTreeMap<String, Attribute> {
    let pass = |why: &str| Source::pass("monitoring", why);
    let mut list = attributes([
        (
            "by",
            Attribute::new(
                monitor.component.as_str(),
                pass("watches all that can be measured"),
            ),
        ),
        (
            "host",
            Attribute::new(monitor.host.as_str(), pass("where its data lies")),
        ),
        (
            "patience",
            Attribute::of(&monitor.patience, monitor.patience.value.as_str()),
        ),
        (
            "severity",
            Attribute::new(
                lowered.severity(),
                pass("critical in production, a warning elsewhere"),
            ),
        ),
    ]);
    for (group, _) in lowered.measured() {
        let count = Attribute::of(&group.count, group.count.value);
        list.insert(format!("instances.{}", group.service), count);
    }
    list
}

fn secret_summary(lowered: &Lowered) -> String {
    let items: Vec<_> = lowered
        .secrets
        .iter()
        .map(|secret| secret.item.as_str())
        .collect();
    format!("secret/{}  {}", lowered.workspace(), items.join(", "))
}

fn secret_attributes(lowered: &Lowered) -> BTreeMap<String, Attribute> {
    let items: Vec<&str> = lowered
        .secrets
        .iter()
        .map(|secret| secret.item.as_str())
        .collect();
    let why = format!("recipe {} names them", lowered.recipe);
    let mut list = attributes([("items", Attribute::new(items, Source::pass("secrets", why)))]);
    for secret in &lowered.secrets {
        if let Some(copy) = &secret.copy_of {
            let from = Source::pass("secrets", format!("copied from what {} uses", lowered.component));
            let value = format!("{} of {}", copy.item, copy.component);
            list.insert(format!("copy.{}", secret.item), Attribute::new(value, from));
        }
    }
    list
}

fn volume_summary(volume: &Volume) -> String {
    let (host, name, path) = (&volume.host.value, &volume.name, &volume.path.value);
    let size = human_size(volume.size.value);
    match &volume.lvm {
        None => {
            let copies = match volume.durability.value {
                Durability::Redundant => ", one copy",
                Durability::Ephemeral | Durability::Persistent => "",
            };
            format!("{host}  volume {name}  directory {path} (size {size} not enforced{copies})")
        }
        Some(lvm) => {
            let (filesystem, group) = (volume.filesystem.value.title(), &lvm.group.value);
            let compressed = lvm.compression.as_ref();
            let compressed = compressed.map_or_else(String::new, |word| format!(" ({})", word.value));
            format!("{host}  volume {name}  {size} {filesystem}{compressed} on {group}, {path}")
        }
    }
}

fn volume_attributes(volume: &Volume) -> BTreeMap<String, Attribute> {
    let declared = || volume.declared.clone();
    let mut list = attributes([
        ("host", Attribute::of(&volume.host, volume.host.value.as_str())),
        ("path", Attribute::of(&volume.path, volume.path.value.as_str())),
        ("size", Attribute::of(&volume.size, volume.size.value)),
        (
            "filesystem",
            Attribute::of(&volume.filesystem, volume.filesystem.value.word()),
        ),
        (
            "durability",
            Attribute::of(&volume.durability, volume.durability.value.word()),
        ),
        (
            "owner",
            Attribute::new(format!("{}:{}", volume.user, volume.group), declared()),
        ),
        ("mode", Attribute::new(volume.mode.as_str(), declared())),
    ]);
    if let Some(lvm) = &volume.lvm {
        list.extend(lvm_attributes(volume, lvm));
    }
    list
}

fn lvm_attributes(volume: &Volume, lvm: &Lvm) -> BTreeMap<String, Attribute> {
    let declared = || volume.declared.clone();
    let mut list = attributes([
        (
            "volume_group",
            Attribute::of(&lvm.group, lvm.group.value.as_str()),
        ),
        ("devices", Attribute::of(&lvm.devices, lvm.devices.value.clone())),
        ("alert", Attribute::of(&lvm.alert, lvm.alert.value)),
    ]);
    if let Some(compression) = &lvm.compression {
        let word = Attribute::of(compression, compression.value.as_str());
        list.insert("compression".to_owned(), word);
    }
    for (snapshot, room) in &lvm.snapshots {
        list.insert(format!("snapshot.{snapshot}"), Attribute::new(*room, declared()));
    }
    if let Some(Restored { snapshot, when }) = &lvm.restored {
        let restored = Attribute::new(format!("{snapshot}, {when}"), declared());
        list.insert("restored".to_owned(), restored);
    }
    if let Some(Converted {
        from,
        when,
        committed,
    }) = &lvm.converted
    {
        let kept = if *committed { "committed" } else { "old one kept" };
        let words = format!("from {}, {when}, {kept}", from.word());
        list.insert("converted".to_owned(), Attribute::new(words, declared()));
    }
    list
}

fn job_summary(lowered: &Lowered) -> String {
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

fn attributes<'a>(list: impl IntoIterator<Item = (&'a str, Attribute)>) -> BTreeMap<String, Attribute> {
    list.into_iter()
        .map(|(name, attribute)| (name.to_owned(), attribute))
        .collect()
}
