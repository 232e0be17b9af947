//! Monitoring as data: what can be measured, who watches it, with which rules, and in which steps that comes and goes.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::pillar::Pillar;
use eos_core::plan::{Action, Plan, PlanInput, plan};
use eos_core::profile::Profile;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";
/// Can be measured; is closed in the full profile, where another uses it.
const STORE: &str = "\
recipe: store
summary: A test
version: \"1\"
services:
  store:
    replicas: 1
    program: [eos, serve-hello, --listen, \"{{ listen_address }}\"]
    ports: {http: {}}
    check: {http: /health}
    metrics: /metrics
";
const READER: &str = "\
recipe: reader
summary: A test
version: \"1\"
uses:
  store: {recipe: store, share: true}
services:
  reader:
    replicas: 1
    program: [eos, serve-hello]
    env: {STORE: \"{{ store.address }}\"}
    ports: {http: {}}
";

fn tried(profile: Profile, recipe: &str, components: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let name = recipe.lines().next().unwrap().strip_prefix("recipe: ").unwrap();
    let reader = (name == "store").then_some(("reader", READER));
    let recipes: Vec<(String, Vec<u8>)> = [(name, recipe)]
        .into_iter()
        .chain(reader)
        .map(|(name, text)| (format!("recipes/{name}/recipe.yaml"), text.as_bytes().to_vec()))
        .collect();
    let environment = format!("#!yaml\ncomponents:\n{components}");
    let files = [("common", COMMON), ("production", &environment)].map(|(name, text)| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    });
    compile(&Pillar::read(&files.into())?, &Catalog::load(&recipes)?, profile)
}

fn compiled(profile: Profile, components: &str) -> Compilation {
    tried(profile, STORE, components).unwrap()
}

fn watcher<'c>(compilation: &'c Compilation, name: &str) -> Option<&'c str> {
    let component = compilation.component("production", name).unwrap();
    component
        .watched_by
        .as_ref()
        .map(|monitor| monitor.component.as_str())
}

fn slice(compilation: &Compilation) -> Value {
    let text = &compilation.artifacts["pillar/hosts/control.sls"];
    let text = std::str::from_utf8(text)
        .unwrap()
        .strip_prefix("#!json\n")
        .unwrap();
    serde_json::from_str::<Value>(text).unwrap()["eos"].take()
}

/// The plan for one component that brings an estate of some components to one of others.
fn planned(before: &str, after: &str, component: &str) -> Plan {
    let applied = compiled(Profile::Solo, before).all_nodes();
    plan(PlanInput {
        environment: "production",
        components: Some(&[component.to_owned()]),
        hosts: Some(&[]),
        intent: None,
        compilation: &compiled(Profile::Solo, after),
        applied: &applied,
        unfinished: &BTreeSet::new(),
        observed: None,
        left: None,
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

/// Hooks that change, and the steps of all but the platform, each with the numbers of those it waits for.
fn told(plan: &Plan) -> String {
    let changes = plan.changes.iter().filter(|change| {
        let kind = change.address.kind.word();
        matches!(kind, "target" | "rules")
    });
    let changes = changes.map(|change| {
        let glyph = match change.action {
            Action::Create => '+',
            Action::Change => '~',
            Action::Delete => '-',
        };
        format!("{glyph}{}", change.address)
    });
    let number = |id: &String| id.split('-').next().unwrap().to_owned();
    let steps = plan.steps.iter().filter(|step| step.component != "platform");
    let steps = steps.map(|step| {
        let after: Vec<String> = step.after.iter().map(number).collect();
        format!("{}:{}({})", step.component, step.id, after.join(","))
    });
    format!(
        "{} | {}",
        changes.collect::<Vec<_>>().join(" "),
        steps.collect::<Vec<_>>().join(" ")
    )
}

#[test]
fn the_monitor_of_an_environment_watches_what_can_be_measured() {
    let there = compiled(
        Profile::Solo,
        "  hello: {}\n  redis: {}\n  aaa: {recipe: prometheus, options: {port: 9091}}\n",
    );
    assert_eq!(watcher(&there, "hello"), Some("aaa"));
    assert_eq!(watcher(&there, "aaa"), Some("aaa"));
    assert_eq!(watcher(&there, "redis"), None);
    // Of several, the one that has the recipe's name has the rules.
    let two = compiled(
        Profile::Solo,
        "  hello: {}\n  aaa: {recipe: prometheus, options: {port: 9091}}\n  prometheus: {}\n",
    );
    assert_eq!(watcher(&two, "hello"), Some("prometheus"));
    assert_eq!(watcher(&compiled(Profile::Solo, "  hello: {}\n"), "hello"), None);
}

#[test]
fn rules_are_data_that_the_minion_of_the_monitor_is_given() {
    let there = compiled(
        Profile::Solo,
        "  hello: {options: {replicas: 2}}\n  prometheus: {options: {alert_after: 90s, port: 9099}}\n",
    );
    let rules: Value =
        serde_json::from_slice(&there.artifacts["salt/components/hello/production/rules.json"]).unwrap();
    let group = &rules["groups"][0];
    assert_eq!(group["name"], "production/hello");
    let expressions: Vec<&str> = group["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["expr"].as_str().unwrap())
        .collect();
    assert_eq!(
        expressions,
        [
            "up{component=\"hello\",environment=\"production\"} == 0",
            "(count(up{environment=\"production\",service=\"hello\"} == 1) or vector(0)) < 2"
        ]
    );
    assert!(group["rules"].as_array().unwrap().iter().all(|rule| {
        rule["for"] == "1m30s"
            && rule["labels"]["severity"] == "critical"
            && rule["annotations"]["summary"] != ""
    }));
    let slice = slice(&there);
    assert_eq!(slice["monitoring"]["production/hello"]["monitor"], "prometheus");
    assert_eq!(
        slice["monitors"]["production/prometheus"],
        json!({"directory": "/opt/prometheus/data/eos-rules", "user": "65534", "group": "65534", "port": 9099})
    );
    let waves: Value = serde_json::from_slice(&there.artifacts["salt/orchestrate/waves.json"]).unwrap();
    let last = waves["waves"].as_array().unwrap().last().unwrap();
    assert_eq!(last[0]["sls"], "components.hello.production.monitoring");
    // Without a monitor there is nothing of all that, but for what the service says of itself.
    let alone = compiled(Profile::Solo, "  hello: {}\n");
    assert!(!alone.artifacts.keys().any(|path| path.contains("rules")));
    let job = |compilation: &Compilation| {
        let mut jobs = compilation.artifacts.iter();
        let job = jobs.find(|(path, _)| path.ends_with("hello.nomad.hcl")).unwrap();
        String::from_utf8(job.1.clone()).unwrap()
    };
    assert_eq!(job(&alone), job(&there));
    assert!(job(&alone).contains("\"eos-component=hello\""));
}

#[test]
fn hooks_come_when_both_are_healthy_and_rules_go_before_what_they_are_about() {
    const BOTH: &str = "  hello: {}\n  prometheus: {}\n";
    let cases = [
        // A component in an environment that has a monitor.
        (
            "  prometheus: {}\n",
            BOTH,
            "hello",
            "+target/hello +rules/hello | hello:2-terraform(1) hello:3-healthy(2) hello:4-monitor(3)",
        ),
        // A monitor where there is something to be watched: that is not made anew.
        (
            "  hello: {}\n",
            BOTH,
            "prometheus",
            "+target/hello +rules/hello +target/prometheus +rules/prometheus | prometheus:2-volume(1) \
             prometheus:3-terraform(2) prometheus:4-healthy(3) hello:5-monitor(4) prometheus:6-monitor(4)",
        ),
        (
            BOTH,
            "  prometheus: {}\n",
            "hello",
            "-target/hello -rules/hello | hello:2-monitor(1) hello:3-terraform(2) hello:4-gone(3) hello:5-monitor(4)",
        ),
        // The monitor goes: nobody is left to be told anything.
        (
            BOTH,
            "  hello: {}\n",
            "prometheus",
            "-target/hello -rules/hello -target/prometheus -rules/prometheus | prometheus:2-terraform(1) \
             prometheus:3-gone(2)",
        ),
        // More patience is no reason to touch what is watched.
        (
            BOTH,
            "  hello: {}\n  prometheus: {options: {alert_after: 5m}}\n",
            "prometheus",
            "~rules/hello ~rules/prometheus | hello:2-monitor(1) prometheus:3-monitor(1)",
        ),
        // Another monitor has the rules from here on; a target is one for all.
        (
            "  hello: {}\n  aaa: {recipe: prometheus, options: {port: 9091}}\n",
            "  hello: {}\n  aaa: {recipe: prometheus, options: {port: 9091}}\n  prometheus: {}\n",
            "prometheus",
            "~rules/aaa ~rules/hello +target/prometheus +rules/prometheus | \
             prometheus:2-volume(1) prometheus:3-terraform(2) prometheus:4-healthy(3) aaa:5-monitor(4) \
             aaa:6-monitor(5) hello:7-monitor(4) hello:8-monitor(7) prometheus:9-monitor(4)",
        ),
    ];
    for (before, after, component, expected) in cases {
        let plan = planned(before, after, component);
        assert_eq!(told(&plan), expected, "{before:?} to {after:?}");
    }
    let plan = planned(BOTH, "  hello: {}\n", "prometheus");
    let touched: Vec<String> = plan.touched().into_iter().map(|(_, name)| name).collect();
    assert_eq!(
        touched,
        ["hello", "prometheus"],
        "Eos records hello again, though no step of it makes anything"
    );
}

#[test]
fn what_the_mesh_closes_is_not_measured_and_says_why() {
    const COMPONENTS: &str = "  store: {}\n  reader: {}\n  prometheus: {}\n";
    assert_eq!(
        watcher(&compiled(Profile::Solo, COMPONENTS), "store"),
        Some("prometheus")
    );
    let full = compiled(Profile::Full, COMPONENTS);
    assert_eq!(watcher(&full, "store"), None);
    let nodes = full.nodes(&("production".to_owned(), "store".to_owned()));
    let service = nodes
        .iter()
        .find(|node| node.address.to_string() == "service/store")
        .unwrap();
    assert_eq!(service.text("metrics"), Some("none"));
    let job = full
        .artifacts
        .iter()
        .find(|(path, _)| path.ends_with("store.nomad.hcl"))
        .unwrap();
    assert!(!String::from_utf8_lossy(job.1).contains("eos-measured"));
}

#[test]
fn recipes_that_cannot_be_measured_or_watch_are_refused() {
    let store = |from: &str, to: &str| STORE.replace(from, to);
    let monitor = "recipe: watch\nsummary: A test\nversion: \"1\"\nmonitor: {rules: data, patience: 1m}\nneeds:\n  \
                   data: {volume: {purpose: application, size: 1G, path: /opt/watch}}\nservices:\n  watch:\n    \
                   instances: one\n    image: watch\n    ports: {http: {static: 9090}}\n    files: {targets: \"{{ measured }}\"}\n";
    tried(Profile::Solo, monitor, "  watch: {}\n").unwrap();
    let cases = [
        (store("/metrics", "metrics"), "metrics cannot be at \"metrics\""),
        (store("/metrics", "/a,b"), "metrics cannot be at \"/a,b\""),
        (
            store("    ports: {http: {}}\n    check: {http: /health}\n", ""),
            "has metrics but no port",
        ),
        (
            store("metrics: /metrics", "files: {x: \"{{ measured }}\"}"),
            "Unknown name \"measured\"",
        ),
        (
            monitor.replace("rules: data", "rules: other"),
            "cannot lie in \"other\"",
        ),
        (monitor.replace("static: 9090", ""), "must be a static one"),
        (
            monitor.replace(", patience: 1m", ""),
            "names the volume of its rules",
        ),
        (monitor.replace("files:", "env:"), "Unknown name \"measured\""),
    ];
    for (recipe, expected) in cases {
        let found = tried(Profile::Solo, &recipe, "  hello: {}\n")
            .map(|_| ())
            .unwrap_err();
        assert!(
            found.iter().any(|found| found.message.contains(expected)),
            "{expected}: {found:?}"
        );
    }
}
