//! What a monitor is given of the components it watches: a file of alert rules each, which Salt puts beside its data.

use super::salt::{Call, sls};
use super::{Artifacts, json_lines, sha256};
use crate::canonical::canonical_digest;
use crate::compose::Key;
use crate::lowered::{Lowered, Monitor};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The part of a component's SLS names that is about its rules.
const PIECE: &str = "monitoring";

/// What a step runs to have the rules of a component loaded.
pub fn rules_sls(component: &Lowered) -> String {
    sls(&component.component, &component.environment, PIECE)
}

/// What the minion compares with the facts it is given, before it writes the component's rules: what they are, and
/// where they go.
pub fn rules_digest(component: &Lowered) -> String {
    let mut facts = facts(component);
    facts["at"] = component.watched_by.as_deref().map(monitor_facts).into();
    canonical_digest(&json!({component.workspace(): facts}))
}

/// The monitors of one host, and the components that they watch, as its pillar names them.
type Watching = (Map<String, Value>, Map<String, Value>);

/// Host -> what it watches.
pub(super) fn slices(components: &BTreeMap<Key, Lowered>) -> BTreeMap<&str, Watching> {
    let mut hosts: BTreeMap<&str, Watching> = BTreeMap::new();
    for component in components.values() {
        if let Some(monitor) = &component.monitor {
            let (monitors, _) = hosts.entry(&monitor.host).or_default();
            monitors.insert(component.workspace(), monitor_facts(monitor));
        }
    }
    for (component, monitor) in watched(components) {
        // Its monitor is a component too, and was met before.
        if let Some((_, rules)) = hosts.get_mut(monitor.host.as_str()) {
            rules.insert(component.workspace(), facts(component));
        }
    }
    hosts
}

/// The rules of each component that is watched, and the SLS that has them loaded.
pub(super) fn emit(components: &BTreeMap<Key, Lowered>, artifacts: &mut Artifacts) {
    for (component, _) in watched(components) {
        let folder = format!(
            "salt/components/{}/{}",
            component.component, component.environment
        );
        let name = component.workspace();
        let states = json!({&name: {"eos_prometheus.rules": [{"name": name}]}});
        artifacts.insert(format!("{folder}/{PIECE}.sls"), json_lines("#!json\n", &states));
        artifacts.insert(format!("{folder}/rules.json"), rules(component));
    }
}

/// What comes last of all: what watches is healthy by then, and what is watched too.
pub(super) fn wave(components: &BTreeMap<Key, Lowered>) -> Vec<Call<'_>> {
    watched(components)
        .map(|(component, monitor)| Call {
            minion: &monitor.host,
            sls: rules_sls(component),
            digest: rules_digest(component).into(),
        })
        .collect()
}

fn watched(components: &BTreeMap<Key, Lowered>) -> impl Iterator<Item = (&Lowered, &Monitor)> {
    components
        .values()
        .filter_map(|component| Some((component, component.watched_by.as_deref()?)))
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
