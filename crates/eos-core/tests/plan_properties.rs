//! What holds of every plan, over estates put together at random: planned again it is empty, its steps and changes belong
//! together, its order is an order, and the way back undoes the way there.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::node::{Layer, Node};
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::plan::{Action, Change, Key, Plan, PlanInput, Work, plan};
use eos_core::profile::Profile;
use eos_core::scope::Scope;
use eos_core::undo::undo;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n  \
    node1:\n    address: 127.0.0.2\n    roles: [client]\n  node2:\n    address: 127.0.0.3\n    roles: [client]\n";

/// Hosts beside those that volumes lie on: an estate has one of the texts, or leaves the host out. One has the name of a
/// component.
const HOSTS: &[(&str, &[&str])] = &[
    (
        "node3",
        &["{address: 127.0.0.4}", "{address: 127.0.0.5, roles: [storage]}"],
    ),
    ("hello", &["{address: 127.0.0.6, roles: [client]}"]),
];

/// Name, recipe and the options that a component may have: an estate has one of them, or leaves the component out.
const COMPONENTS: &[(&str, &str, &[&str])] = &[
    ("hello", "hello", &["{}", "{greeting: Hi}", "{replicas: 2}"]),
    ("second", "hello", &["{}", "{memory: 128}"]),
    (
        "board",
        "grafana",
        &["{}", "{port: 3001}", "{domain: board.example.org}"],
    ),
    (
        "chat",
        "mattermost",
        &["{}", "{database: shared}", "{domain: chat.example.org}"],
    ),
    (
        "shared",
        "postgres",
        &["{database: mattermost, user: mattermost}", "{port: 5432}"],
    ),
    ("cache", "redis", &["{}", "{max_memory: 64M}"]),
    (
        "metrics",
        "prometheus",
        &["{}", "{alerting: true}", "{alert_after: 5m}"],
    ),
    ("door", "hecate-proxy", &["{}", "{tls: internal}"]),
    ("build", "jenkins", &["{}", "{replicas: 2}"]),
];
const VOLUMES: &[(&str, &[&str])] = &[
    (
        "archive",
        &["{host: node1, size: 10G}", "{host: node1, size: 20G}"],
    ),
    ("spool", &["{host: node2, size: 5G, mount: /srv/spool}"]),
];

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::load(&[]).expect("the built-in recipes"));

/// The texts of `common.sls` and `production.sls`.
type Texts = (String, String);

fn estates() -> impl Strategy<Value = Texts> {
    (hosts(), environments())
}

fn hosts() -> impl Strategy<Value = String> {
    let hosts: Vec<_> = HOSTS.iter().map(|(_, texts)| 0..=texts.len()).collect();
    hosts.prop_map(|hosts| {
        let chosen = HOSTS.iter().zip(hosts);
        let chosen = chosen.filter_map(|((name, texts), chosen)| {
            let facts = chosen.checked_sub(1).map(|index| texts[index])?;
            Some(format!("  {name}: {facts}\n"))
        });
        COMMON.to_owned() + &chosen.collect::<String>()
    })
}

/// An environment by its choices: nothing, or one of the texts of each component and volume.
fn environments() -> impl Strategy<Value = String> {
    let components: Vec<_> = COMPONENTS.iter().map(|(.., texts)| 0..=texts.len()).collect();
    let volumes: Vec<_> = VOLUMES.iter().map(|(_, texts)| 0..=texts.len()).collect();
    (components, volumes).prop_map(|(components, volumes)| {
        let mut text = "#!yaml\ncomponents:\n".to_owned();
        for ((name, recipe, texts), chosen) in COMPONENTS.iter().zip(components) {
            if let Some(options) = chosen.checked_sub(1).map(|index| texts[index]) {
                text.push_str(&format!(
                    "  {name}:\n    recipe: {recipe}\n    options: {options}\n"
                ));
            }
        }
        text.push_str("volumes:\n");
        for ((name, texts), chosen) in VOLUMES.iter().zip(volumes) {
            if let Some(facts) = chosen.checked_sub(1).map(|index| texts[index]) {
                text.push_str(&format!("  {name}: {facts}\n"));
            }
        }
        let text = text.replace("components:\nvolumes", "components: {}\nvolumes");
        text.strip_suffix("volumes:\n").unwrap_or(&text).to_owned()
    })
}

fn files((common, production): &Texts) -> PillarFiles {
    let file = |name: &str, text: &str| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    };
    [file("common", common), file("production", production)].into()
}

/// Those that compile: what one estate uses another may lack.
fn compiled(estate: &Texts) -> Option<Compilation> {
    let pillar = Pillar::read(&files(estate)).expect("a pillar");
    compile(&pillar, &CATALOG, Profile::Solo).ok()
}

/// All that is applied once an estate is: components and hosts.
fn all(compilation: &Compilation) -> BTreeMap<Key, Vec<Node>> {
    let mut all = compilation.all_nodes();
    for name in compilation.hosts.keys() {
        let key = Scope::Estate.key(name);
        all.insert(key.clone(), compilation.nodes(&key));
    }
    all
}

fn planned(applied: &BTreeMap<Key, Vec<Node>>, compilation: &Compilation) -> Plan {
    plan(PlanInput {
        environment: "production",
        components: None,
        hosts: None,
        intent: None,
        compilation,
        applied,
        unfinished: &BTreeSet::new(),
        observed: None,
        left: None,
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

fn addresses(plan: &Plan, action: Action) -> BTreeSet<(String, String)> {
    let changes = plan.changes.iter().filter(|change| change.action == action);
    changes
        .map(|change| (change.component.clone(), change.address.to_string()))
        .collect()
}

proptest! {
    // A case that fails prints its estates: keep it as a test of its own.
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_of_what_was_applied_is_empty(estate in estates()) {
        let Some(compilation) = compiled(&estate) else { return Ok(()) };
        let again = planned(&all(&compilation), &compilation);
        prop_assert!(again.changes.is_empty(), "{:?}", again.changes);
        prop_assert!(again.steps.is_empty(), "{:?}", again.steps);
    }

    #[test]
    fn every_change_has_a_step_and_every_step_a_change(before in estates(), after in estates()) {
        let (Some(before), Some(after)) = (compiled(&before), compiled(&after)) else { return Ok(()) };
        let plan = planned(&all(&before), &after);
        // What a monitor watched is watched no longer once the monitor is gone: nobody is left to be asked.
        let has_monitor = after.components.values().any(|component| component.monitor.is_some());
        let goes_with_another = |change: &Change| change.layer == Layer::Hook && !has_monitor;
        let own = plan.changes.iter().filter(|change| !goes_with_another(change));
        let changed: BTreeSet<Key> = own.map(|change| change.key()).collect();
        // A host that goes has the delivery for a step: its slice is in the release no longer.
        let leaves = |key: &Key| Scope::of(key) == Scope::Estate && after.nodes(key).is_empty();
        let changed: BTreeSet<Key> = changed.into_iter().filter(|key| !leaves(key)).collect();
        let steps = plan.steps.iter().filter(|step| step.work != Work::Deliver);
        let stepped: BTreeSet<Key> = steps.map(|step| step.key()).collect();
        prop_assert_eq!(&changed, &stepped);
        prop_assert_eq!(plan.steps.is_empty(), plan.changes.is_empty());
        prop_assert_eq!(plan.locked().difference(&plan.touched()).count(), 0);
    }

    #[test]
    fn a_step_waits_for_earlier_steps_and_for_all_that_its_component_uses(before in estates(), after in estates()) {
        let (Some(before), Some(after)) = (compiled(&before), compiled(&after)) else { return Ok(()) };
        let plan = planned(&all(&before), &after);
        // Of each step all that come before it, however long the way.
        let mut waited: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for step in &plan.steps {
            let mut all = BTreeSet::new();
            for earlier in &step.after {
                let known = waited.get(earlier.as_str());
                prop_assert!(known.is_some(), "{} waits for {earlier}, which is no earlier step", step.id);
                all.extend(known.into_iter().flatten().copied());
                all.insert(earlier.as_str());
            }
            prop_assert!(waited.insert(&step.id, all).is_none(), "{} is there twice", step.id);
        }
        let healthy: Vec<_> = plan.steps.iter().filter(|step| step.work.title() == "healthy").collect();
        let applied = plan.steps.iter().filter(|step| step.work.is_workspace());
        for step in applied {
            let Some(component) = after.component(&step.environment, &step.component) else { continue };
            for used in component.uses.values() {
                for proof in healthy.iter().filter(|proof| proof.component == *used) {
                    let waits = waited[step.id.as_str()].contains(proof.id.as_str());
                    prop_assert!(waits, "{} does not wait for {}", step.id, proof.id);
                }
            }
        }
    }

    #[test]
    fn the_way_back_takes_back_what_the_way_there_did(before in estates(), after in estates()) {
        let (Some(one), Some(other)) = (compiled(&before), compiled(&after)) else { return Ok(()) };
        let there = planned(&all(&one), &other);
        let back = planned(&all(&other), &one);
        prop_assert_eq!(addresses(&there, Action::Create), addresses(&back, Action::Delete));
        prop_assert_eq!(addresses(&there, Action::Delete), addresses(&back, Action::Create));
        prop_assert_eq!(addresses(&there, Action::Change), addresses(&back, Action::Change));
        let (before, after) = (files(&before), files(&after));
        prop_assert_eq!(undo(&after, &before, &after).expect("nothing came between"), before);
    }

    #[test]
    fn a_host_is_proved_after_the_delivery_and_before_anything_is_made(before in estates(), after in estates()) {
        let (Some(before), Some(after)) = (compiled(&before), compiled(&after)) else { return Ok(()) };
        let plan = planned(&all(&before), &after);
        let proofs: BTreeSet<&String> = plan
            .steps
            .iter()
            .filter(|step| step.work.title() == "host")
            .map(|step| &step.id)
            .collect();
        for step in plan.steps.iter().filter(|step| proofs.contains(&step.id)) {
            prop_assert_eq!(&step.after, &["1-deliver".to_owned()]);
        }
        for step in plan.steps.iter().filter(|step| step.work.changes()) {
            let waits_for_delivery = step.after.iter().any(|id| id == "1-deliver");
            prop_assert!(proofs.is_empty() || !waits_for_delivery, "{} waits for no host", step.id);
        }
    }

    #[test]
    fn a_plan_is_the_same_plan_after_a_file(before in estates(), after in estates()) {
        let (Some(before), Some(after)) = (compiled(&before), compiled(&after)) else { return Ok(()) };
        let plan = planned(&all(&before), &after);
        let text = serde_json::to_string(&plan).expect("JSON");
        let again: Plan = serde_json::from_str(&text).expect("a plan");
        prop_assert_eq!(plan.hash(), again.hash());
        prop_assert_eq!(plan, again);
    }
}

/// Estates that never compile would make all of the above hold.
#[test]
fn many_estates_compile() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let drawn: Vec<Texts> = (0..40)
        .map(|_| estates().new_tree(&mut runner).expect("an estate").current())
        .collect();
    let good = drawn.iter().filter(|estate| compiled(estate).is_some()).count();
    assert!(good >= 15, "{good} of {} compile", drawn.len());
}
