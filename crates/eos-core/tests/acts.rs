//! Stopping, starting and restarting a component: what the pillar says then, what is compiled, and what a plan does.

use eos_core::address::NodeKind;
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::intent::{Intent, Options, Sentence, edit};
use eos_core::kinds::{Acted, Deed, Proof};
use eos_core::node::Node;
use eos_core::pillar::{Pillar, PillarFiles, Words};
use eos_core::plan::{Plan, PlanInput, Work, earlier, plan};
use eos_core::profile::Profile;
use eos_core::recipe::Risk;
use eos_core::undo::undo;
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml
hosts:
  control: {address: 127.0.0.1, roles: [client, control]}
  node1: {address: 127.0.0.2, roles: [client]}
  node2: {address: 127.0.0.3, roles: [client]}
";

fn files(production: &str) -> PillarFiles {
    let production = format!("#!yaml\ncomponents:\n{production}");
    let texts = [("common", COMMON), ("production", production.as_str())];
    let file = |(name, text): (&str, &str)| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    };
    texts.into_iter().map(file).collect()
}

fn catalog() -> Catalog {
    Catalog::load(&[]).unwrap()
}

fn compiled(files: &PillarFiles, profile: Profile) -> Compilation {
    compile(&Pillar::read(files).unwrap(), &catalog(), profile).unwrap()
}

fn said(who: &str, sentence: Sentence) -> Intent {
    Intent {
        sentence,
        said: Words {
            words: "eos".to_owned(),
            who: who.to_owned(),
            when: "2026-11-18T11:00:00Z".to_owned(),
        },
    }
}

fn stopping(component: &str) -> Intent {
    let (environment, component) = ("production".to_owned(), component.to_owned());
    said(
        "ada",
        Sentence::StopComponent {
            environment,
            component,
        },
    )
}

fn starting(component: &str) -> Intent {
    let (environment, component) = ("production".to_owned(), component.to_owned());
    said(
        "bob",
        Sentence::StartComponent {
            environment,
            component,
        },
    )
}

fn restarting(component: &str) -> Intent {
    said(
        "ada",
        Sentence::Act {
            environment: "production".to_owned(),
            component: component.to_owned(),
            deed: Deed::Restart,
        },
    )
}

fn edited(files: &PillarFiles, intent: &Intent) -> PillarFiles {
    edit(files, &catalog(), intent).unwrap()
}

fn refused(files: &PillarFiles, intent: &Intent) -> String {
    edit(files, &catalog(), intent).unwrap_err().remove(0).message
}

/// The plan from `before`, applied, to `after`.
fn planned(before: &PillarFiles, after: &PillarFiles, component: &str, intent: Option<Intent>) -> Plan {
    let (applied, compilation) = (
        compiled(before, Profile::Solo).all_nodes(),
        compiled(after, Profile::Solo),
    );
    plan(PlanInput {
        environment: "production",
        components: Some(&[component.to_owned()]),
        hosts: Some(&[]),
        intent,
        compilation: &compilation,
        applied: &applied,
        unfinished: &BTreeSet::new(),
        observed: None,
        left: None,
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

fn titles(plan: &Plan) -> Vec<&'static str> {
    plan.steps.iter().map(|step| step.work.title()).collect()
}

#[test]
fn a_restart_is_an_act_that_changes_nothing() {
    let before = files("  web: {recipe: hello}\n  redis: {recipe: redis}\n");
    let intent = restarting("redis");
    let after = edited(&before, &intent);
    let release = |files| compiled(files, Profile::Solo).release;
    assert_eq!(
        release(&before),
        release(&after),
        "only the record of the intent changes"
    );
    let plan = planned(&before, &after, "redis", Some(intent));
    assert!(plan.changes.is_empty() && !plan.is_nothing());
    let [act] = plan.acts.as_slice() else {
        panic!("{:?}", plan.acts)
    };
    assert_eq!((act.deed, act.component.as_str()), (Deed::Restart, "redis"));
    assert_eq!(plan.only_act(), Some(act));
    assert_eq!(titles(&plan), ["deliver", "restart", "healthy"]);
    assert_eq!(plan.steps[2].after, [plan.steps[1].id.clone()]);
    // Held to the component's own tier, and nobody else may work on it meanwhile.
    assert_eq!(plan.risk(), Risk::Medium);
    let redis = ("production".to_owned(), "redis".to_owned());
    assert!(plan.locked().contains(&redis));
    let Work::Act(Acted::Job(restarted)) = &plan.steps[1].work else {
        panic!("{:?}", plan.steps[1])
    };
    assert_eq!(restarted.groups.len(), 1);
    assert!(plan.steps[1].work.is_final());
    let text = serde_json::to_value(&plan).unwrap();
    assert_eq!(earlier::read(text).unwrap(), plan);
    // Asked for without the intent there is nothing to do.
    assert!(planned(&before, &after, "redis", None).is_nothing());
}

#[test]
fn a_stopped_component_keeps_all_but_its_instances_and_starts_as_it_was() {
    for profile in [Profile::Solo, Profile::Full] {
        for recipe in catalog().iter() {
            let name = recipe.name.as_str();
            let before = files(&format!("  {name}: {{recipe: {name}}}\n"));
            holds(name, &before, profile);
        }
    }
}

fn holds(name: &str, before: &PillarFiles, profile: Profile) {
    let running = &compiled(before, profile);
    let key = ("production".to_owned(), name.to_owned());
    let stopped_files = edited(before, &stopping(name));
    let stopped = compiled(&stopped_files, profile);
    assert!(stopped.components[&key].is_stopped(), "{name}");
    let others = |compilation: &Compilation| -> Vec<(String, Vec<String>)> {
        let nodes = compilation.nodes(&key).into_iter();
        let nodes = nodes.filter(|node| !matches!(node.address.kind, NodeKind::Job | NodeKind::Rules));
        nodes
            .map(|node: Node| {
                let values = node.attributes.into_iter();
                let values = values.map(|(name, one)| format!("{name}={}", one.value));
                (node.address.to_string(), values.collect())
            })
            .collect()
    };
    assert_eq!(others(running), others(&stopped), "{name}");
    // A second stop, and the same plan again, do nothing.
    assert_eq!(edited(&stopped_files, &stopping(name)), stopped_files);
    assert!(planned(&stopped_files, &stopped_files, name, None).is_nothing());
    let started_files = edited(&stopped_files, &starting(name));
    let started = compiled(&started_files, profile);
    assert_eq!(started.release, running.release, "{name}");
    assert_eq!(
        edited(before, &starting(name)),
        *before,
        "{name}: it was not stopped"
    );
    let undone = undo(&stopped_files, before, &stopped_files).unwrap();
    assert_eq!(undone, *before);
}

#[test]
fn the_proof_of_a_stop_is_that_nothing_runs() {
    let before = files("  web: {recipe: hello, options: {replicas: 2}}\n");
    let after = edited(&before, &stopping("web"));
    let stop = planned(&before, &after, "web", Some(stopping("web")));
    assert_eq!(titles(&stop), ["deliver", "terraform", "stopped"]);
    assert!(stop.acts.is_empty() && stop.points_of_no_return().next().is_none());
    let Work::Prove(Proof::Stopped(proof)) = &stop.steps[2].work else {
        panic!("{:?}", stop.steps[2])
    };
    assert_eq!(proof.services, ["web"]);
    let note = stop.changes[0].note.as_deref();
    assert_eq!(note, Some("nothing of it runs until `eos start web`"));
    let start = planned(&after, &before, "web", Some(starting("web")));
    assert_eq!(titles(&start), ["deliver", "terraform", "healthy"]);
    assert_eq!(start.changes[0].note, None);
}

#[test]
fn a_plan_says_who_uses_what_stops() {
    let before = files("  mattermost: {recipe: mattermost}\n");
    let intent = stopping("mattermost-database");
    let after = edited(&before, &intent);
    let plan = planned(&before, &after, "mattermost-database", Some(intent));
    let [change] = plan.changes.as_slice() else {
        panic!("{:?}", plan.changes)
    };
    let note = change.note.as_deref().unwrap();
    assert!(
        note.ends_with("mattermost uses it and stays without it"),
        "{note}"
    );
    // The way back leaves no entry of its own for what mattermost implies.
    assert_eq!(undo(&after, &before, &after).unwrap(), before);
}

#[test]
fn an_update_leaves_it_stopped_and_the_pillar_keeps_who_did_so() {
    let stopped = edited(&files("  web: {recipe: hello}\n"), &stopping("web"));
    let sentence = Sentence::UpdateComponent {
        environment: "production".to_owned(),
        component: "web".to_owned(),
        options: Options::from([("replicas".to_owned(), 2.into())]),
        upgrade: true,
    };
    let updated = edited(&stopped, &said("eve", sentence));
    let pillar = Pillar::read(&updated).unwrap();
    let web = pillar.component("production", "web").unwrap();
    let by = web.stopped.as_ref().and_then(|stopped| stopped.by.as_ref());
    assert_eq!(by.map(|by| by.who.as_str()), Some("ada"));
    assert_eq!(web.intent.as_ref().map(|intent| intent.who.as_str()), Some("eve"));
    let plan = planned(&stopped, &updated, "web", None);
    let proofs = plan.steps.iter().filter(|step| step.work.title() == "healthy");
    assert_eq!(proofs.count(), 0, "{:?}", titles(&plan));
    let by_hand = files("  web: {recipe: hello, stopped: true}\n");
    assert_eq!(
        compiled(&by_hand, Profile::Solo).nodes(&web_key())[0].attributes["group.count"].value,
        0
    );
    let not = files("  web: {recipe: hello, stopped: false}\n");
    let never = files("  web: {recipe: hello}\n");
    assert_eq!(
        compiled(&not, Profile::Solo).release,
        compiled(&never, Profile::Solo).release
    );
}

fn web_key() -> (String, String) {
    ("production".to_owned(), "web".to_owned())
}

#[test]
fn no_alert_waits_for_what_is_stopped() {
    let text = "  prometheus: {recipe: prometheus}\n  web: {recipe: hello}\n";
    let before = files(text);
    let after = edited(&before, &stopping("web"));
    let alerts = |files| -> Vec<&str> {
        let alerts = compiled(files, Profile::Solo).components[&web_key()].alerts();
        alerts.iter().map(|alert| alert.name).collect()
    };
    assert_eq!(alerts(&before), ["InstanceDown", "InstanceMissing"]);
    assert_eq!(alerts(&after), ["InstanceDown"]);
}

#[test]
fn what_has_no_job_or_is_stopped_is_refused() {
    let before = files("  web: {recipe: hello}\n");
    let stopped = edited(&before, &stopping("web"));
    assert_eq!(
        refused(&stopped, &restarting("web")),
        "web is stopped: nothing of it runs"
    );
    for intent in [stopping("wbe"), starting("wbe"), restarting("wbe")] {
        assert_eq!(
            refused(&before, &intent),
            "There is no component \"wbe\" in production"
        );
    }
    let recipe =
        b"recipe: box\nsummary: A test\nversion: \"1\"\nservices:\n  box: {program: [eos], when: false}\n";
    let own = [("recipes/box/recipe.yaml".to_owned(), recipe.to_vec())];
    let catalog = Catalog::load(&own).unwrap();
    let jobless = files("  box: {recipe: box}\n");
    for (intent, to_do) in [
        (stopping("box"), "stop"),
        (starting("box"), "start"),
        (restarting("box"), "restart"),
    ] {
        let found = edit(&jobless, &catalog, &intent).unwrap_err();
        assert_eq!(
            found[0].message,
            format!("box has no job: there is nothing to {to_do}")
        );
        assert!(found[0].hint.is_some());
    }
}

#[test]
fn a_job_of_what_another_has_for_its_own_use_is_restarted() {
    let recipe = |name: &str, more: &str| {
        let text = format!(
            "recipe: {name}\nsummary: x\nversion: \"1\"\n{more}services:\n  {name}:\n    instances: one\n    program: [eos]\n  late:\n    after: [{name}]\n    instances: one\n    program: [eos]\n"
        );
        (format!("recipes/{name}/recipe.yaml"), text.into_bytes())
    };
    let recipes = [
        recipe("shop", "uses: {store: {recipe: store}}\n"),
        recipe("store", ""),
    ];
    let catalog = Catalog::load(&recipes).unwrap();
    let before = files("  shop: {recipe: shop}\n");
    for (job, owner) in [("shop-store-late", "shop-store"), ("shop-late", "shop")] {
        let after = edit(&before, &catalog, &restarting(job)).unwrap();
        let pillar = Pillar::read(&after).unwrap();
        let owner = pillar.component("production", owner).unwrap();
        assert_eq!(owner.intent.as_ref().unwrap().who, "ada", "{job}");
        compile(&pillar, &catalog, Profile::Solo).unwrap();
    }
    let stopped = edit(&before, &catalog, &stopping("shop-store-late")).unwrap_err();
    assert_eq!(
        stopped[0].message,
        "shop-store-late is a job of shop-store, and stops and starts with it"
    );
}

#[test]
fn a_refused_restart_names_the_job_that_can_be() {
    let text = "recipe: two\nsummary: x\nversion: \"1\"\nservices:\n  two:\n    type: batch\n    instances: one\n    program: [eos]\n  a:\n    after: [two]\n    instances: one\n    program: [eos]\n";
    let recipes = [("recipes/two/recipe.yaml".to_owned(), text.as_bytes().to_vec())];
    let catalog = Catalog::load(&recipes).unwrap();
    let before = files("  two: {recipe: two}\n");
    let refused = edit(&before, &catalog, &restarting("two")).unwrap_err();
    let hint = refused[0].hint.as_deref().unwrap();
    assert!(hint.contains("`eos restart two-a`"), "{hint}");
    // What says that it is stopped names the component that can be started.
    let stopped = edit(&before, &catalog, &stopping("two")).unwrap();
    let pillar = Pillar::read(&stopped).unwrap();
    let compilation = compile(&pillar, &catalog, Profile::Solo).unwrap();
    assert_eq!(
        compilation.component("production", "two-a").unwrap().spoken_of(),
        "two"
    );
}
