//! Jobs: what Nomad runs of a component, and the services that it registers. Both are part of the component's workspace.

use super::{
    Acted as AnyActed, Deed, Function, Going, KINDS, Kind, Made, Parting, Phase, PhaseStep, Piece, Proof,
    Request, Slices, Unmade, Wanted, is_lost, workspace,
};
use crate::address::{Address, NodeKind};
use crate::compile::Compilation;
use crate::lowered::{Check, Container, Driver, Group, Lowered, More, Shape};
use crate::node::{Attribute, Layer, Node, Reversibility, Writer, attributes};
use crate::option::human_size;
use crate::plan::{Act, Change, Key, PlanInput, Work};
use crate::profile::Profile;
use crate::recipe::Risk;
use crate::source::Source;
use crate::tiers::Tiers;
use crate::timing::Said;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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
    /// It runs on every host that can run it, as many times as it says on each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
}

/// What is proved of a job that runs to its end: it did, and well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// In the job's meta.
    pub digest: String,
    pub groups: Vec<String>,
    /// Seconds within which it has to end.
    pub within: u64,
}

/// What is proved of a job that runs at set times: Nomad starts it then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheduled {
    /// In the job's meta.
    pub digest: String,
    pub cron: String,
    pub zone: String,
}

/// What is proved of the job of a component that a person stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// In the job's meta.
    pub digest: String,
    pub services: Vec<String>,
    /// Seconds that a task of it has to end by itself, where its recipe says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<u64>,
}

/// Salt restarts what runs of a job, one instance after the other, or starts a run of one that has a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acted {
    pub minion: String,
    #[serde(default)]
    pub deed: Deed,
    pub groups: Vec<Expected>,
    /// Seconds within which a run has to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u64>,
}

impl Request for Acted {
    /// The job is part of the component's workspace.
    fn kind(&self) -> &'static str {
        workspace::KIND
    }

    fn title(&self) -> &'static str {
        self.deed.word()
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Act(self.deed.word())
    }

    fn facts(&self, _: &str) -> Value {
        json!({})
    }

    fn is_final(&self) -> bool {
        true
    }

    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool {
        let component = compilation.components.get(key);
        component.is_some_and(|component| component.runs() && !component.is_stopped())
    }

    /// Its minion compares with what was last applied.
    fn is_bound(&self) -> bool {
        false
    }

    /// The plan says what is restarted or run.
    fn is_previewed(&self) -> bool {
        false
    }

    fn object(&self, place: &str) -> String {
        format!("job {place}")
    }
}

/// What is proved once a workspace is destroyed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gone {
    pub services: Vec<String>,
    /// Seconds that a task of it has to end by itself, where its recipe says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<u64>,
}

/// The attribute of a job that runs at set times.
const SCHEDULE: &str = "schedule";
/// The attribute of one whose schedule a person stopped.
const RESTS: &str = "rests";
/// The attribute of what a container may do beyond its walls.
pub const PRIVILEGES: &str = "privileges";

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
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::Job, NodeKind::Service]
    }

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

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let (environment, component) = (&wanted.key.0, &wanted.key.1);
        let workspace = wanted.input.compilation.workspace(environment, component);
        let applied = workspace.map(|workspace| PhaseStep {
            risk: wanted.risk,
            work: Work::Make(Made::Workspace(workspace::Made {
                minion: wanted.control.to_owned(),
                digest: workspace.digest.clone(),
                loses: destroys(component, wanted.changes),
            })),
        });
        let proved = wanted.component.runs().then(|| PhaseStep {
            risk: Risk::Low,
            work: Work::Prove(proof(wanted)),
        });
        applied.into_iter().chain(proved).collect()
    }

    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        let services = going.applied().iter().map(|node| &node.address);
        let services = services.filter(|address| address.kind == NodeKind::Service);
        let stop = going.applied().iter().filter_map(Node::stop).max();
        let loses = going.applied().iter().any(is_lost);
        let removed = going.had_workspace().then(|| PhaseStep {
            risk: going.risk,
            work: Work::Unmake(Unmade::Workspace(workspace::Unmade {
                minion: going.control.to_owned(),
                loses,
            })),
        });
        let gone = going.ran().then(|| PhaseStep {
            risk: Risk::Low,
            work: Work::Prove(Proof::Gone(Gone {
                services: services.map(|address| address.name.clone()).collect(),
                stop: stop.map(|span| span.duration().as_secs()),
            })),
        });
        let steps = removed.into_iter().chain(gone);
        // What nothing brings back goes last, unless the job has to go with it.
        let parting = match loses && !going.ran() {
            true => Parting::Last,
            false => Parting::Job,
        };
        steps.map(|asked| (parting, asked)).collect()
    }

    fn act(&self, deed: Deed, component: &Lowered) -> Option<Act> {
        let summary = match deed {
            Deed::Restart => restart_summary(component),
            Deed::Run => run_summary(component),
        };
        Some(Act {
            deed,
            environment: component.environment.clone(),
            component: component.component.clone(),
            layer: Layer::Job,
            summary,
        })
    }

    fn does(&self, deed: Deed, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let component = wanted.component;
        let proved = PhaseStep {
            risk: Risk::Low,
            work: Work::Prove(proof(wanted)),
        };
        let (within, proved) = match deed {
            Deed::Restart => (None, Some(proved)),
            // The end of the run is all there is to prove.
            Deed::Run => (Some(within(component)), None),
        };
        let acted = Acted {
            minion: wanted.control.to_owned(),
            deed,
            groups: component
                .groups
                .iter()
                .map(|group| expected(component, group))
                .collect(),
            within,
        };
        let acted = PhaseStep {
            risk: wanted.risk,
            work: Work::Act(AnyActed::Job(acted)),
        };
        std::iter::once(acted).chain(proved).collect()
    }

    fn leftovers(&self, _: &PlanInput<'_>) -> Vec<(Key, Work)> {
        Vec::new()
    }

    fn waits_for<'c>(&self, _: &'c Lowered) -> Option<&'c str> {
        None
    }

    /// The plan compares with what the engines have.
    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    fn risk(&self, node: &Node, tiers: &Tiers) -> Risk {
        tiers.of_job(node)
    }

    /// Whatever changes a job says why. Of one that stops, those are told whom it leaves without it.
    fn remark(&self, change: &mut Change, input: &PlanInput<'_>) {
        let component = input.compilation.components.get(&change.key());
        let stops = |component: &&Lowered| {
            let before = input.applied.get(&change.key());
            component.is_stopped() && !before.is_some_and(|nodes| nodes.iter().any(is_stopped))
        };
        if change.address.kind == NodeKind::Job
            && let Some(component) = component.filter(stops)
        {
            change.note = Some(stop_words(component, input));
        }
    }
}

/// Whether this is the job of a stopped component.
fn is_stopped(node: &Node) -> bool {
    let mut counts = node
        .attributes
        .iter()
        .filter(|(name, _)| name.ends_with(".count"));
    node.address.kind == NodeKind::Job && counts.all(|(_, count)| count.value == 0)
}

fn stop_words(component: &Lowered, input: &PlanInput<'_>) -> String {
    let name = &component.component;
    let neighbours = input.compilation.of_environment(&component.environment);
    let users = neighbours.filter(|other| other.uses.values().any(|used| used == name));
    let users: Vec<&str> = users.map(|user| user.component.as_str()).collect();
    let until = format!("nothing of it runs until `eos start {}`", component.spoken_of());
    match users.as_slice() {
        [] => until,
        [user] => format!("{until}; {user} uses it and stays without it"),
        users => format!("{until}; {} use it and stay without it", users.join(", ")),
    }
}

/// What is to be so of a component's job once its workspace is applied.
fn proof(wanted: &Wanted<'_, '_>) -> Proof {
    let Wanted { component, key, .. } = wanted;
    let workspace = wanted.input.compilation.workspace(&key.0, &key.1);
    let digest = workspace.map_or_else(String::new, |workspace| workspace.job_digest.clone());
    let groups = component.groups.iter();
    let expected: Vec<Expected> = groups.clone().map(|group| expected(component, group)).collect();
    if component.is_stopped() {
        let spans = groups.filter_map(|group| group.timing.stop);
        return Proof::Stopped(Stopped {
            digest,
            services: expected.into_iter().filter_map(|group| group.service).collect(),
            stop: spans.map(|said| said.span.duration().as_secs()).max(),
        });
    }
    match &component.shape {
        Shape::Service | Shape::System => Proof::Healthy(Healthy {
            digest,
            groups: expected,
        }),
        Shape::Batch => Proof::Ended(Ended {
            digest,
            groups: groups.map(|group| group.name.clone()).collect(),
            within: within(component),
        }),
        Shape::Scheduled(schedule) => Proof::Scheduled(Scheduled {
            digest,
            cron: schedule.cron.value.clone(),
            zone: schedule.zone.value.clone(),
        }),
    }
}

/// Seconds within which a run of the component has to end.
fn within(component: &Lowered) -> u64 {
    let spans = component.groups.iter().map(|group| group.timing.ends());
    spans.max().map_or(0, |span| span.duration().as_secs())
}

fn run_summary(component: &Lowered) -> String {
    let name = &component.component;
    format!("{name}  run now, beside its schedule; the operation waits for its end")
}

fn restart_summary(component: &Lowered) -> String {
    let name = &component.component;
    let instances: u32 = component.groups.iter().map(|group| group.count.value).sum();
    match instances {
        1 => format!("{name}  restart: the service is down while its instance restarts"),
        many => format!("{name}  restart {many} instances, one after the other"),
    }
}

/// Whether one of these changes has the workspace destroy what nothing brings back.
fn destroys(component: &str, changes: &[Change]) -> bool {
    let mut own = changes.iter().filter(|change| change.component == component);
    own.any(|change| change.layer.is_of_workspace() && change.reversibility == Reversibility::Final)
}

fn expected(component: &Lowered, group: &Group) -> Expected {
    Expected {
        everywhere: matches!(component.shape, Shape::System),
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
    if let Some(first) = group.routes.first() {
        let hosts: Vec<&str> = group.routes.iter().map(|host| host.value.as_str()).collect();
        list.push(("routes", Attribute::of(first, hosts)));
    }
    if let Some(path) = &group.metrics {
        let attribute = match group.is_closed() {
            false => Attribute::of(path, path.value.as_str()),
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
            let times = match (&lowered.shape, group.count.value) {
                (_, 0) | (Shape::Service, _) => format!("{} x", group.count.value),
                (Shape::System, _) => "on every host".to_owned(),
                (Shape::Batch, _) => "once".to_owned(),
                (Shape::Scheduled(schedule), _) => {
                    format!("at {} {}", schedule.cron.value, schedule.zone.value)
                }
            };
            let beyond = beyond_walls(group);
            format!(
                "{times} ({} MHz, {memory}), {ports}{run}{beyond}",
                group.cpu.value
            )
        })
        .collect();
    format!("{}  {}", lowered.component, groups.join("; "))
}

/// What the containers of a group may do beyond their walls, in words.
fn beyond_walls(group: &Group) -> String {
    let containers = group.more.iter().flat_map(|more| {
        let tasks = more.tasks.iter().map(|task| &task.container);
        std::iter::once(&more.container).chain(tasks)
    });
    containers
        .filter(|container| !container.privileges.is_none())
        .map(|container| format!(", with {}", container.privileges.words()))
        .collect()
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
    add_shape(&lowered.shape, &mut list);
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
        add_driver("", &group.driver, &mut add);
        if let Some(more) = &group.more {
            add_more(lowered, group, more, &mut add);
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
            let path = mount.path.value.as_str();
            add(
                format!("mount.{}", mount.volume),
                Attribute::of(&mount.path, path),
            );
        }
    }
    list
}

/// How the job runs, unless it runs for good as most do.
fn add_shape(shape: &Shape, list: &mut BTreeMap<String, Attribute>) {
    let mut say = |name: &str, attribute: Attribute| {
        list.insert(name.to_owned(), attribute);
    };
    let of_recipe = |words: &str| Source::pass("jobs", words);
    match shape {
        Shape::Service => {}
        Shape::System => {
            let why = of_recipe("the recipe runs it on every host");
            say("type", Attribute::new(shape.nomad(), why));
        }
        Shape::Batch => {
            let why = of_recipe("the recipe runs it to its end");
            say("type", Attribute::new(shape.nomad(), why));
        }
        Shape::Scheduled(schedule) => {
            say(
                SCHEDULE,
                Attribute::of(&schedule.cron, schedule.cron.value.as_str()),
            );
            say(
                "zone",
                Attribute::of(&schedule.zone, schedule.zone.value.as_str()),
            );
            if schedule.overlap {
                let why = of_recipe("the recipe lets runs overlap");
                say("overlap", Attribute::new(true, why));
            }
            if let Some(stopped) = &schedule.rests {
                say(RESTS, Attribute::new(true, stopped.clone()));
            }
        }
    }
}

fn add_driver(prefix: &str, driver: &Driver, add: &mut impl FnMut(String, Attribute)) {
    let (name, text) = match driver {
        Driver::Docker { image, .. } => ("image", image),
        Driver::RawExec { command, .. } => ("command", command),
    };
    add(
        format!("{prefix}{name}"),
        Attribute::of(text, text.value.as_str()),
    );
    for (index, arg) in driver.args().iter().enumerate() {
        add(
            format!("{prefix}arg.{index}"),
            Attribute::of(arg, arg.value.as_str()),
        );
    }
}

/// What few services say: of their container, their tasks, and the hosts that they need.
fn add_more(lowered: &Lowered, group: &Group, more: &More, add: &mut impl FnMut(String, Attribute)) {
    add_container("", &more.container, &group.declared, add);
    for task in &more.tasks {
        let prefix = format!("task.{}.", task.name);
        let mut say = |name: &str, value: Value| {
            add(
                format!("{prefix}{name}"),
                Attribute::new(value, task.declared.clone()),
            );
        };
        say(
            "runs",
            format!("{} the start of {}", task.moment.word(), group.name).into(),
        );
        for (name, figure) in [("cpu", task.cpu), ("memory", task.memory)] {
            if let Some(figure) = figure {
                say(name, figure.into());
            }
        }
        add_driver(&prefix, &task.driver, add);
        add_container(&prefix, &task.container, &task.declared, add);
    }
    for (file, path) in &more.paths {
        let attribute = Attribute::new(path.as_str(), group.declared.clone());
        add(format!("path.{file}"), attribute);
    }
    for (index, word) in more.reload.iter().enumerate() {
        add(
            format!("reload.{index}"),
            Attribute::of(word, word.value.as_str()),
        );
    }
    let Some(requires) = &more.requires else {
        return;
    };
    let at = |line: u32| Source::recipe(&lowered.recipe, line);
    for (name, asked) in [("memory", requires.memory), ("disk", requires.disk)] {
        if let Some((bytes, place)) = asked {
            let attribute = Attribute::new(human_size(bytes), at(place.line));
            add(format!("requires.{name}"), attribute);
        }
    }
    if let Some((architecture, place)) = requires.architecture {
        let attribute = Attribute::new(architecture.word(), at(place.line));
        add("requires.architecture".to_owned(), attribute);
    }
}

fn add_container(
    prefix: &str,
    container: &Container,
    declared: &Source,
    add: &mut impl FnMut(String, Attribute),
) {
    for (index, word) in container.entrypoint.iter().enumerate() {
        let attribute = Attribute::of(word, word.value.as_str());
        add(format!("{prefix}entrypoint.{index}"), attribute);
    }
    for (name, text) in [("user", &container.user), ("hostname", &container.hostname)] {
        if let Some(text) = text {
            add(
                format!("{prefix}{name}"),
                Attribute::of(text, text.value.as_str()),
            );
        }
    }
    if let Some(shm) = &container.shm {
        let attribute = Attribute::of(shm, human_size(shm.value));
        add(format!("{prefix}shm"), attribute);
    }
    if container.init {
        add(format!("{prefix}init"), Attribute::new(true, declared.clone()));
    }
    if !container.privileges.is_none() {
        let words = container.privileges.words();
        add(
            format!("{prefix}{PRIVILEGES}"),
            Attribute::new(words, declared.clone()),
        );
    }
}

/// A span of time that the recipe says; the usual ones are no attributes.
fn said_by_recipe(lowered: &Lowered, said: Said) -> Attribute {
    Attribute::new(said.span.to_string(), Source::recipe(&lowered.recipe, said.line))
}
