//! What engines answered when they were asked about a plan, read into effects. The samples are answers of real engines.

use eos_core::address::NodeKind;
use eos_core::plan::effects::explain::{Places, explain};
use eos_core::plan::effects::nomad::{self, JobNow};
use eos_core::plan::effects::terraform::{self, JobWork};
use eos_core::plan::effects::{Effect, Of, salt};
use eos_core::plan::{Action, Change};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const OF: Of<'_> = Of {
    environment: "production",
    component: "hello",
};

fn samples() -> Value {
    serde_json::from_str(include_str!("effects/nomad.json")).expect("the samples are JSON")
}

/// A case as `eos.preview` answers it, and the job as it is with so many instances.
fn case(name: &str, live: u64) -> (Value, JobNow) {
    let samples = samples();
    let case = &samples["cases"][name];
    let mut spec = samples["spec"].clone();
    for (pointer, value) in case["edits"].as_object().expect("edits") {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        spec.pointer_mut(parent).expect("a place")[key] = value.clone();
    }
    let failed = match case["failed"].as_bool() {
        Some(true) => json!({"hello": {"words": ["not enough memory on 1 node"]}}),
        _ => json!({}),
    };
    let answer = json!({
        "job": "hello", "namespace": "production", "diff": case["diff"], "failed": failed, "spec": spec,
        "annotations": {"DesiredTGUpdates": case["updates"]},
    });
    let now = JobNow {
        job: Some(samples["now"].clone()),
        live: BTreeMap::from([("hello".to_owned(), live)]),
    };
    (answer, now)
}

fn effects_of(name: &str, live: u64) -> Vec<Effect> {
    let (answer, now) = case(name, live);
    nomad::JobPreview::read(&answer)
        .expect("Nomad answered")
        .effects(OF, &now)
}

/// One line an attribute: `object name before -> after`.
fn told(effects: &[Effect]) -> Vec<String> {
    let mut lines = Vec::new();
    for effect in effects {
        let action = serde_json::to_value(effect.action).expect("JSON");
        let head = format!("{} {}", action.as_str().expect("a word"), effect.object);
        if effect.attributes.is_empty() {
            lines.push(head.clone());
        }
        for one in &effect.attributes {
            let value = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
            let after = match one.unknown {
                true => "unknown".to_owned(),
                false => value(&one.after),
            };
            let behind = if one.behind { " behind" } else { "" };
            lines.push(format!(
                "{head} {} {} -> {after}{behind}",
                one.name,
                value(&one.before)
            ));
        }
        lines.extend(effect.warning.iter().map(|warning| format!("{head} ! {warning}")));
    }
    lines
}

const JOB: &str = "change nomad/job/production/hello";
const ALLOCATIONS: &str = "change nomad/allocations/production/hello";

#[track_caller]
fn check(name: &str, live: u64, expected: &[String]) {
    assert_eq!(told(&effects_of(name, live)), expected, "{name}");
}

#[test]
fn fields_have_the_paths_of_the_jobs_own_json_and_its_types() {
    let digest = "\"d628b819885fc44341f1c16351fcdabdd04e1138d59fcc193241aa5dd58a4062\"";
    check(
        "greeting",
        1,
        &[
            format!("{JOB} Meta.eos_digest {digest} -> \"d2\""),
            format!("{JOB} TaskGroups.hello.Tasks.hello.Env.EOS_HELLO_GREETING \"Hello from Eos\" -> \"Hi\""),
            format!("{ALLOCATIONS} destructive nothing -> 1"),
        ],
    );
    check(
        "scale",
        1,
        &[
            format!("{JOB} TaskGroups.hello.Count 1 -> 3"),
            format!("{ALLOCATIONS} in_place nothing -> 1"),
            format!("{ALLOCATIONS} place nothing -> 2"),
            "change nomad/service/production/hello instances 1 -> 3".to_owned(),
        ],
    );
}

#[test]
fn all_instances_of_a_rolling_update_are_counted_not_only_the_first() {
    let effects = effects_of("greeting", 3);
    assert!(
        told(&effects).contains(&format!("{ALLOCATIONS} destructive nothing -> 3")),
        "{effects:?}"
    );
}

#[test]
fn what_nomad_compares_as_a_set_is_told_where_it_stands() {
    check(
        "check",
        1,
        &[
            format!("{JOB} TaskGroups.hello.Services.hello.Checks.0.Path \"/health\" -> \"/x\""),
            format!("{ALLOCATIONS} in_place nothing -> 1"),
        ],
    );
    check(
        "port",
        1,
        &[
            format!("{JOB} TaskGroups.hello.Networks.0.DynamicPorts \"present\" -> nothing"),
            format!("{JOB} TaskGroups.hello.Networks.0.ReservedPorts.http nothing -> \"present\""),
            format!("{ALLOCATIONS} destructive nothing -> 1"),
        ],
    );
    check(
        "constraint",
        1,
        &[
            format!("{JOB} TaskGroups.hello.Constraints \"present\" -> \"present\""),
            format!("{JOB} TaskGroups.hello.Tasks.hello.Templates.0 nothing -> \"present\""),
            format!("{ALLOCATIONS} destructive nothing -> 1"),
        ],
    );
}

#[test]
fn a_service_of_another_name_is_another_service() {
    check(
        "service",
        1,
        &[
            format!("{JOB} TaskGroups.hello.Services.hello \"present\" -> nothing"),
            format!("{JOB} TaskGroups.hello.Services.hello2 nothing -> \"present\""),
            format!("{ALLOCATIONS} in_place nothing -> 1"),
            "delete nomad/service/production/hello instances 1 -> nothing".to_owned(),
            "create nomad/service/production/hello2 instances nothing -> 1".to_owned(),
        ],
    );
}

#[test]
fn what_finds_no_place_is_warned_of() {
    check(
        "big",
        1,
        &[
            format!("{JOB} TaskGroups.hello.Tasks.hello.Resources.MemoryMB 64 -> 999999"),
            format!("{ALLOCATIONS} destructive nothing -> 1"),
            format!("{ALLOCATIONS} ! cannot be placed: not enough memory on 1 node"),
        ],
    );
}

#[test]
fn a_job_that_is_not_there_is_made_whatever_another_namespace_says() {
    let (answer, _) = case("greeting", 0);
    let answer = nomad::JobPreview::read(&answer).expect("Nomad answered");
    let told = told(&answer.effects(OF, &JobNow::default()));
    assert_eq!(
        told,
        [
            "create nomad/job/production/hello",
            "create nomad/service/production/hello instances nothing -> 1",
        ]
    );
}

#[test]
fn a_version_that_nobody_knows_yet_is_unknown() {
    let (mut answer, now) = case("greeting", 1);
    answer["spec"]["Meta"]["eos_digest"] = nomad::UNKNOWN.into();
    answer["diff"]["Fields"][0]["New"] = nomad::UNKNOWN.into();
    let effects = nomad::JobPreview::read(&answer)
        .expect("Nomad answered")
        .effects(OF, &now);
    let attribute = &effects[0].attributes[0];
    assert!(attribute.unknown && attribute.after.is_none(), "{attribute:?}");
}

#[test]
fn a_job_that_goes_takes_instances_and_services_along() {
    let (_, now) = case("greeting", 2);
    assert_eq!(
        told(&nomad::removed(OF, "production", "hello", &now)),
        [
            "delete nomad/job/production/hello".to_owned(),
            format!("{ALLOCATIONS} stop nothing -> 2"),
            "delete nomad/service/production/hello instances 2 -> nothing".to_owned(),
        ]
    );
}

fn resource(address: &str, actions: &[&str], before: Value, after: Value) -> Value {
    let kind = address.rsplit('.').nth(1).expect("a type");
    json!({"address": address, "type": kind, "actions": actions, "before": before, "after": after, "after_unknown": {}})
}

#[test]
fn resources_are_told_as_the_objects_that_they_are() {
    let namespace = json!({"name": "production", "description": "Environment of an Eos estate", "meta": {}});
    let by_hand = json!({"name": "production", "description": "edited", "meta": {}});
    let volume = |path: &str| json!({"namespace": "production", "name": "hello-data", "host_path": path, "node_id": "n1"});
    let entry = |callers: &[&str]| {
        let sources: Vec<Value> = callers
            .iter()
            .map(|name| json!({"Name": name, "Action": "allow"}))
            .collect();
        json!({"kind": "service-intentions", "name": "hello", "config_json": json!({"Sources": sources}).to_string()})
    };
    let answer = json!({"resources": [
        resource("module.platform.nomad_namespace.environment", &["update"], by_hand, namespace),
        resource("module.hello.nomad_dynamic_host_volume_registration.data", &["delete", "create"], volume("/a"), volume("/b")),
        resource("module.hello.consul_config_entry.hello", &["update"], entry(&["a"]), entry(&["a", "b"])),
        resource("module.hello.nomad_job.component", &["create"], Value::Null, json!({})),
    ], "drift": []});
    let answer = terraform::TerraformPreview::read(&answer);
    assert_eq!(answer.job(), Some(JobWork::Register));
    let state = "change terraform/state/production/hello module.hello";
    assert_eq!(
        told(&answer.effects(OF, true, false)),
        [
            "change nomad/namespace/production Description \"edited\" -> \"Environment of an Eos estate\"".to_owned(),
            "change nomad/volume/production/hello-data HostPath \"/a\" -> \"/b\"".to_owned(),
            "change consul/config/service-intentions/hello Sources.1 nothing -> \"present\"".to_owned(),
            format!("{state}.consul_config_entry.hello \"present\" -> \"changed\""),
            format!("{state}.nomad_dynamic_host_volume_registration.data \"present\" -> \"changed\""),
            format!("{state}.nomad_job.component \"absent\" -> \"present\""),
            "change terraform/state/production/hello module.platform.nomad_namespace.environment \"present\" -> \"changed\""
                .to_owned(),
        ]
    );
}

#[test]
fn a_state_is_made_and_goes_with_its_workspace() {
    let job = json!({"id": "hello", "namespace": "production"});
    let make = json!({"resources": [resource("module.hello.nomad_job.component", &["create"], Value::Null, job.clone())]});
    let told_state = |answer: &Value, there, gone| {
        told(&terraform::TerraformPreview::read(answer).effects(OF, there, gone))
    };
    let address = "module.hello.nomad_job.component";
    assert_eq!(
        told_state(&make, false, false),
        [format!(
            "create terraform/state/production/hello {address} \"absent\" -> \"present\""
        )]
    );
    let remove = json!({"resources": [resource(address, &["delete"], job, Value::Null)]});
    assert_eq!(
        terraform::TerraformPreview::read(&remove).job(),
        Some(JobWork::Remove {
            namespace: "production",
            id: "hello"
        })
    );
    assert_eq!(
        told_state(&remove, true, true),
        [format!(
            "delete terraform/state/production/hello {address} \"present\" -> \"absent\""
        )]
    );
    assert_eq!(
        told_state(&json!({"resources": []}), true, false),
        Vec::<String>::new()
    );
}

#[test]
fn what_somebody_removed_or_changed_is_in_the_state_still() {
    let address = "module.hello.nomad_job.component";
    let job = json!({"id": "hello", "namespace": "production"});
    let told_state =
        |answer: Value| told(&terraform::TerraformPreview::read(&answer).effects(OF, true, false));
    let state = |after: &str| {
        [format!(
            "change terraform/state/production/hello {address} \"present\" -> \"{after}\""
        )]
    };
    let gone = resource(address, &["delete"], job.clone(), Value::Null);
    let made = resource(address, &["create"], Value::Null, job.clone());
    assert_eq!(
        told_state(json!({"resources": [made], "drift": [gone.clone()]})),
        state("changed")
    );
    assert_eq!(
        told_state(json!({"resources": [], "drift": [gone]})),
        state("absent")
    );
    let by_hand = json!({"id": "hello", "namespace": "production", "count": 5});
    let edited = resource(address, &["update"], job.clone(), by_hand.clone());
    assert_eq!(
        told_state(json!({"resources": [], "drift": [edited.clone()]})),
        state("changed")
    );
    // Put back to what the state says, the state stays as it is; unless Terraform cannot know.
    let mut put_back = resource(address, &["update"], by_hand, job);
    let told_of = |put_back: &Value| told_state(json!({"resources": [put_back], "drift": [edited]}));
    assert_eq!(told_of(&put_back), Vec::<String>::new());
    put_back["after_unknown"] = json!({"modify_index": true});
    assert_eq!(told_of(&put_back), state("changed"));
}

#[test]
fn salt_tells_of_directories_and_files() {
    let state =
        |changes: Value| json!({"id": "x", "name": "x", "result": null, "changes": changes, "comment": ""});
    let answer = json!({"states": [
        state(json!({"/srv/a": {"directory": "new"}})),
        state(json!({"/srv/b": {"user": "472", "mode": "0750"}})),
        state(json!({"/srv/c": {"directory": "removed"}})),
        state(json!({"/srv/d.json": {"file": "removed"}})),
        {"id": "y", "name": "/srv/e", "result": true, "changes": {}, "comment": ""},
    ]});
    assert_eq!(
        told(&salt::effects(OF, "node1", &answer)),
        [
            "create salt/directory/node1:/srv/a",
            "change salt/directory/node1:/srv/b user nothing -> \"472\"",
            "change salt/directory/node1:/srv/b mode nothing -> \"0750\"",
            "delete salt/directory/node1:/srv/c",
            "delete salt/file/node1:/srv/d.json",
        ]
    );
    let rules =
        json!({"states": [state(json!({"rules": {"old": null, "new": "d"}, "removed": ["old.json"]}))]});
    assert_eq!(
        told(&salt::rules(OF, "node1", "/srv/rules", &rules)),
        [
            "create salt/file/node1:/srv/rules/hello.json",
            "delete salt/file/node1:/srv/rules/old.json"
        ]
    );
}

fn change(action: &str, attributes: &[&str]) -> Change {
    let attributes: Vec<Value> = attributes
        .iter()
        .map(|name| json!({"name": name, "before": null, "after": null, "from": null}))
        .collect();
    let change = json!({
        "address": "job/hello", "environment": "production", "component": "hello", "layer": "job", "action": action,
        "summary": "", "reversibility": "reversible", "attributes": attributes,
    });
    serde_json::from_value(change).expect("a change")
}

fn explained(mut effects: Vec<Effect>, change: Change) -> Vec<Effect> {
    explain(&mut effects, &[change], &Places::new());
    effects
}

#[test]
fn what_the_plan_does_not_ask_for_was_changed_behind_eos() {
    let job = |change: Change| {
        let effects = explained(effects_of("greeting", 1), change);
        (
            effects[0].change.clone(),
            effects[0].attributes[1].behind,
            effects[1].change.clone(),
        )
    };
    let address = Some(NodeKind::Job.at("hello"));
    let asked_for = change("change", &["group.env.EOS_HELLO_GREETING"]);
    assert_eq!(job(asked_for), (address.clone(), false, address.clone()));
    // The digest is Eos's own, so the job is to be registered; but nobody asked for another greeting.
    let other = change("change", &["group.cpu"]);
    assert_eq!(job(other), (address.clone(), true, address));

    // A volume that comes or goes changes what Eos derives for the job.
    let mut volume = change("delete", &[]);
    volume.address = NodeKind::Volume.at("hello-data");
    let address = Some(volume.address.clone());
    assert_eq!(job(volume), (address.clone(), true, address));

    let scaled = explained(effects_of("scale", 1), change("change", &["group.env.OTHER"]));
    assert!(scaled.iter().all(|effect| effect.change.is_none()), "{scaled:?}");
    assert!(scaled[0].attributes[0].behind);
}

#[test]
fn a_job_that_was_applied_and_is_gone_was_removed_behind_eos() {
    let (answer, _) = case("greeting", 0);
    let effects = nomad::JobPreview::read(&answer)
        .expect("Nomad answered")
        .effects(OF, &JobNow::default());
    assert_eq!(effects[0].action, Action::Create);
    let behind = explained(effects.clone(), change("change", &[]));
    assert!(behind.iter().all(|effect| effect.change.is_none()), "{behind:?}");
    let made = explained(effects, change("create", &["group.count"]));
    assert!(made.iter().all(|effect| effect.change.is_some()), "{made:?}");
}
