//! Volumes as data: what a person asks for becomes which lines of the pillar, which step and which words; or is refused.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{Intent, Options, Sentence, edit};
use eos_core::kinds::volume::Which;
use eos_core::kinds::{Made, Unmade};
use eos_core::node::Reversibility;
use eos_core::pillar::{Pillar, PillarFiles, STANDING_NEED, Words};
use eos_core::plan::{Observed, Plan, PlanInput, Work, plan, refusals};
use eos_core::profile::Profile;
use eos_core::recipe::Risk;
use eos_core::storage::HostStorage;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n  \
                      node1: {address: 10.0.0.2, roles: [storage]}\n";
const FILES: &str = "#!yaml\nvolumes:\n  files:\n    host: node1\n    volume_group: data-vg\n    size: 10G\n";
const GIB: u64 = 1 << 30;

fn files(production: &str) -> PillarFiles {
    let file = |name: &str, text: &str| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    };
    [file("common", COMMON), file("production", production)].into()
}

enum Verb {
    Create,
    Update,
    Delete,
}

fn intent(verb: Verb, name: &str, options: Value) -> Intent {
    let (environment, name) = ("production".to_owned(), name.to_owned());
    let mut facts: Options = serde_json::from_value(options).unwrap();
    let sentence = match verb {
        Verb::Create => Sentence::CreateVolume {
            environment,
            volume: name,
            facts,
        },
        Verb::Update => Sentence::UpdateVolume {
            environment,
            component: name,
            need: match facts.remove("need") {
                Some(need) => need.as_str().unwrap().to_owned(),
                None => STANDING_NEED.to_owned(),
            },
            facts,
        },
        Verb::Delete => Sentence::DeleteVolume {
            environment,
            volume: name,
            with_data: facts.contains_key("with_data"),
        },
    };
    Intent {
        sentence,
        said: Words {
            words: "eos …".into(),
            who: "tester".into(),
            when: "2026-11-16T21:00:00Z".into(),
        },
    }
}

fn words(found: Vec<Diagnostic>) -> String {
    found
        .iter()
        .map(|one| format!("{} | {}", one.message, one.hint.as_deref().unwrap_or_default()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The environment's file after the intent, without who asked and when; or why it is refused.
fn edited(production: &str, intent: &Intent) -> Result<String, String> {
    let edited = edit(&files(production), &Catalog::load(&[]).unwrap(), intent).map_err(words)?;
    let text = String::from_utf8(edited["pillar/infrastructure/production.sls"].clone()).unwrap();
    let kept = text.lines().filter(|line| {
        let line = line.trim_start();
        !["intent:", "words:", "who:", "when: \"2026", "when: 2026"]
            .iter()
            .any(|start| line.starts_with(start))
    });
    Ok(kept.map(|line| format!("{line}\n")).collect())
}

fn compiled(files: &PillarFiles) -> Compilation {
    compile(
        &Pillar::read(files).unwrap(),
        &Catalog::load(&[]).unwrap(),
        Profile::Solo,
    )
    .unwrap()
}

/// What the host has: a group with some room, and disks.
fn host(free: u64, disks: Value, volumes: Value) -> HostStorage {
    serde_json::from_value(json!({
        "disks": disks,
        "groups": [{"name": "data-vg", "size": 100 * GIB, "free": free, "extent": 4 << 20, "devices": ["/dev/sdb"]}],
        "volumes": volumes,
        "filesystems": [],
        "tools": {"lvm": true, "xfs": true, "btrfs": true, "ext4": true},
    }))
    .unwrap()
}

fn disk(path: &str, why: Option<&str>) -> Value {
    json!({"path": path, "size": 50 * GIB, "usable": why.is_none(), "why": why, "group": null, "model": null})
}

fn volume(size: u64, filesystem: &str, snapshots: Value) -> Value {
    json!([{"name": "files", "group": "data-vg", "id": "production/files/data", "size": size, "filesystem": filesystem,
            "uuid": "u", "mount": "/srv/files", "capacity": size, "used": 2 * GIB, "available": size - 2 * GIB,
            "open_files": false, "alert": 85, "growth": null, "samples": 0, "snapshots": snapshots, "old": null}])
}

/// That of a volume which has one.
fn snapshot() -> Value {
    json!([{"name": "before", "made": null, "size": GIB, "used_percent": 1.0, "valid": true, "eos": true}])
}

fn observed(host: HostStorage) -> Observed {
    Observed {
        storage: [("node1".to_owned(), host)].into(),
        ..Observed::default()
    }
}

/// The plan of an intent against what was applied before.
fn planned(before: &str, intent: Intent, observed: &Observed) -> (Plan, String) {
    let files_before = files(before);
    let after = edit(&files_before, &Catalog::load(&[]).unwrap(), &intent)
        .map_err(words)
        .unwrap();
    let applied = compiled(&files_before).all_nodes();
    let compilation = compiled(&after);
    let components = [intent.sentence.component().unwrap().to_owned()];
    let refused = words(refusals("production", Some(&components), &compilation, observed));
    let plan = plan(PlanInput {
        environment: "production",
        components: Some(&components),
        hosts: Some(&[]),
        intent: Some(intent),
        compilation: &compilation,
        applied: &applied,
        unfinished: &BTreeSet::new(),
        observed: Some(observed),
        left: None,
        given: &BTreeSet::new(),
        base: String::new(),
        pillar: BTreeMap::new(),
    });
    (plan, refused)
}

#[test]
fn what_is_asked_for_is_what_the_pillar_says() {
    let update = |options: Value| intent(Verb::Update, "files", options);
    let set = |lines: &str| format!("{FILES}{lines}");
    let cases = [
        (update(json!({"size": "+5G"})), FILES.replace("10G", "15G")),
        (update(json!({"size": "1.5T"})), FILES.replace("10G", "1536G")),
        (update(json!({"size": "10G"})), FILES.to_owned()),
        (
            update(json!({"alert": 70})),
            FILES.replace("    host", "    alert: 70\n    host"),
        ),
        (
            update(json!({"snapshot": "before"})),
            set("    snapshots:\n      before: 2G\n"),
        ),
        (
            update(json!({"snapshot": "before", "room": "1G"})),
            set("    snapshots:\n      before: 1G\n"),
        ),
        (
            intent(Verb::Delete, "files", json!({})),
            "#!yaml\nvolumes: {}\n".to_owned(),
        ),
    ];
    for (intent, expected) in cases {
        let text = edited(FILES, &intent).unwrap_or_else(|why| panic!("{:?}: {why}", intent.sentence));
        let read = |text: &str| {
            format!(
                "{:?}",
                Pillar::read(&files(text))
                    .unwrap()
                    .volumes
                    .values()
                    .map(|one| (
                        &one.settings.size.as_ref().unwrap().value,
                        one.settings.alert.as_ref().map(|one| one.value),
                        &one.settings.snapshots
                    ))
                    .collect::<Vec<_>>()
            )
        };
        assert_eq!(read(&text), read(&expected), "{:?}\n{text}", intent.sentence);
    }
    let made = edited(
        "#!yaml\ncomponents: {}\n",
        &intent(
            Verb::Create,
            "archive",
            json!({"size": "20G", "purpose": "backup", "host": "node1", "volume_group": "data-vg"}),
        ),
    );
    let lowered = compiled(&files(&made.unwrap()));
    let archive = &lowered.component("production", "archive").unwrap().volumes[0];
    assert_eq!(archive.filesystem.value.word(), "btrfs");
    assert_eq!(
        archive.lvm.as_ref().unwrap().compression.as_ref().unwrap().value,
        "zstd"
    );
    assert_eq!(
        (archive.name.as_str(), archive.path.value.as_str()),
        ("archive", "/srv/archive")
    );
    assert!(
        lowered.workspaces.is_empty(),
        "a volume is no business of Terraform's"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anybody_is_asked() {
    let update = |options: Value| intent(Verb::Update, "files", options);
    let create = |options: Value| intent(Verb::Create, "other", options);
    let snapshotted = format!("{FILES}    snapshots: {{before: 1G}}\n");
    let cases = [
        (
            FILES,
            update(json!({"size": "8G"})),
            "Volume files cannot shrink from 10 GiB to 8 GiB: XFS has no shrink",
        ),
        (FILES, update(json!({"size": "-1G"})), "is not a size"),
        (FILES, update(json!({"size": "much"})), "is not a size"),
        (
            FILES,
            update(json!({"restore": "before"})),
            "has no snapshot \"before\"",
        ),
        (
            FILES,
            update(json!({"commit": true})),
            "has no conversion to commit",
        ),
        (
            FILES,
            update(json!({"filesystem": "ext4", "compression": "zstd"})),
            "ext4 does not compress",
        ),
        (
            &snapshotted,
            update(json!({"filesystem": "btrfs"})),
            "has snapshots, which hold it as XFS: before",
        ),
        (
            FILES,
            intent(Verb::Update, "fils", json!({"size": "+1G"})),
            "Did you mean files?",
        ),
        (
            FILES,
            create(json!({"host": "node1"})),
            "Volume other needs a size",
        ),
        (FILES, create(json!({"size": "1G"})), "--host is missing").clone(),
        (
            FILES,
            create(json!({"size": "1G", "host": "node2"})),
            "Did you mean node1?",
        ),
        (
            FILES,
            create(json!({"size": "1G", "host": "node1", "devices": ["sdb"]})),
            "is not a device",
        ),
        (
            FILES,
            create(json!({"size": "1G", "host": "node1", "mount": "srv"})),
            "mount cannot be",
        ),
        (
            FILES,
            create(json!({"size": "1G", "host": "node1", "volume_group": "-x"})),
            "cannot name a volume group",
        ),
        (
            FILES,
            intent(Verb::Create, "files", json!({"size": "11G"})),
            "exists in production with other options",
        ),
        (
            FILES,
            intent(Verb::Delete, "other", json!({})),
            "There is no volume called \"other\"",
        ),
    ];
    for (before, intent, expected) in cases {
        // A host with the role storage is taken where it is the only one.
        let without_role = COMMON.replace("[storage]", "[client]");
        let mut all = files(before);
        if expected.starts_with("--host") {
            all.insert(
                "pillar/infrastructure/common.sls".into(),
                without_role.into_bytes(),
            );
        }
        let why = edit(&all, &Catalog::load(&[]).unwrap(), &intent).map_err(words);
        let why = why.expect_err(&format!("{:?} is accepted", intent.sentence));
        assert!(why.contains(expected), "{:?}: {why}", intent.sentence);
    }
}

#[test]
fn a_plan_says_what_the_host_has_to_give() {
    let grow = || intent(Verb::Update, "files", json!({"size": "+5G"}));
    let there = |snapshots: Value| volume(10 * GIB, "xfs", snapshots);
    let device = FILES.replace("    size", "    devices: [/dev/sdc]\n    size");
    let step = |plan: &Plan| {
        let mut steps = plan.steps.iter();
        let step = steps
            .find(|step| matches!(step.work, Work::Make(Made::Volume(_))))
            .unwrap();
        step.risk
    };

    let room = observed(host(20 * GIB, json!([]), there(json!([]))));
    let (plan, refused) = planned(FILES, grow(), &room);
    assert_eq!((refused.as_str(), step(&plan)), ("", Risk::Medium));
    assert_eq!(plan.changes[0].reversibility, Reversibility::Final);
    assert_eq!(plan.changes[0].note.as_deref(), Some("XFS cannot shrink again"));

    let spare = observed(host(GIB, json!([disk("/dev/sdc", None)]), there(json!([]))));
    let (plan, refused) = planned(&device, grow(), &spare);
    assert_eq!((refused.as_str(), step(&plan)), ("", Risk::High));
    assert!(
        plan.changes[0]
            .note
            .as_ref()
            .unwrap()
            .contains("/dev/sdc becomes a part of data-vg")
    );

    let odd = intent(Verb::Update, "files", json!({"size": "10241M"}));
    let (plan, _) = planned(FILES, odd, &room);
    let note = plan.changes[0].note.as_deref().unwrap();
    assert!(
        note.contains("rounded up to 10.0 GiB: extents of 4 MiB"),
        "{note}"
    );

    let refusals = [
        (
            FILES,
            host(GIB, json!([]), there(json!([]))),
            "has 1 GiB free and needs 5 GiB more",
        ),
        (
            &device,
            host(
                GIB,
                json!([disk("/dev/sdc", Some("mounted at /"))]),
                there(json!([])),
            ),
            "disk /dev/sdc cannot be used: mounted at /",
        ),
        (
            &device,
            host(GIB, json!([]), there(json!([]))),
            "there is no disk /dev/sdc",
        ),
        (
            FILES,
            host(GIB, json!([disk("/dev/sdd", None)]), there(json!([]))),
            "`eos update host node1 --device /dev/sdd`",
        ),
        (
            FILES,
            host(20 * GIB, json!([]), there(snapshot())),
            "LVM does not let it grow while it has snapshots: before",
        ),
        (
            FILES,
            host(20 * GIB, json!([]), volume(10 * GIB, "ext4", json!([]))),
            "files holds ext4, and Eos never formats over data",
        ),
        (
            FILES,
            host(20 * GIB, json!([]), volume(40 * GIB, "xfs", json!([]))),
            "XFS has no shrink",
        ),
        (FILES, HostStorage::default(), "host node1 has no LVM"),
    ];
    for (before, host, expected) in refusals {
        let (_, refused) = planned(before, grow(), &observed(host));
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}

#[test]
fn what_is_in_use_is_not_taken_away() {
    let snapshotted = format!("{FILES}    snapshots: {{before: 1G}}\n");
    let ext4 = format!("{FILES}    filesystem: ext4\n");
    let cases = [
        (
            &snapshotted,
            json!({"restore": "before"}),
            ("xfs", snapshot()),
            "cannot be restored",
        ),
        (
            &FILES.to_owned(),
            json!({"filesystem": "btrfs"}),
            ("xfs", json!([])),
            "cannot be converted",
        ),
        (
            &ext4,
            json!({"size": "8G"}),
            ("ext4", json!([])),
            "cannot be made smaller",
        ),
    ];
    for (production, options, (filesystem, snapshots), expected) in cases {
        let refused = |open: bool| {
            let mut there = volume(10 * GIB, filesystem, snapshots.clone());
            there[0]["open_files"] = open.into();
            let asked = intent(Verb::Update, "files", options.clone());
            planned(production, asked, &observed(host(20 * GIB, json!([]), there))).1
        };
        assert_eq!(refused(false), "", "{expected}");
        let why = format!("{expected} while files are open in /srv/files");
        assert!(refused(true).contains(&why), "{why}: {}", refused(true));
    }
}

#[test]
fn data_goes_only_if_a_person_says_so() {
    let room = observed(host(20 * GIB, json!([]), volume(10 * GIB, "xfs", json!([]))));
    let kinds =
        |plan: &Plan| -> Vec<&'static str> { plan.steps.iter().map(|step| step.work.title()).collect() };
    let (plan, _) = planned(FILES, intent(Verb::Delete, "files", json!({})), &room);
    assert_eq!(kinds(&plan), ["deliver", "kept"]);
    assert_eq!(
        plan.changes[0].note.as_deref(),
        Some("the volume and its data are kept")
    );
    let (plan, _) = planned(
        FILES,
        intent(Verb::Delete, "files", json!({"with_data": true})),
        &room,
    );
    assert_eq!(kinds(&plan), ["deliver", "volume"]);
    let Work::Unmake(Unmade::Volume(gone)) = &plan.steps[1].work else {
        panic!("{:?}", plan.steps);
    };
    assert_eq!(
        gone.which,
        Which::WithData(vec!["production/files/data".to_owned()])
    );
    assert_eq!(plan.points_of_no_return().count(), 1);
    // What a snapshot holds, and what was written since one, cannot be had back.
    let snapshotted = format!("{FILES}    snapshots: {{before: 1G}}\n");
    for options in [json!({"forget": "before"}), json!({"restore": "before"})] {
        let (plan, _) = planned(&snapshotted, intent(Verb::Update, "files", options), &room);
        assert!(plan.steps[1].work.is_final(), "{:?}", plan.steps);
    }
}

/// What the compiler says of components of these recipes, each of which has a volume at its path.
fn said_of_paths(paths: &[&str]) -> String {
    let mut production = "#!yaml\ncomponents:\n".to_owned();
    let recipes: Vec<(String, Vec<u8>)> = (0..)
        .zip(paths)
        .map(|(number, path)| {
            production += &format!("  keeper{number}: {{recipe: keeper{number}}}\n");
            let text = format!(
                "recipe: keeper{number}\nsummary: Has a volume\nversion: \"1\"\nneeds:\n  data:\n    volume:\n      purpose: application\n      \
                 size: 1G\n      path: \"{path}\"\nservices:\n  keeper: {{instances: one, cpu: 50, memory: 64, program: [eos]}}\n"
            );
            (format!("recipes/keeper{number}/recipe.yaml"), text.into_bytes())
        })
        .collect();
    let common = COMMON.replace(
        "roles: [client, control]",
        "roles: [client, control], volumes_below: /srv/eos",
    );
    let mut files = files(&production);
    files.insert("pillar/infrastructure/common.sls".into(), common.into_bytes());
    let compiled = compile(
        &Pillar::read(&files).unwrap(),
        &Catalog::load(&recipes).unwrap(),
        Profile::Solo,
    );
    let found = compiled.err().unwrap_or_default();
    let said = found.iter().map(|one| format!("{one}\n"));
    said.collect()
}

#[test]
fn the_path_of_a_recipe_is_absolute_and_plain_once_it_is_known() {
    for path in [
        "/../../../etc",
        "/srv/../etc",
        "data",
        "/srv/",
        "/",
        "//srv",
        "/srv/./x",
        "{{ '/..' ~ '/etc' }}",
    ] {
        let said = said_of_paths(&[path]);
        assert!(said.contains("recipes/keeper0/recipe.yaml:9:"), "{path}: {said}");
        assert!(said.contains("is not absolute and plain"), "{path}: {said}");
    }
    assert_eq!(said_of_paths(&["/{{ instance }}/data"]), "");
}

#[test]
fn no_two_directories_of_a_host_have_one_path() {
    let said = said_of_paths(&["/shared", "/shared"]);
    let expected = "would both be at /srv/eos/shared on host control";
    assert!(said.contains(expected), "{said}");
    assert_eq!(said_of_paths(&["/one", "/two"]), "");
}

/// It would be a directory of one host.
#[test]
fn nothing_is_shared_by_several_hosts() {
    let words = "No volume can be shared: Eos makes no storage yet that several hosts have";
    let recipe = "recipe: wiki\nsummary: A wiki\nversion: \"1\"\nneeds:\n  files: {volume: {purpose: shared, size: 1G, \
                  path: /srv/wiki}}\n";
    let refused = Catalog::load(&[("recipes/wiki/recipe.yaml".to_owned(), recipe.into())]);
    let found = refused.expect_err("a recipe that shares a volume is accepted");
    assert_eq!(found[0].message, words);
    assert_eq!(
        found[0].hint.as_deref(),
        Some("Use application, database, backup")
    );
    let shared = format!("{FILES}    purpose: shared\n");
    let found = Pillar::read(&files(&shared)).expect_err("a pillar that shares a volume is accepted");
    assert_eq!(found[0].message, words);
}
