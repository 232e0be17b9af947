//! Files of hosts: what a recipe asks for becomes which nodes, slices and steps; or is refused, with its place.

use eos_core::address::NodeKind;
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::kinds::{Made, Unmade, file};
use eos_core::node::Node;
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::plan::{Action, Key, Left, Observed, Plan, PlanInput, Work, plan};
use eos_core::profile::Profile;
use eos_core::recipe::{Recipe, Risk};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const HOSTS: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n  \
                     node1: {address: 10.0.0.2, roles: [storage]}\n  \
                     far: {address: 10.1.0.1, roles: [client], datacenter: dc2}\n";
const RECIPE: &str = "\
recipe: tuning
summary: A test
version: \"1\"
risk: low
options:
  hosts: {type: list, default: []}
  swap: {type: integer, default: 10}
  more: {type: flag, default: false}
  password: {type: secret, generate: 24}
host:
  hosts: \"{{ hosts }}\"
  files:
    /etc/sysctl.d/60-{{ component }}.conf:
      text: \"vm.swappiness = {{ swap }}\\n\"
    /etc/{{ component }}.more:
      text: more
      mode: \"600\"
      user: www-data
      when: \"{{ more }}\"
";

fn catalog(recipe: &str) -> Result<Catalog, Vec<Diagnostic>> {
    Catalog::load(&[(
        "recipes/tuning/recipe.yaml".to_owned(),
        recipe.as_bytes().to_vec(),
    )])
}

fn pillar(hosts: &str, components: &str) -> Pillar {
    let environment = format!("#!yaml\ncomponents:\n{components}");
    let files = [("common", hosts), ("production", &environment)].map(|(name, text)| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    });
    Pillar::read(&PillarFiles::from(files)).unwrap()
}

fn tried(recipe: &str, components: &str) -> Result<Compilation, Vec<Diagnostic>> {
    compile(&pillar(HOSTS, components), &catalog(recipe)?, Profile::Solo)
}

fn compiled(options: &str) -> Compilation {
    let recipe = RECIPE.replace("  password: {type: secret, generate: 24}\n", "");
    tried(&recipe, &format!("  tuning: {{options: {options}}}\n"))
        .unwrap_or_else(|found| panic!("{found:#?}"))
}

fn key() -> Key {
    ("production".to_owned(), "tuning".to_owned())
}

fn nodes(compilation: &Compilation) -> BTreeMap<Key, Vec<Node>> {
    let mut nodes = compilation.all_nodes();
    nodes.retain(|_, nodes| !nodes.is_empty());
    nodes
}

struct Situation<'a> {
    before: Option<&'a Compilation>,
    after: &'a Compilation,
    unfinished: bool,
    left: Left,
    observed: Option<Observed>,
}

impl<'a> Situation<'a> {
    fn new(before: Option<&'a Compilation>, after: &'a Compilation) -> Self {
        Self {
            before,
            after,
            unfinished: false,
            left: Left::default(),
            observed: None,
        }
    }

    fn plan(&self) -> Plan {
        let applied = self.before.map(nodes).unwrap_or_default();
        let unfinished = match self.unfinished {
            true => BTreeSet::from([key()]),
            false => BTreeSet::new(),
        };
        plan(PlanInput {
            environment: "production",
            components: None,
            intent: None,
            compilation: self.after,
            applied: &applied,
            unfinished: &unfinished,
            observed: self.observed.as_ref(),
            left: Some(&self.left),
            given: &BTreeSet::new(),
            hosts: Some(&[]),
            base: String::new(),
            pillar: BTreeMap::new(),
        })
    }
}

/// The steps of a plan beside the delivery: `+` or `-`, the minion, and the paths.
fn steps(plan: &Plan) -> Vec<String> {
    let shown = |sign: char, minion: &str, files: &BTreeMap<String, String>| {
        let paths: Vec<&str> = files.values().map(String::as_str).collect();
        format!("{sign} {minion} {}", paths.join(" "))
    };
    let steps = plan.steps.iter().filter_map(|step| match &step.work {
        Work::Make(Made::File(one)) => Some(shown('+', &one.minion, &one.files)),
        Work::Unmake(Unmade::File(one)) => Some(shown('-', &one.minion, &one.files)),
        Work::Deliver => None,
        other => panic!("{other:?}"),
    });
    steps.collect()
}

const SYSCTL: &str = "/etc/sysctl.d/60-tuning.conf";

#[test]
fn a_recipe_with_files_alone_has_neither_job_nor_workspace() {
    let compilation = compiled("{}");
    let component = &compilation.components[&key()];
    assert!(!component.runs() && !component.has_workspace());
    // Without names, every host of its datacenter, whatever runs there.
    let hosts: Vec<&str> = component
        .parts
        .files
        .iter()
        .map(|part| part.host.value.as_str())
        .collect();
    assert_eq!(hosts, ["control", "node1"]);
    let slice = |host: &str| -> Value {
        let text = &compilation.artifacts[&format!("pillar/hosts/{host}.sls")];
        let text = std::str::from_utf8(text)
            .unwrap()
            .strip_prefix("#!json\n")
            .unwrap();
        serde_json::from_str(text).unwrap()
    };
    let facts = json!({
        "path": SYSCTL, "text": "vm.swappiness = 10\n", "user": "root", "group": "root", "mode": "0644",
        "risk": "low",
    });
    let name = format!("production/tuning{SYSCTL}");
    assert_eq!(slice("node1")["eos"]["files"], json!({name: facts}));
    assert_eq!(slice("far")["eos"].get("files"), None);
    let sls = &compilation.artifacts["salt/components/tuning/production/files-node1.sls"];
    assert!(std::str::from_utf8(sls).unwrap().contains("eos_file.managed"));
    assert!(compilation.digest(&key()).is_some());
    assert_ne!(compilation.digest(&key()), compiled("{swap: 11}").digest(&key()));
}

#[test]
fn each_attribute_has_its_source() {
    let compilation = compiled("{swap: 7, hosts: [node1]}");
    let nodes = compilation.nodes(&key());
    let [node] = &nodes[..] else { panic!("{nodes:#?}") };
    assert_eq!(node.address.to_string(), "file/etc/sysctl.d/60-tuning.conf@node1");
    assert_eq!(node.address.kind, NodeKind::File);
    let from = |name: &str| node.attributes[name].from.words();
    assert_eq!(node.text("text"), Some("vm.swappiness = 7\n"));
    assert_eq!(from("text"), "option swap");
    assert_eq!(from("host"), "option hosts");
    assert_eq!(from("mode"), "recipe tuning");
}

#[test]
fn a_long_text_is_shown_by_its_digest() {
    let long = "x".repeat(5000);
    let recipe =
        format!("recipe: tuning\nsummary: s\nversion: '1'\nhost: {{files: {{/etc/x: {{text: {long}}}}}}}\n");
    let compilation = tried(&recipe, "  tuning: {}\n").unwrap();
    let node = &compilation.nodes(&key())[0];
    assert_eq!(node.text("text"), None);
    assert_eq!(node.text("content").map(str::len), Some(64));
}

#[test]
fn what_changes_is_made_where_it_changes_and_what_goes_is_removed() {
    let one = compiled("{hosts: [node1]}");
    let first = Situation::new(None, &one).plan();
    assert_eq!(steps(&first), [format!("+ node1 {SYSCTL}")]);
    assert_eq!(first.changes[0].action, Action::Create);
    assert_eq!(steps(&Situation::new(Some(&one), &one).plan()), [""; 0]);

    let other = compiled("{hosts: [node1], swap: 11}");
    assert_eq!(
        steps(&Situation::new(Some(&one), &other).plan()),
        [format!("+ node1 {SYSCTL}")]
    );

    let both = compiled("{hosts: [node1, control], more: true}");
    assert_eq!(
        steps(&Situation::new(Some(&one), &both).plan()),
        [
            format!("+ control {SYSCTL} /etc/tuning.more"),
            format!("+ node1 {SYSCTL} /etc/tuning.more"),
        ]
    );
    let less = Situation::new(Some(&both), &one).plan();
    assert_eq!(
        steps(&less),
        [
            format!("- control {SYSCTL} /etc/tuning.more"),
            "- node1 /etc/tuning.more".to_owned(),
        ]
    );
    assert_eq!(
        less.changes[0].note.as_deref(),
        Some("the file is removed, if Eos made it")
    );

    let nothing = tried(RECIPE, "  {}\n").unwrap();
    assert_eq!(
        steps(&Situation::new(Some(&one), &nothing).plan()),
        [format!("- node1 {SYSCTL}")]
    );
}

#[test]
fn a_host_that_the_pillar_has_no_longer_is_asked_for_nothing() {
    let both = compiled("{}");
    let fewer = HOSTS.replace("  node1: {address: 10.0.0.2, roles: [storage]}\n", "");
    let recipe = RECIPE.replace("  password: {type: secret, generate: 24}\n", "");
    let after = compile(
        &pillar(&fewer, "  tuning: {}\n"),
        &catalog(&recipe).unwrap(),
        Profile::Solo,
    )
    .unwrap();
    let plan = Situation::new(Some(&both), &after).plan();
    assert_eq!(steps(&plan), [""; 0]);
    let note = plan.changes[0].note.as_deref();
    assert_eq!(note, Some("the file stays: the pillar no longer has its host"));
}

#[test]
fn the_way_back_removes_what_a_failed_update_wrote() {
    let one = compiled("{hosts: [node1]}");
    let both = compiled("{hosts: [node1, control], more: true}");
    let forth = Situation::new(Some(&one), &both).plan();
    let begun = forth.steps.iter().filter_map(|step| match &step.work {
        Work::Make(made) => Some((step.key(), made.clone())),
        _ => None,
    });
    let back = Situation {
        unfinished: true,
        left: Left {
            begun: begun.collect(),
            ..Left::default()
        },
        ..Situation::new(Some(&one), &one)
    };
    assert_eq!(
        steps(&back.plan()),
        [
            format!("+ node1 {SYSCTL}"),
            format!("- control {SYSCTL} /etc/tuning.more"),
            "- node1 /etc/tuning.more".to_owned(),
        ]
    );
}

#[test]
fn a_file_is_of_high_risk_unless_the_minion_names_its_directory() {
    let one = compiled("{hosts: [node1]}");
    let risk = |lists: Value| {
        let mut tiers = json!({"images": {}, "programs": [], "volumes_below": []});
        tiers["files"] = lists;
        let observed = Observed {
            tiers: Some(serde_json::from_value(tiers).unwrap()),
            ..Observed::default()
        };
        Situation {
            observed: Some(observed),
            ..Situation::new(None, &one)
        }
        .plan()
        .risk()
    };
    assert_eq!(risk(json!([])), Risk::High);
    assert_eq!(risk(json!([{"below": "/etc/sysctl", "tier": "low"}])), Risk::High);
    assert_eq!(
        risk(json!([{"below": "/etc/sysctl.d/", "tier": "medium"}])),
        Risk::Medium
    );
    let nested = json!([{"below": "/etc/sysctl.d", "tier": "low"}, {"below": "/etc", "tier": "high"}]);
    assert_eq!(risk(nested), Risk::Low);
}

#[test]
fn a_step_is_served_as_long_as_the_compiled_files_say_the_same() {
    let one = compiled("{hosts: [node1]}");
    let plan = Situation::new(None, &one).plan();
    let request = plan.steps[1].work.request().unwrap();
    assert!(request.is_served(&key(), &one));
    assert!(!request.is_served(&key(), &compiled("{hosts: [node1], swap: 3}")));
    let text = serde_json::to_string(&plan.steps[1]).unwrap();
    assert_eq!(
        serde_json::from_str::<eos_core::plan::Step>(&text).unwrap(),
        plan.steps[1]
    );
    assert_eq!(file::digest(&one.components[&key()], "node1").len(), 64);
}

/// A recipe with this below `files:`, and what is said of it.
#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let cases = [
        ("/etc/x: {}", "file \"/etc/x\" has no text"),
        (
            "/etc/x: {text: a, owner: root}",
            "Unknown key \"owner\" in file \"/etc/x\"",
        ),
        (
            "/etc/x: {text: a, mode: \"4755\"}",
            "file \"/etc/x\" cannot have the mode \"4755\"",
        ),
        (
            "/etc/x: {text: a, mode: \"0648\"}",
            "file \"/etc/x\" cannot have the mode \"0648\"",
        ),
        (
            "/etc/x: {text: a, user: \"a b\"}",
            "file \"/etc/x\" cannot have the user \"a b\"",
        ),
        (
            "/etc/x: {text: \"{{ password }}\"}",
            "Secret \"password\" is used outside of secrets",
        ),
        (
            "/etc/x: {text: \"{{ nothing }}\"}",
            "Unknown name \"nothing\" in a template",
        ),
    ];
    let base = &RECIPE[..RECIPE.find("host:").unwrap()];
    for (below, words) in cases {
        let text = format!("{base}host:\n  files:\n    {below}\n");
        let found = Recipe::parse("recipe.yaml", text.as_bytes()).unwrap_err();
        assert_eq!(found[0].message, words, "{below}");
        let place = found[0].at.as_ref().unwrap();
        assert_eq!(place.position.line, 12, "{below}");
        assert!(found[0].hint.is_some(), "{below}");
    }
    for path in [
        "etc/x",
        "/etc/../x",
        "/etc/x/",
        "/proc/x",
        "/etc/salt/minion",
        "/etc/a b",
        "/etc/ü",
    ] {
        let text =
            format!("recipe: tuning\nsummary: s\nversion: '1'\nhost:\n  files:\n    {path}: {{text: a}}\n");
        let found = tried(&text, "  tuning: {}\n").unwrap_err();
        assert!(
            found[0].message.contains("is no path of a file"),
            "{path}: {found:?}"
        );
        assert_eq!(found[0].at.as_ref().unwrap().position.line, 6, "{path}");
    }
    let twice = "recipe: tuning\nsummary: s\nversion: '1'\nhost:\n  files:\n    \
                 /etc/{{ component }}: {text: a}\n    /etc/{{ instance }}: {text: b}\n";
    let found = tried(twice, "  tuning: {}\n").unwrap_err();
    assert_eq!(
        found[0].message,
        "Recipe tuning: two files have the path /etc/tuning"
    );
}

#[test]
fn a_host_that_is_not_there_is_named() {
    let recipe = RECIPE.replace("  password: {type: secret, generate: 24}\n", "");
    let found = tried(&recipe, "  tuning: {options: {hosts: [nod1]}}\n").unwrap_err();
    assert_eq!(
        found[0].message,
        "tuning names host \"nod1\", which the pillar does not have"
    );
    assert_eq!(found[0].hint.as_deref(), Some("Did you mean node1?"));
    assert!(found[0].at.as_ref().unwrap().file.ends_with("production.sls"));
}

#[test]
fn one_path_of_one_host_is_one_components() {
    let recipe = "recipe: tuning\nsummary: s\nversion: '1'\nhost: {files: {/etc/one: {text: a}}}\n";
    let found = tried(recipe, "  tuning: {}\n  other: {recipe: tuning}\n").unwrap_err();
    assert_eq!(
        found[0].message,
        "production/other and production/tuning would both have the file control:/etc/one"
    );
}

#[test]
fn a_recipe_that_asks_nothing_of_a_host_is_refused() {
    for text in ["host: {}\n", "host: {hosts: [node1]}\n", "host: {files: {}}\n"] {
        let text = format!("recipe: tuning\nsummary: s\nversion: '1'\n{text}");
        let found = Recipe::parse("recipe.yaml", text.as_bytes()).unwrap_err();
        assert_eq!(found[0].message, "host: asks nothing of a host", "{text}");
    }
}
