//! Monitoring: the Prometheus of an environment measures a component and loads alert rules for it, once it is healthy.

use super::{
    Function, Going, Kind, Made as MadePart, Parting, Phase, PhaseStep, Piece, Proof, Request, Slices,
};
use super::{Unmade as UnmadePart, Wanted, job};
use crate::address::{Address, NodeKind};
use crate::canonical::canonical_digest;
use crate::compile::Compilation;
use crate::emit::sha256;
use crate::lowered::{Lowered, Monitor};
use crate::node::{Attribute, Layer, Node, Writer, attributes};
use crate::plan::effects::{Effect, Of, salt};
use crate::plan::{Change, Key, PlanInput, Work};
use crate::recipe::Risk;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KIND: &str = "rules";
const TITLE: &str = "monitor";
/// The part of a component's SLS names that is about its rules.
const PIECE: &str = "monitoring";

/// Salt has the monitor of the environment load the component's rules, and the monitor gets answers from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub minion: String,
    pub digest: String,
}

/// Salt takes the component's rules from a monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unmade {
    pub minion: String,
    /// The component that watched it.
    pub by: String,
}

/// What is proved of a component that a monitor watches no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unwatched {
    pub by: String,
}

impl Request for Made {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Make
    }

    fn facts(&self, _: &str) -> Value {
        json!({"digest": self.digest})
    }

    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool {
        let component = compilation.components.get(key);
        component.is_some_and(|component| digest(component) == self.digest)
    }

    fn is_bound(&self) -> bool {
        false
    }

    fn effects(&self, of: Of<'_>, component: Option<&Lowered>, answer: &Value) -> Vec<Effect> {
        let monitor = component.and_then(|component| component.watched_by.as_ref());
        monitor.map_or_else(Vec::new, |monitor| {
            salt::rules(of, &self.minion, &monitor.directory, answer)
        })
    }

    fn object(&self, place: &str) -> String {
        format!("rules of {place} on {}", self.minion)
    }
}

impl Request for Unmade {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Remove
    }

    fn facts(&self, _: &str) -> Value {
        json!({"monitor": self.by})
    }

    /// The minion refuses to remove rules that its pillar names.
    fn is_served(&self, _: &Key, _: &Compilation) -> bool {
        true
    }

    fn is_bound(&self) -> bool {
        false
    }

    fn object(&self, place: &str) -> String {
        format!("rules of {place} on {}", self.minion)
    }
}

/// Its alert rules as a node: each component that is watched has one.
pub fn address(component: &str) -> Address {
    NodeKind::Rules.at(component)
}

/// The minion compares it with its own slices before it writes the rules: what they are, and where they go.
pub fn digest(component: &Lowered) -> String {
    let mut facts = facts(component);
    facts["at"] = component.watched_by.as_deref().map(monitor_facts).into();
    canonical_digest(&json!({component.workspace(): facts}))
}

/// The components that some monitors watch or watched: their rules follow when a monitor comes or goes.
pub(crate) fn watched_by(
    environment: &str,
    monitors: &[String],
    compilation: &Compilation,
    applied: &BTreeMap<Key, Vec<Node>>,
) -> Vec<String> {
    let wanted = compilation.of_environment(environment).filter(|component| {
        let monitor = component.watched_by.as_ref().map(|monitor| &monitor.component);
        monitor.is_some_and(|monitor| monitors.contains(monitor))
    });
    let was = applied.iter().filter(|((of, _), nodes)| {
        let mut by = nodes.iter().filter_map(|node| node.text("by"));
        of == environment && by.any(|by| monitors.iter().any(|monitor| monitor == by))
    });
    let was = was.map(|((_, name), _)| name.clone());
    wanted
        .map(|component| component.component.clone())
        .chain(was)
        .collect()
}

pub(crate) struct Monitoring;

impl Kind for Monitoring {
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::Rules, NodeKind::Target]
    }

    fn phase(&self) -> Phase {
        Phase::AfterHealthy
    }

    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        let watched = component.watched_by.as_ref().filter(|_| component.runs());
        let Some(monitor) = watched else {
            return Vec::new();
        };
        let targets = component.measured().map(|(group, path)| {
            Node::of(
                component,
                NodeKind::Target.at(&group.service),
                (Layer::Hook, Writer::Terraform),
                format!("{}  target {}, {path}", monitor.component, group.service),
                attributes([("path", Attribute::new(path, group.declared.clone()))]),
                vec![job::service_address(group)],
            )
        });
        let rules = Node::of(
            component,
            address(&component.component),
            (Layer::Hook, Writer::Salt),
            summary(component, monitor),
            rules_attributes(component, monitor),
            job::ends(component),
        );
        targets.chain([rules]).collect()
    }

    /// Targets are found by their registration.
    fn part(&self, node: &Node) -> Option<String> {
        let is_made = node.address.kind == NodeKind::Rules;
        is_made.then(|| format!("{}/{}", node.environment, node.component))
    }

    fn slices<'a>(&self, components: &'a BTreeMap<Key, Lowered>, slices: &mut Slices<'a>) {
        let mut add = |monitor: &'a Monitor, key, component: &Lowered, facts| {
            let of_host = slices.entry(&monitor.host).or_default();
            let named = of_host.entry(key).or_default();
            named.insert(component.workspace(), facts);
        };
        for component in components.values() {
            if let Some(monitor) = component.monitor.as_deref() {
                add(monitor, "monitors", component, monitor_facts(monitor));
            }
            if let Some(monitor) = component.watched_by.as_deref() {
                add(monitor, "monitoring", component, facts(component));
            }
        }
    }

    fn pieces(&self, component: &Lowered) -> Vec<Piece> {
        let name = component.workspace();
        let monitor = component.watched_by.as_deref();
        let piece = monitor.map(|monitor| Piece {
            name: PIECE.to_owned(),
            minion: monitor.host.clone(),
            states: json!({&name: {"eos_prometheus.rules": [{"name": name}]}}),
            digest: digest(component),
            deploys: false,
        });
        piece.into_iter().collect()
    }

    fn recorded(&self, _: &Lowered) -> Vec<String> {
        Vec::new()
    }

    fn files(&self, component: &Lowered) -> Vec<(&'static str, Vec<u8>)> {
        let watched = component.watched_by.iter();
        watched.map(|_| ("rules.json", rules(component))).collect()
    }

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let monitor = wanted.component.watched_by.as_deref();
        let is_other = |watch: &Watch<'_>| monitor.is_none_or(|monitor| monitor.component != watch.by);
        let before = watch(wanted.input, wanted.key).filter(is_other);
        let removed = before.as_ref().map(|watch| watch.ends(wanted.applied_risk));
        // One that can still be measured is still a target of all that measure.
        let unwatched = before.filter(|_| monitor.is_none());
        let made = monitor.map(|monitor| PhaseStep {
            risk: wanted.component.risk,
            work: Work::Make(MadePart::Rules(Made {
                minion: monitor.host.clone(),
                digest: digest(wanted.component),
            })),
        });
        removed
            .into_iter()
            .chain(unwatched.as_ref().map(Watch::is_over))
            .chain(made)
            .collect()
    }

    /// Rules go before what they are about, so that no alert fires for what is meant to be.
    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        let watch = watch(going.input, going.key).filter(|_| going.ran());
        let steps = watch.iter().flat_map(|watch| {
            [
                (Parting::BeforeJob, watch.ends(going.risk)),
                (Parting::AfterJob, watch.is_over()),
            ]
        });
        steps.collect()
    }

    fn leftovers(&self, _: &PlanInput<'_>) -> Vec<(Key, Work)> {
        Vec::new()
    }

    fn waits_for<'c>(&self, component: &'c Lowered) -> Option<&'c str> {
        let monitor = component.watched_by.as_deref()?;
        Some(&monitor.component)
    }

    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    fn remark(&self, _: &mut Change, _: &PlanInput<'_>) {}
}

/// The monitor that watched a component when it was last applied, and the host that has its rules.
struct Watch<'a> {
    by: &'a str,
    host: &'a str,
}

/// Who watched a component, if that monitor stays. One that goes takes its rules along.
fn watch<'a>(input: &PlanInput<'a>, key: &Key) -> Option<Watch<'a>> {
    let address = address(&key.1);
    let mut nodes = input.applied.get(key)?.iter();
    let node = nodes.find(|node| node.address == address)?;
    let (by, host) = (node.text("by")?, node.text("host")?);
    input.compilation.component(&key.0, by)?;
    Some(Watch { by, host })
}

impl Watch<'_> {
    fn ends(&self, risk: Risk) -> PhaseStep {
        PhaseStep {
            risk,
            work: Work::Unmake(UnmadePart::Rules(Unmade {
                minion: self.host.to_owned(),
                by: self.by.to_owned(),
            })),
        }
    }

    fn is_over(&self) -> PhaseStep {
        PhaseStep {
            risk: Risk::Low,
            work: Work::Prove(Proof::Unwatched(Unwatched {
                by: self.by.to_owned(),
            })),
        }
    }
}

fn summary(lowered: &Lowered, monitor: &Monitor) -> String {
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

fn monitor_facts(monitor: &Monitor) -> Value {
    json!({
        "directory": monitor.directory,
        "user": monitor.user,
        "group": monitor.group,
        "port": monitor.port,
    })
}

fn facts(component: &Lowered) -> Value {
    let monitor = component.watched_by.as_ref().map(|monitor| &monitor.component);
    json!({
        "monitor": monitor,
        "rules": sha256(&rules(component)),
        "risk": component.risk.word(),
    })
}

/// As Prometheus reads them: one line an alert, in the JSON that is YAML too.
fn rules(component: &Lowered) -> Vec<u8> {
    let patience = component.patience().map(|patience| patience.value.as_str());
    let alerts = component.alerts().into_iter().map(|alert| {
        let rule = json!({
            "alert": alert.name,
            "expr": alert.expression,
            "for": patience,
            "labels": alert.labels,
            "annotations": {"summary": alert.summary},
        });
        format!("  {rule}")
    });
    let alerts: Vec<String> = alerts.collect();
    let name = Value::from(component.workspace());
    format!(
        "{{\"groups\": [{{\"name\": {name}, \"rules\": [\n{}\n]}}]}}\n",
        alerts.join(",\n")
    )
    .into_bytes()
}
