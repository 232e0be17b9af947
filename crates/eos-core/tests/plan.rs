//! Plans as data: a pillar, what was applied, what was observed; then the summary of changes and steps.

use eos_core::address::NodeKind;
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{Intent, NewValue, Options, Sentence, edit};
use eos_core::kinds::secret::{How, Previous};
use eos_core::kinds::{Proof, Unmade, volume};
use eos_core::node::{Node, Reversibility};
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, Words};
use eos_core::plan::{Action, Key, Left, Observed, Plan, PlanInput, Work, plan, refusals};
use eos_core::profile::Profile;
use eos_core::recipe::Risk;
use eos_core::scope::Scope;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";

fn files(production: &str) -> PillarFiles {
    let file = |name: &str, text: &str| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    };
    [file("common", COMMON), file("production", production)].into()
}

fn catalog() -> Catalog {
    Catalog::load(&[]).unwrap()
}

fn compiled(files: &PillarFiles) -> Result<Compilation, Vec<Diagnostic>> {
    compile(&Pillar::read(files)?, &catalog(), Profile::Solo)
}

#[derive(Clone, Copy)]
enum Verb {
    Create,
    Update,
    Delete,
    Promote,
}

fn intent(verb: Verb, component: &str, options: Value) -> Intent {
    intent_in("production", verb, component, options)
}

fn intent_in(environment: &str, verb: Verb, component: &str, options: Value) -> Intent {
    let (environment, component) = (environment.to_owned(), component.to_owned());
    let options: Options = serde_json::from_value(options).unwrap();
    said(match verb {
        Verb::Create => Sentence::CreateComponent {
            environment,
            recipe: component.clone(),
            component,
            options,
        },
        Verb::Update => Sentence::UpdateComponent {
            environment,
            component,
            options,
            upgrade: false,
        },
        Verb::Delete => Sentence::DeleteComponent {
            environment,
            component,
        },
        Verb::Promote => Sentence::PromoteComponent {
            from: "staging".to_owned(),
            to: environment,
            component,
        },
    })
}

fn said(sentence: Sentence) -> Intent {
    Intent {
        sentence,
        said: Words {
            words: "eos …".into(),
            who: "tester".into(),
            when: "2026-11-15T20:00:00Z".into(),
        },
    }
}

/// The plan that brings `before` to `after`, without engines.
fn planned(
    before: &PillarFiles,
    after: &PillarFiles,
    component: &str,
    given: &[&str],
    observed: Option<&Observed>,
) -> Plan {
    let applied: BTreeMap<Key, Vec<Node>> = compiled(before).unwrap().all_nodes();
    let compilation = compiled(after).unwrap();
    plan(PlanInput {
        environment: "production",
        components: Some(&[component.to_owned()]),
        hosts: Some(&[]),
        intent: None,
        compilation: &compilation,
        applied: &applied,
        unfinished: &BTreeSet::new(),
        observed,
        left: None,
        given: &given.iter().map(|name| (*name).to_owned()).collect(),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

fn summary(plan: &Plan) -> String {
    let glyph = |action| match action {
        Action::Create => '+',
        Action::Change => '~',
        Action::Delete => '-',
    };
    let changes: Vec<_> = plan
        .changes
        .iter()
        .map(|change| format!("{}{}", glyph(change.action), change.address))
        .collect();
    let steps: Vec<_> = plan
        .steps
        .iter()
        .map(|step| format!("{}:{}", step.component, step.work.title()))
        .collect();
    format!(
        "{} | {} | {} final",
        changes.join(" "),
        steps.join(" "),
        plan.points_of_no_return().count()
    )
}

fn create(component: &str, options: Value) -> PillarFiles {
    edit(
        &files("#!yaml\ncomponents: {}\n"),
        &catalog(),
        &intent(Verb::Create, component, options),
    )
    .unwrap()
}

const NOTHING: &str = "#!yaml\ncomponents: {}\n";

#[test]
fn the_first_component_brings_its_namespace() {
    let plan = planned(&files(NOTHING), &create("hello", json!({})), "hello", &[], None);
    assert_eq!(
        summary(&plan),
        "+job/hello +service/hello +namespace/production | platform:deliver platform:terraform hello:terraform hello:healthy | 0 final"
    );
}

#[test]
fn secrets_and_volumes_come_before_the_job() {
    let plan = planned(
        &files(NOTHING),
        &create("grafana", json!({"port": 3000})),
        "grafana",
        &[],
        None,
    );
    let steps = summary(&plan);
    assert!(
        steps.contains("platform:deliver platform:terraform grafana:secret grafana:volume grafana:terraform grafana:healthy"),
        "{steps}"
    );
}

#[test]
fn nothing_changed_is_nothing_to_do() {
    let there = create("hello", json!({}));
    assert_eq!(
        summary(&planned(&there, &there, "hello", &[], None)),
        " |  | 0 final"
    );
}

#[test]
fn a_changed_option_changes_the_job_and_says_why() {
    let there = create("hello", json!({}));
    let after = edit(
        &there,
        &catalog(),
        &intent(Verb::Update, "hello", json!({"replicas": 2})),
    )
    .unwrap();
    let plan = planned(&there, &after, "hello", &[], None);
    assert_eq!(
        summary(&plan),
        "~job/hello | platform:deliver hello:terraform hello:healthy | 0 final"
    );
    let [change] = plan.changes[0].attributes.as_slice() else {
        panic!("{:?}", plan.changes)
    };
    assert_eq!(
        (change.name.as_str(), &change.before, &change.after),
        ("group.count", &Some(json!(1)), &Some(json!(2)))
    );
    assert!(
        change
            .from
            .as_ref()
            .unwrap()
            .to_string()
            .starts_with("option replicas, pillar/infrastructure/production.sls:")
    );
}

#[test]
fn a_job_is_scaled_without_a_restart() {
    let there = create("hello", json!({}));
    let digests = |options| {
        let after = edit(&there, &catalog(), &intent(Verb::Update, "hello", options)).unwrap();
        let workspace = compiled(&after)
            .unwrap()
            .workspace("production", "hello")
            .unwrap()
            .clone();
        (workspace.digest, workspace.job_digest)
    };
    let (before, scaled, changed) = (
        digests(json!({})),
        digests(json!({"replicas": 2})),
        digests(json!({"memory": 128})),
    );
    assert!(
        before.0 != scaled.0 && before.1 == scaled.1,
        "{before:?} {scaled:?}"
    );
    assert!(
        before.0 != changed.0 && before.1 != changed.1,
        "{before:?} {changed:?}"
    );
}

#[test]
fn the_last_component_takes_its_namespace_along_and_its_secret_goes_last() {
    let plan = planned(
        &create("grafana", json!({})),
        &files(NOTHING),
        "grafana",
        &[],
        None,
    );
    assert_eq!(
        summary(&plan),
        "-secret/grafana -volume/grafana-data -job/grafana -service/grafana -namespace/production | \
         platform:deliver grafana:terraform grafana:gone grafana:secret platform:terraform | 1 final"
    );
    let volume = plan
        .changes
        .iter()
        .find(|change| change.address.kind == NodeKind::Volume)
        .unwrap();
    assert_eq!(
        volume.note.as_deref(),
        Some("the directory and its data are kept")
    );
}

/// What is to become of data: a component of an environment, its pillar before and after, and who asked for that.
fn data_plan(environment: &str, before: &str, after: &str, intent: Option<Intent>) -> Plan {
    let files = |text: &str| {
        let mut files = files(NOTHING);
        let path = format!("pillar/infrastructure/{environment}.sls");
        files.insert(path, format!("#!yaml\n{text}").into_bytes());
        files
    };
    let applied = compiled(&files(before)).unwrap().all_nodes();
    let compilation = compiled(&files(after)).unwrap();
    plan(PlanInput {
        environment,
        components: intent
            .as_ref()
            .map(|intent| vec![intent.sentence.component().unwrap().to_owned()])
            .as_deref(),
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

fn asked(verb: Verb, environment: &str, component: &str) -> Option<Intent> {
    Some(intent_in(environment, verb, component, json!({})))
}

const GRAFANA: &str = "components:\n  grafana: {}\n";
const NONE: &str = "components: {}\n";

fn volume_notes(plan: &Plan) -> Vec<(&str, Reversibility)> {
    let volumes = plan
        .changes
        .iter()
        .filter(|change| change.address.kind == NodeKind::Volume);
    volumes
        .map(|change| (change.note.as_deref().unwrap_or(""), change.reversibility))
        .collect()
}

#[test]
fn a_persons_delete_in_development_takes_the_data_along_and_does_so_last() {
    let plan = data_plan(
        "development",
        GRAFANA,
        NONE,
        asked(Verb::Delete, "development", "grafana"),
    );
    assert_eq!(
        summary(&plan),
        "-secret/grafana -volume/grafana-development-data -job/grafana -service/grafana-development \
         -namespace/development | platform:deliver grafana:terraform grafana:gone grafana:secret \
         platform:terraform grafana:volume | 2 final"
    );
    assert_eq!(
        volume_notes(&plan),
        [(
            "the directory and its data are deleted: storage of development is ephemeral",
            Reversibility::Final
        )]
    );
    assert_eq!(
        plan.steps.last().unwrap().work,
        Work::Unmake(Unmade::Volume(volume::Unmade {
            minion: "control".into(),
            volumes: [(
                "development/grafana/data".into(),
                "/opt/grafana-development/data".into()
            )]
            .into(),
            which: volume::Which::WithData(Vec::new()),
        }))
    );
}

#[test]
fn what_a_deleted_component_has_for_its_own_use_goes_with_its_data() {
    let mattermost = "components:\n  mattermost: {}\n";
    let deleted = asked(Verb::Delete, "development", "mattermost");
    let plan = data_plan("development", mattermost, NONE, deleted);
    let removed = plan.steps.iter().filter_map(|step| match &step.work {
        Work::Unmake(Unmade::Volume(gone)) => Some(gone.volumes.keys().map(String::as_str)),
        _ => None,
    });
    assert_eq!(
        removed.flatten().collect::<Vec<_>>(),
        [
            "development/mattermost/data",
            "development/mattermost-database/data"
        ]
    );
}

#[test]
fn what_goes_has_the_time_to_stop_that_its_recipe_says() {
    let mattermost = "components:\n  mattermost: {}\n";
    let deleted = asked(Verb::Delete, "development", "mattermost");
    let plan = data_plan("development", mattermost, NONE, deleted);
    let gone = plan.steps.iter().filter_map(|step| match &step.work {
        Work::Prove(Proof::Gone(gone)) => Some((step.component.as_str(), gone.stop)),
        _ => None,
    });
    let expected = [("mattermost", None), ("mattermost-database", Some(120))];
    assert_eq!(gone.collect::<Vec<_>>(), expected);
}

#[test]
fn nothing_else_takes_data_along() {
    let mattermost = "components:\n  mattermost: {}\n";
    let elsewhere = "components:\n  mattermost: {options: {database: other}}\n  other: {recipe: postgres}\n";
    let moved = "components:\n  grafana: {options: {data_path: /opt/elsewhere}}\n";
    let development = |verb, component| asked(verb, "development", component);
    let cases = [
        (
            "persistent",
            "staging",
            GRAFANA,
            NONE,
            asked(Verb::Delete, "staging", "grafana"),
        ),
        (
            "redundant",
            "production",
            GRAFANA,
            NONE,
            asked(Verb::Delete, "production", "grafana"),
        ),
        (
            "an edit of the pillar by hand",
            "development",
            GRAFANA,
            NONE,
            None,
        ),
        (
            "a delete of another",
            "development",
            GRAFANA,
            NONE,
            development(Verb::Delete, "hello"),
        ),
        (
            "a promote",
            "development",
            GRAFANA,
            NONE,
            development(Verb::Promote, "grafana"),
        ),
        (
            "a path that moved",
            "development",
            GRAFANA,
            moved,
            development(Verb::Update, "grafana"),
        ),
        (
            "a database used in place of the own one",
            "development",
            mattermost,
            elsewhere,
            development(Verb::Update, "mattermost"),
        ),
    ];
    for (case, environment, before, after, intent) in cases {
        let plan = data_plan(environment, before, after, intent);
        let removes = |step: &eos_core::plan::Step| matches!(step.work, Work::Unmake(Unmade::Volume(_)));
        assert!(!plan.steps.iter().any(removes), "{case}: {:?}", plan.steps);
        let finals = volume_notes(&plan);
        let deleted =
            |note: &&(&str, Reversibility)| note.0.contains("deleted") || note.1 == Reversibility::Final;
        assert_eq!(finals.iter().find(deleted), None, "{case}");
    }
}

#[test]
fn one_copy_is_said_where_redundancy_is_wanted() {
    for (environment, said) in [("development", false), ("staging", false), ("production", true)] {
        let plan = data_plan(
            environment,
            NONE,
            GRAFANA,
            asked(Verb::Create, environment, "grafana"),
        );
        let volume = plan
            .changes
            .iter()
            .find(|change| change.address.kind == NodeKind::Volume);
        let summary = &volume.unwrap().summary;
        assert_eq!(summary.ends_with(" not enforced, one copy)"), said, "{summary}");
    }
}

#[test]
fn a_new_value_for_a_secret_is_a_point_of_no_return() {
    let there = create("grafana", json!({}));
    let plan = planned(&there, &there, "grafana", &["admin_password"], None);
    assert_eq!(
        summary(&plan),
        "~secret/grafana ~job/grafana | platform:deliver grafana:secret grafana:terraform grafana:healthy | 1 final"
    );
    let note = plan.changes[0].note.as_deref().unwrap();
    assert!(
        note.starts_with("recorded only: Grafana takes it at its first start"),
        "{note}"
    );
}

#[test]
fn a_rotated_secret_reaches_all_that_have_a_copy_after_the_one_whose_it_is() {
    let there = create("mattermost", json!({}));
    for (profile, finals, note) in [
        (Profile::Solo, 2, "the old value cannot be recovered"),
        (
            Profile::Full,
            0,
            "Vault keeps the old value as an earlier version",
        ),
    ] {
        let compiled =
            |files: &PillarFiles| compile(&Pillar::read(files).unwrap(), &catalog(), profile).unwrap();
        let wish = said(Sentence::Rotate {
            environment: "production".to_owned(),
            component: "mattermost-database".to_owned(),
            secrets: [("password".to_owned(), NewValue::Generated)].into(),
        });
        let after = edit(&there, &catalog(), &wish).unwrap();
        let compilation = compiled(&after);
        let plan = plan(PlanInput {
            environment: "production",
            components: Some(&["mattermost-database".to_owned()]),
            hosts: Some(&[]),
            intent: Some(wish),
            compilation: &compilation,
            applied: &compiled(&there).all_nodes(),
            unfinished: &BTreeSet::new(),
            observed: None,
            left: None,
            given: &BTreeSet::new(),
            base: String::new(),
            pillar: BTreeMap::new(),
        });
        assert_eq!(
            summary(&plan),
            format!(
                "~secret/mattermost ~job/mattermost ~secret/mattermost-database ~job/mattermost-database | \
                 platform:deliver mattermost-database:secret mattermost-database:terraform mattermost-database:healthy \
                 mattermost:secret mattermost:terraform mattermost:healthy | {finals} final"
            )
        );
        let notes: Vec<_> = plan
            .changes
            .iter()
            .map(|change| change.note.as_deref().unwrap())
            .collect();
        assert_eq!(
            notes,
            [
                note,
                "restarts with the new copy; cannot log in to mattermost-database between the two restarts",
                note,
                "restarts with the new value",
            ]
        );
        let rotates = |component: &str| {
            let mut steps = plan.steps.iter();
            let step = steps.find(|step| step.component == component && step.work.title() == "secret");
            match &step.unwrap().work {
                Work::Secret(moved) => moved.items().iter().map(|item| item.rotate).collect::<Vec<_>>(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(rotates("mattermost-database"), [true]);
        assert_eq!(rotates("mattermost"), [false], "it gets a copy");
        let risk = |title: &str| {
            let mut steps = plan.steps.iter();
            let step = steps.find(|step| step.component == "mattermost" && step.work.title() == title);
            step.unwrap().risk
        };
        for title in ["secret", "terraform"] {
            assert_eq!(risk(title), Risk::Medium, "as the secret that it has a copy of");
        }
    }
}

#[test]
fn a_rotation_is_taken_back_by_the_version_before_it() {
    let there = create("redis", json!({}));
    let compilation = compile(&Pillar::read(&there).unwrap(), &catalog(), Profile::Full).unwrap();
    let key = ("production".to_owned(), "redis".to_owned());
    let left = Left {
        secrets: [(key, Previous::Version(1))].into(),
        ..Left::default()
    };
    let plan = plan(PlanInput {
        environment: "production",
        components: Some(&["redis".to_owned()]),
        hosts: Some(&[]),
        intent: None,
        compilation: &compilation,
        applied: &compilation.all_nodes(),
        unfinished: &BTreeSet::new(),
        observed: None,
        left: Some(&left),
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    });
    assert_eq!(
        summary(&plan),
        "~secret/redis ~job/redis | platform:deliver redis:secret redis:secret redis:terraform redis:healthy | 0 final"
    );
    let notes: Vec<_> = plan
        .changes
        .iter()
        .map(|change| change.note.as_deref().unwrap())
        .collect();
    assert_eq!(notes, ["as it was before", "restarts with the earlier value"]);
    let Work::Secret(moved) = &plan.steps[1].work else {
        panic!("{:?}", plan.steps);
    };
    assert!(matches!(moved.how, How::Restore { .. }));
}

#[test]
fn what_the_engines_lost_is_brought_back() {
    let there = create("hello", json!({}));
    let lost = Observed::default();
    let plan = planned(&there, &there, "hello", &[], Some(&lost));
    assert!(
        summary(&plan).starts_with("~job/hello ~namespace/production | "),
        "{}",
        summary(&plan)
    );

    let compilation = compiled(&there).unwrap();
    let workspace = |name: &str| compilation.workspace("production", name).unwrap();
    let in_step = Observed {
        workspaces: ["platform", "hello"]
            .map(|name| (format!("production/{name}"), Some(workspace(name).digest.clone())))
            .into(),
        jobs: [(
            ("production".to_owned(), "hello".to_owned()),
            Some(workspace("hello").job_digest.clone()),
        )]
        .into(),
        ..Observed::default()
    };
    assert_eq!(
        summary(&planned(&there, &there, "hello", &[], Some(&in_step))),
        " |  | 0 final"
    );
}

#[test]
fn a_driver_that_no_host_offers_is_refused() {
    let there = create("grafana", json!({}));
    let offers = |drivers: &[&str]| Observed {
        drivers: [(
            "control".to_owned(),
            drivers
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<BTreeSet<_>>(),
        )]
        .into(),
        ..Observed::default()
    };
    let refused = |observed: &Observed| refusals("production", None, &compiled(&there).unwrap(), observed);
    let found = refused(&offers(&["raw_exec"]));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.contains("docker") && found[0].hint.is_some(),
        "{found:?}"
    );
    assert_eq!(refused(&offers(&["docker"])), []);
}

#[test]
fn creating_twice_is_fine_and_creating_differently_is_not() {
    let there = create("hello", json!({"greeting": "Hi"}));
    let again = |options| edit(&there, &catalog(), &intent(Verb::Create, "hello", options));
    assert_eq!(again(json!({"greeting": "Hi"})).unwrap(), there);
    let found = again(json!({"greeting": "Ho"})).unwrap_err();
    assert!(
        found[0].hint.as_ref().unwrap().contains("eos update hello"),
        "{found:?}"
    );
}

#[test]
fn bad_input_is_an_error_with_a_place_and_a_hint() {
    let cases: &[(&str, &str)] = &[
        ("components:\n  hello:\n    recipe: helo\n", "no recipe \"helo\""),
        (
            "components:\n  hello:\n    options: {greting: Hi}\n",
            "no option \"greting\"",
        ),
        (
            "components:\n  hello:\n    options: {replicas: 0}\n",
            "is less than 1",
        ),
        (
            "components:\n  hello:\n    options: {replicas: many}\n",
            "not a whole number",
        ),
        (
            "components:\n  grafana:\n    options: {admin_password: secret123}\n",
            "stands in the pillar",
        ),
        (
            "components:\n  grafana:\n    options: {data_path: ../etc}\n",
            "not an absolute path",
        ),
        (
            "components:\n  grafana: {}\n  other:\n    recipe: grafana\n",
            "Port 3000 is asked for by",
        ),
        (
            "components:\n  Hello: {recipe: hello}\n",
            "cannot name a component",
        ),
        ("components:\n  volume: {recipe: hello}\n", "reserved word"),
        ("componentz: {}\n", "Unknown key \"componentz\""),
    ];
    for (text, wanted) in cases {
        let found = compiled(&files(&format!("#!yaml\n{text}")))
            .err()
            .unwrap_or_else(|| panic!("accepted: {text}"));
        let first = found
            .iter()
            .find(|one| one.message.contains(wanted))
            .unwrap_or_else(|| panic!("{text}: {found:#?}"));
        assert!(first.at.is_some(), "{first:?}");
    }
    let no_shebang = files("components: {}\n");
    assert!(compiled(&no_shebang).unwrap_err()[0].message.contains("#!yaml"));
}

const TWO_HOSTS: &str = "#!yaml\nhosts:\n  control:\n    address: 10.0.0.1\n    roles: [client, control]\n  node2:\n    \
    address: 10.0.0.2\n    roles: [storage]\n";

/// The plan of all that a pillar says, where another pillar was applied; nobody said a word to Eos.
fn by_hand(before: &str, after: &str, hosts: Option<&[String]>) -> Plan {
    let compiled = |common: &str| {
        let files = [(COMMON_FILE.to_owned(), common.as_bytes().to_vec())].into();
        compile(
            &Pillar::read(&files).unwrap(),
            &Catalog::load(&[]).unwrap(),
            Profile::Solo,
        )
        .unwrap()
    };
    let (before, after) = (compiled(before), compiled(after));
    let keys = before.hosts.keys().map(|name| Scope::Estate.key(name));
    let applied = keys.map(|key| (key.clone(), before.nodes(&key))).collect();
    plan(PlanInput {
        environment: "production",
        components: None,
        hosts,
        intent: None,
        compilation: &after,
        applied: &applied,
        unfinished: &BTreeSet::new(),
        observed: None,
        left: None,
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

#[test]
fn a_host_edited_by_hand_is_planned_delivered_and_proved() {
    let edited = TWO_HOSTS.replace("10.0.0.2", "10.0.0.9");
    let plan = by_hand(TWO_HOSTS, &edited, None);
    assert_eq!(plan.hosts, ["node2"]);
    assert!(plan.components.is_empty() && plan.is_of_hosts());
    let [change] = plan.changes.as_slice() else {
        panic!("{:?}", plan.changes)
    };
    assert_eq!(
        (change.address.to_string().as_str(), change.action),
        ("host/node2", Action::Change)
    );
    let [address] = change.attributes.as_slice() else {
        panic!("{:?}", change.attributes)
    };
    assert_eq!(
        (address.name.as_str(), &address.after),
        ("address", &Some("10.0.0.9".into()))
    );
    let titles: Vec<&str> = plan.steps.iter().map(|step| step.work.title()).collect();
    assert_eq!(titles, ["deliver", "host"]);
    assert_eq!(plan.locked(), [Scope::Estate.key("node2")].into());
    // Where it lies in the file does not matter, and neither does what nobody looks at.
    assert!(
        by_hand(TWO_HOSTS, &TWO_HOSTS.replace("hosts:", "# mine\nhosts:"), None)
            .changes
            .is_empty()
    );
    assert!(
        by_hand(TWO_HOSTS, &edited, Some(&["control".to_owned()]))
            .changes
            .is_empty()
    );
}

#[test]
fn a_host_that_comes_is_proved_and_one_that_goes_is_locked() {
    let one = TWO_HOSTS.split("  node2").next().unwrap();
    let comes = by_hand(one, TWO_HOSTS, None);
    assert_eq!((comes.count(Action::Create), comes.steps.len()), (1, 2));
    let goes = by_hand(TWO_HOSTS, one, None);
    assert_eq!((goes.count(Action::Delete), goes.steps.len()), (1, 1));
    assert_eq!(goes.locked(), [Scope::Estate.key("node2")].into());
    assert_eq!(goes.touched(), goes.locked());
    // The first host of an estate comes before any that runs Terraform.
    let alone = TWO_HOSTS.replace("client, control", "client");
    assert_eq!(by_hand("#!yaml\nhosts: {}\n", &alone, None).steps.len(), 3);
}

#[test]
fn every_fact_of_a_host_is_part_of_its_plan() {
    for fact in [
        "datacenter: dc2",
        "devices: [/dev/sdb]",
        "volume_group: data-vg",
        "volumes_below: /srv/below",
    ] {
        let plan = by_hand(TWO_HOSTS, &format!("{TWO_HOSTS}    {fact}\n"), None);
        assert_eq!(plan.count(Action::Change), 1, "{fact}");
    }
}
