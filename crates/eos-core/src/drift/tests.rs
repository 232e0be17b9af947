//! Verdicts as data: what is compiled, what is seen, and the lines that a person would be told.

use super::*;
use crate::address::NodeKind;
use crate::catalog::Catalog;
use crate::compile::compile;
use crate::intent::Sentence;
use crate::pillar::{Pillar, PillarFiles, Words};
use crate::profile::Profile;
use serde_json::json;
use std::collections::BTreeSet;

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n    volumes_below: /lab\n";
const HELLO: &str = "#!yaml\ncomponents:\n  hello:\n    recipe: hello\n";
const REDIS: &str = "#!yaml\ncomponents:\n  redis:\n    recipe: redis\n";

fn files(production: &str) -> PillarFiles {
    let file = |name: &str, text: &str| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    };
    [file("common", COMMON), file("production", production)].into()
}

fn compiled(production: &str) -> Compilation {
    let catalog = Catalog::load(&[]).unwrap();
    compile(
        &Pillar::read(&files(production)).unwrap(),
        &catalog,
        Profile::Solo,
    )
    .unwrap()
}

fn recorded(compilation: &Compilation) -> BTreeMap<Key, String> {
    let workspaces = compilation.workspaces.iter();
    workspaces
        .map(|(key, one)| (key.clone(), one.digest.clone()))
        .collect()
}

/// Everything as it was applied.
fn seen(compilation: &Compilation) -> Seen {
    let mut workspaces = BTreeMap::new();
    let mut nomad = NomadSeen {
        namespaces: BTreeSet::from(["production".to_owned()]),
        ..NomadSeen::default()
    };
    for (key, workspace) in &compilation.workspaces {
        let resource = json!({"type": "nomad_job", "modify_index": "12"});
        let seen = json!({
            "digest": workspace.digest, "serial": 3,
            "resources": {"module.x.nomad_job.component": resource},
            "tree": {"changed": [], "missing": [], "strange": []},
        });
        let seen: WorkspaceSeen = serde_json::from_value(seen).unwrap();
        workspaces.insert(format!("{}/{}", key.0, key.1), Some(seen));
    }
    for (key, component) in &compilation.components {
        let job = JobSeen {
            index: 12,
            ..JobSeen::default()
        };
        nomad.jobs.insert(key.clone(), job);
        for group in &component.groups {
            let place = (key.0.clone(), key.1.clone(), group.name.clone());
            nomad.running.insert(place, u64::from(group.count.value));
            nomad.services.insert((key.0.clone(), group.service.clone()));
        }
        for volume in &component.volumes {
            let name = (key.0.clone(), volume.name.clone());
            let hosts = nomad.volumes.entry(name).or_default();
            hosts.insert(volume.host.value.clone());
        }
    }
    let inspection = Inspection {
        workspaces: Some(workspaces),
        ..Inspection::default()
    };
    Seen {
        control: Some("control".to_owned()),
        minions: BTreeMap::from([("control".to_owned(), Ok(inspection))]),
        nomad: Some(Ok(nomad)),
        release: Some(Ok(Vec::new())),
        ..Seen::default()
    }
}

fn line(object: &Object) -> String {
    let side = |side: &Option<Value>| side.as_ref().map_or("?".to_owned(), Value::to_string);
    let attributes = object.attributes.iter();
    let attributes: Vec<String> = attributes
        .map(|one| format!(" {} {} -> {}", one.name, side(&one.before), side(&one.after)))
        .collect();
    format!(
        "{:?} {:?} {}{}",
        object.verdict,
        object.layer,
        object.object,
        attributes.concat()
    )
}

/// What differs between a pillar that was applied and what is then seen.
fn told(production: &str, change: impl FnOnce(&mut Seen)) -> Vec<String> {
    told_of(compiled(production), change)
}

fn told_of(compilation: Compilation, change: impl FnOnce(&mut Seen)) -> Vec<String> {
    let mut seen = seen(&compilation);
    change(&mut seen);
    let look = Look {
        environment: "production",
        component: None,
        wanted: &compilation,
        applied: None,
        recorded: &recorded(&compilation),
        seen: &seen,
    };
    drift(&look).differing().map(line).collect()
}

fn nomad(seen: &mut Seen) -> &mut NomadSeen {
    seen.nomad.as_mut().unwrap().as_mut().unwrap()
}

fn inspection(seen: &mut Seen) -> &mut Inspection {
    seen.minions.get_mut("control").unwrap().as_mut().unwrap()
}

fn workspace(seen: &mut Seen) -> &mut WorkspaceSeen {
    let all = inspection(seen).workspaces.as_mut().unwrap();
    all.get_mut("production/hello").unwrap().as_mut().unwrap()
}

fn hello() -> Key {
    ("production".to_owned(), "hello".to_owned())
}

/// A job that runs so many instances where it should run others.
fn count(real: u64, wanted: u64) -> OrSilent<Compared> {
    let job = |count: u64| json!({"ID": "hello", "TaskGroups": [{"Name": "hello", "Count": count}]});
    let (old, new) = (real.to_string(), wanted.to_string());
    let field = json!({"Type": "Edited", "Name": "Count", "Old": old, "New": new});
    let diff = json!({"Type": "Edited", "Fields": null, "Objects": null,
        "TaskGroups": [{"Type": "Edited", "Name": "hello", "Fields": [field], "Objects": null, "Tasks": null}]});
    Ok(Compared {
        diff,
        real: job(real),
        wanted: job(wanted),
    })
}

#[test]
fn what_is_in_step_is_not_told() {
    assert_eq!(told(HELLO, |_| {}), Vec::<String>::new());
    assert_eq!(told(REDIS, |_| {}), Vec::<String>::new());
}

#[test]
fn a_job_is_changed_stopped_gone_or_nobodys() {
    let changed = told(HELLO, |seen| {
        nomad(seen).jobs.get_mut(&hello()).unwrap().index = 20;
        nomad(seen).compared.insert(hello(), count(5, 1));
    });
    assert_eq!(changed, ["Changed Nomad job/hello TaskGroups.hello.Count 1 -> 5"]);
    let stopped = told(HELLO, |seen| {
        nomad(seen).jobs.get_mut(&hello()).unwrap().stop = true
    });
    assert_eq!(stopped, ["Changed Nomad job/hello Stop false -> true"]);
    let purged = told(HELLO, |seen| {
        nomad(seen).jobs.clear();
        nomad(seen).running.clear();
        nomad(seen).services.clear();
    });
    assert_eq!(purged, ["Missing Nomad job/hello"]);
    let strange = told(HELLO, |seen| {
        let key = ("production".to_owned(), "miner".to_owned());
        nomad(seen).jobs.insert(key, JobSeen::default());
        let elsewhere = ("default".to_owned(), "theirs".to_owned());
        nomad(seen).jobs.insert(elsewhere, JobSeen::default());
    });
    assert_eq!(strange, ["Unowned Nomad job/miner"]);
}

#[test]
fn a_job_that_was_registered_again_as_it_was_is_in_step() {
    let same = told(HELLO, |seen| {
        nomad(seen).jobs.get_mut(&hello()).unwrap().index = 20;
        let same = Compared {
            diff: json!({"Type": "None", "TaskGroups": [{"Type": "None", "Name": "hello"}]}),
            ..Compared::default()
        };
        nomad(seen).compared.insert(hello(), Ok(same));
    });
    assert_eq!(same, Vec::<String>::new());
}

#[test]
fn a_service_that_runs_is_registered() {
    let gone = told(HELLO, |seen| nomad(seen).services.clear());
    assert_eq!(gone, ["Missing Nomad service/hello"]);
    // One that does not run is no matter of the catalogue.
    let idle = told(HELLO, |seen| {
        nomad(seen).services.clear();
        nomad(seen).running.clear();
    });
    assert_eq!(idle, Vec::<String>::new());
}

#[test]
fn a_terraform_state_names_its_attributes_and_a_tree_its_files() {
    let edited = told(HELLO, |seen| {
        let changed = [(
            "module.hello.nomad_job.component".to_owned(),
            vec!["status".to_owned()],
        )];
        workspace(seen).state_changed = Some(changed.into());
        workspace(seen).digest = None;
    });
    assert_eq!(
        edited,
        ["Changed Terraform workspace/production/hello module.hello.nomad_job.component.status ? -> ?"]
    );
    let damaged = told(HELLO, |seen| {
        let error = json!({"layer": "terraform", "words": "The Terraform state is empty"});
        workspace(seen).serial = None;
        workspace(seen).error = serde_json::from_value(error).unwrap();
    });
    assert_eq!(damaged, ["Changed Terraform workspace/production/hello"]);
    let unread = told(HELLO, |seen| {
        let error = json!({"layer": "terraform", "words": "s3 does not answer"});
        workspace(seen).serial = None;
        workspace(seen).error = serde_json::from_value(error).unwrap();
        workspace(seen).unread = true;
    });
    assert_eq!(unread, ["Unreachable Terraform workspace/production/hello"]);
    let lost = told(HELLO, |seen| workspace(seen).serial = None);
    assert_eq!(lost, ["Missing Terraform workspace/production/hello"]);
    let tree = told(HELLO, |seen| {
        workspace(seen).tree.as_mut().unwrap().changed = vec!["terraform/x/main.tf".to_owned()];
    });
    assert_eq!(tree, ["Changed Files file/terraform/x/main.tf content ? -> ?"]);
    let orphan = told(HELLO, |seen| {
        inspection(seen).orphans = Some(vec!["production/old".to_owned(), "staging/old".to_owned()]);
    });
    assert_eq!(orphan, ["Unowned Terraform workspace/production/old"]);
}

#[test]
fn a_host_says_which_attribute_of_a_directory_it_would_change() {
    let state = |changes: Value| -> StateRun {
        let state = json!({"id": "x", "name": "/lab/opt/redis/data", "result": null, "changes": changes,
            "comment": "", "kind": "volume", "part": "production/redis/data"});
        serde_json::from_value(state).unwrap()
    };
    let mode = json!({"/lab/opt/redis/data": {"mode": {"old": "0777", "new": "0750"}}});
    assert_eq!(
        told(REDIS, |seen| inspection(seen).states = vec![state(mode)]),
        [r#"Changed Host volume/redis-data mode "0750" -> "0777""#]
    );
    let gone = json!({"/lab/opt/redis/data": {"directory": "new"}});
    assert_eq!(
        told(REDIS, |seen| inspection(seen).states = vec![state(gone)]),
        ["Missing Host volume/redis-data"]
    );
}

#[test]
fn generated_files_say_where_they_were_changed() {
    let file = |how| FileSeen {
        path: "salt/x.sls".to_owned(),
        how,
    };
    let both = told(HELLO, |seen| {
        seen.estate = vec![file(FileChange::Changed)];
        seen.release = Some(Ok(vec![file(FileChange::Missing)]));
    });
    assert_eq!(
        both,
        [
            "Changed Files file/salt/x.sls content ? -> ?",
            "Missing Files file/salt/x.sls"
        ]
    );
}

#[test]
fn silence_is_told_once_and_the_rest_is_judged() {
    let silent = || Silent {
        words: "nobody answers".to_owned(),
        hint: None,
    };
    let dead_nomad = told(HELLO, |seen| {
        seen.nomad = Some(Err(silent()));
        seen.estate = vec![FileSeen {
            path: "salt/x.sls".to_owned(),
            how: FileChange::Changed,
        }];
    });
    assert_eq!(
        dead_nomad,
        [
            "Changed Files file/salt/x.sls content ? -> ?",
            "Unreachable Nomad engine/nomad"
        ]
    );
    let digest = compiled(HELLO).workspaces[&hello()].job_digest.clone();
    let meta = BTreeMap::from([("eos_digest".to_owned(), digest)]);
    let dead_minion = told(HELLO, |seen| {
        seen.minions.insert("control".to_owned(), Err(silent()));
        nomad(seen).jobs.get_mut(&hello()).unwrap().meta = meta;
    });
    assert_eq!(dead_minion, ["Unreachable Terraform minion/control"]);
    let no_consul = told(HELLO, |seen| {
        inspection(seen).workspaces = None;
        let trouble = json!({"layer": "consul", "object": "states", "words": "nobody answers"});
        inspection(seen).error = serde_json::from_value(trouble).unwrap();
        nomad(seen).jobs.get_mut(&hello()).unwrap().meta.clear();
    });
    assert_eq!(no_consul.len(), 2, "{no_consul:?}");
    assert!(no_consul[0].starts_with("Changed Nomad job/hello Meta.eos_digest"));
}

#[test]
fn what_an_operation_holds_is_not_judged() {
    let held = told(HELLO, |seen| {
        nomad(seen).jobs.clear();
        seen.held = vec![Held {
            component: "hello".to_owned(),
            operation: "01OP".to_owned(),
            is_at_work: true,
        }];
    });
    assert_eq!(held, Vec::<String>::new());
}

#[test]
fn a_pillar_that_is_ahead_is_told_apart_from_a_change() {
    let (before, after) = (
        compiled(HELLO),
        compiled(
            "#!yaml\ncomponents:\n  hello:\n    recipe: hello\n    options: {replicas: 3}\n  second:\n    recipe: hello\n",
        ),
    );
    let mut seen = seen(&before);
    let recorded = recorded(&before);
    let told = |seen: &Seen| -> Vec<String> {
        let look = Look {
            environment: "production",
            component: None,
            wanted: &after,
            applied: Some(&before),
            recorded: &recorded,
            seen,
        };
        drift(&look).differing().map(line).collect()
    };
    let ahead = [
        "PillarAhead Nomad job/hello",
        "PillarAhead Terraform workspace/production/hello",
        "PillarAhead Nomad job/second",
        "PillarAhead Terraform workspace/production/second",
    ];
    assert_eq!(told(&seen), ahead);
    nomad(&mut seen).jobs.get_mut(&hello()).unwrap().index = 20;
    nomad(&mut seen).compared.insert(hello(), count(5, 1));
    assert_eq!(
        told(&seen)[0],
        "Changed Nomad job/hello TaskGroups.hello.Count 1 -> 5"
    );
}

#[test]
fn each_object_has_its_remedy_and_the_policy_of_its_tier_holds() {
    let compilation = compiled(REDIS);
    let mut seen = seen(&compilation);
    let redis = ("production".to_owned(), "redis".to_owned());
    nomad(&mut seen).jobs.get_mut(&redis).unwrap().stop = true;
    nomad(&mut seen)
        .jobs
        .insert(("production".to_owned(), "miner".to_owned()), JobSeen::default());
    seen.estate = vec![FileSeen {
        path: "salt/x.sls".to_owned(),
        how: FileChange::Changed,
    }];
    let state = json!({"name": "/lab/opt/redis/data", "result": null, "kind": "volume", "part": "production/redis/data",
        "changes": {"/lab/opt/redis/data": {"mode": "0750"}}});
    inspection(&mut seen).states = vec![serde_json::from_value(state).unwrap()];
    let look = Look {
        environment: "production",
        component: None,
        wanted: &compilation,
        applied: None,
        recorded: &recorded(&compilation),
        seen: &seen,
    };
    let drift = drift(&look);
    let asked = remedy(&drift, Tiers::default(), &[Policy::Ask, Policy::Correct]);
    assert_eq!(asked.components, BTreeSet::from(["redis".to_owned()]));
    assert_eq!(asked.scope(), ["redis"]);
    assert_eq!(asked.files, ["salt/x.sls"]);
    let sentence = Sentence::Reconcile {
        environment: "production".to_owned(),
        components: ["redis".to_owned()].into(),
        parts: [NodeKind::Volume.at("redis-data")].into(),
    };
    assert_eq!(asked.sentence("production"), sentence);
    assert_eq!(asked.left.len(), 1);
    assert_eq!(asked.left[0].object, "job/miner");

    let unasked = remedy(&drift, Tiers::default(), &[Policy::Correct]);
    assert!(unasked.is_empty() && unasked.left.len() == 4);
    let report = Tiers {
        low: Policy::Report,
        medium: Policy::Report,
        high: Policy::Report,
    };
    assert!(remedy(&drift, report, &[Policy::Ask, Policy::Correct]).is_empty());
}

#[test]
fn reality_is_adopted_where_an_option_says_it() {
    let said = Words {
        words: "eos reconcile --adopt".into(),
        who: "tester".into(),
        when: "2026-11-15T20:00:00Z".into(),
    };
    let compilation = compiled(HELLO);
    let catalog = Catalog::load(&[]).unwrap();
    let adopted = |compared: OrSilent<Compared>| {
        let mut seen = seen(&compilation);
        nomad(&mut seen).jobs.get_mut(&hello()).unwrap().index = 20;
        nomad(&mut seen).compared.insert(hello(), compared);
        let look = Look {
            environment: "production",
            component: None,
            wanted: &compilation,
            applied: None,
            recorded: &recorded(&compilation),
            seen: &seen,
        };
        let drift = drift(&look);
        let object = drift.differing().next().unwrap();
        adopt(
            object,
            &files(HELLO),
            &catalog,
            Profile::Solo,
            "production",
            &said,
        )
        .map_err(|why| why.message)
    };
    let replicas = BTreeMap::from([("replicas".to_owned(), json!(5))]);
    assert_eq!(adopted(count(5, 1)), Ok(Adoption::Update(replicas)));
    let job = |greeting: &str| {
        json!({"TaskGroups": [{"Name": "hello", "Tasks": [
        {"Name": "hello", "Env": {"EOS_HELLO_GREETING": greeting}}]}]})
    };
    let greeting = Compared {
        diff: json!({"Type": "Edited", "TaskGroups": [{"Type": "Edited", "Name": "hello", "Tasks": [
            {"Type": "Edited", "Name": "hello", "Fields": [
                {"Type": "Edited", "Name": "Env[EOS_HELLO_GREETING]", "Old": "Ahoy", "New": "Hello"}]}]}]}),
        real: job("Ahoy"),
        wanted: job("Hello"),
    };
    let options = BTreeMap::from([("greeting".to_owned(), json!("Ahoy"))]);
    assert_eq!(adopted(Ok(greeting)), Ok(Adoption::Update(options)));
    // Nomad may run none of it; the pillar cannot say so.
    let none = adopted(count(0, 1)).unwrap_err();
    assert!(
        none.starts_with("job/hello cannot be adopted into the pillar: Option replicas"),
        "{none}"
    );
    let priority = Compared {
        diff: json!({"Type": "Edited", "Fields": [{"Type": "Edited", "Name": "Priority", "Old": "70", "New": "50"}]}),
        real: json!({"Priority": 70}),
        wanted: json!({"Priority": 50}),
    };
    assert_eq!(
        adopted(Ok(priority)).unwrap_err(),
        "job/hello cannot be adopted into the pillar: no option sets Priority"
    );
}

#[test]
fn nomad_may_forget_a_job_that_runs_once_stopped_or_not() {
    let recipe = |mode: &str| {
        let text = format!(
            "recipe: once\nsummary: x\nversion: \"1\"\nservices:\n  once:\n    {mode}\n    instances: one\n    program: [once]\n"
        );
        Catalog::load(&[("recipes/once/recipe.yaml".to_owned(), text.into_bytes())]).unwrap()
    };
    let stopped = "stopped: {words: eos stop once, who: ada, when: \"2026-11-18T11:00:00Z\"}";
    let forgotten = |mode: &str, more: &str| {
        let production = format!("#!yaml\ncomponents:\n  once:\n    recipe: once\n    {more}\n");
        let pillar = Pillar::read(&files(&production)).unwrap();
        let compilation = compile(&pillar, &recipe(mode), Profile::Solo).unwrap();
        told_of(compilation, |seen| nomad(seen).jobs.clear())
    };
    assert_eq!(forgotten("type: batch", ""), [""; 0]);
    assert_eq!(forgotten("type: batch", stopped), [""; 0]);
    assert_eq!(forgotten("type: service", stopped), ["Missing Nomad job/once"]);
    assert_eq!(
        forgotten("schedule: \"0 3 * * *\"", ""),
        ["Missing Nomad job/once"]
    );
}
