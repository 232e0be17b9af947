//! Intents about a whole environment: all of it deleted, all of another promoted into it.

use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::intent::{Intent, Sentence, edit};
use eos_core::kinds::Unmade;
use eos_core::pillar::{Pillar, PillarFiles, Words};
use eos_core::plan::{Plan, PlanInput, Work, plan};
use eos_core::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";

fn files(environments: &[(&str, &str)]) -> PillarFiles {
    let file = |(name, text): (&str, &str)| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    };
    let all = environments.iter().copied().chain([("common", COMMON)]);
    all.map(file).collect()
}

fn said(sentence: Sentence) -> Intent {
    Intent {
        sentence,
        said: Words {
            words: "eos".to_owned(),
            who: "ada".to_owned(),
            when: "2026-11-16T00:00:00Z".to_owned(),
        },
    }
}

fn deleting(environment: &str) -> Intent {
    said(Sentence::DeleteEnvironment {
        environment: environment.to_owned(),
    })
}

fn promoting(from: &str, to: &str) -> Intent {
    said(Sentence::PromoteEnvironment {
        from: from.to_owned(),
        to: to.to_owned(),
    })
}

fn names(files: &PillarFiles, environment: &str) -> Vec<String> {
    let components = Pillar::read(files).unwrap().components.into_keys();
    let of_environment = components.filter(|(of, _)| of == environment);
    of_environment.map(|(_, name)| name).collect()
}

/// What deleting all of an environment means, where it was applied as it stands.
fn deleted(environment: &str, text: &str) -> Plan {
    let catalog = Catalog::load(&[]).unwrap();
    let before = files(&[(environment, text)]);
    let compiled =
        |files: &PillarFiles| compile(&Pillar::read(files).unwrap(), &catalog, Profile::Solo).unwrap();
    let intent = deleting(environment);
    let after = edit(&before, &catalog, &intent).unwrap();
    assert_eq!(names(&after, environment), Vec::<String>::new());
    plan(PlanInput {
        environment,
        components: None,
        hosts: Some(&[]),
        intent: Some(intent),
        compilation: &compiled(&after),
        applied: &compiled(&before).all_nodes(),
        unfinished: &BTreeSet::new(),
        observed: None,
        left: None,
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

const THREE: &str = "#!yaml
components:
  # A word about chat.
  mattermost: {options: {port: 8066}}
  mattermost-database: {recipe: postgres, options: {size: 40G}}
  grafana: {}
";

#[test]
fn all_goes_in_one_plan_and_data_only_where_it_is_ephemeral() {
    let removes_data = |plan: &Plan| {
        let steps = plan.steps.iter();
        steps
            .filter(|step| matches!(step.work, Work::Unmake(Unmade::Volume(_))))
            .count()
    };
    let plan = deleted("development", THREE);
    let gone: BTreeSet<&str> = plan.components.iter().map(String::as_str).collect();
    assert_eq!(gone, ["grafana", "mattermost", "mattermost-database"].into());
    assert_eq!(removes_data(&plan), 3);
    assert_eq!(removes_data(&deleted("production", THREE)), 0);
}

#[test]
fn what_is_promoted_comes_along_and_the_rest_stays() {
    let catalog = Catalog::load(&[]).unwrap();
    let before = files(&[
        ("production", THREE),
        ("staging", "#!yaml\ncomponents:\n  redis: {}  # here before\n"),
    ]);
    let intent = promoting("production", "staging");
    let after = edit(&before, &catalog, &intent).unwrap();
    assert_eq!(
        names(&after, "staging"),
        ["grafana", "mattermost", "mattermost-database", "redis"]
    );
    let staging = String::from_utf8(after["pillar/infrastructure/staging.sls"].clone()).unwrap();
    assert!(staging.contains("redis: {}  # here before\n"), "{staging}");
    let production = "pillar/infrastructure/production.sls";
    assert_eq!(after[production], before[production]);
    // Twice is once.
    assert_eq!(edit(&after, &catalog, &intent).unwrap(), after);
}

#[test]
fn there_must_be_something_to_promote_and_two_places() {
    let catalog = Catalog::load(&[]).unwrap();
    let files = files(&[("production", THREE)]);
    for (environment, from) in [("production", "staging"), ("production", "production")] {
        let refused = edit(&files, &catalog, &promoting(from, environment)).unwrap_err();
        assert!(refused[0].hint.is_some(), "{refused:?}");
    }
}
