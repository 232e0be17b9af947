//! Resources of a recipe: read with places, compiled to Terraform's JSON, planned, proved and lost by typed facts.

use eos_core::address::NodeKind;
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::kinds::Proof;
use eos_core::node::Reversibility;
use eos_core::pillar::Pillar;
use eos_core::plan::{Plan, PlanInput, Work, plan};
use eos_core::profile::Profile;
use eos_core::recipe::{Recipe, Risk};
use eos_core::tiers::Tiers;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n";
const HEAD: &str = "recipe: edge\nsummary: A test\nversion: \"1\"\n";
const RECIPE: &str = "\
options:
  text: {default: plain}
  served: {type: flag, default: true}
  walled: {type: flag, default: true}
resources:
  net: {type: hcloud_network, arguments: {name: net, ip_range: 10.0.0.0/8}}
  wall: {type: hcloud_firewall, when: \"{{ walled }}\", arguments: {name: wall}}
  web:
    type: hcloud_server
    when: \"{{ served }}\"
    arguments: {name: web, image: debian-12, user_data: \"{{ text }}\", network: [{network_id: {resource: net, attribute: id}}]}
";

fn compiled(recipe: &str, options: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let text = format!("{HEAD}{recipe}");
    let recipes = [("recipes/edge/recipe.yaml".to_owned(), text.into_bytes())];
    let environment = format!("#!yaml\ncomponents:\n  edge: {{options: {options}}}\n");
    let files = [("common", COMMON), ("production", &environment)].map(|(name, text)| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    });
    compile(
        &Pillar::read(&files.into())?,
        &Catalog::load(&recipes)?,
        Profile::Solo,
    )
}

fn document(compilation: &Compilation) -> Value {
    let mut files = compilation.artifacts.iter();
    let found = files.find(|(path, _)| path.ends_with("/resources.tf.json"));
    serde_json::from_slice(found.expect("the module has resources").1).expect("it is JSON")
}

fn refused(resources: &str) -> Vec<String> {
    let text = format!("{HEAD}resources:\n{resources}\n");
    let found = Recipe::parse("recipe.yaml", text.as_bytes()).expect_err(resources);
    assert!(found.iter().all(|one| one.at.is_some()), "{found:?}");
    found.into_iter().map(|one| one.message).collect()
}

#[test]
fn text_of_an_option_is_no_template_of_terraform() {
    for (given, written) in [
        ("${file(\"/etc/shadow\")}", "$${file(\"/etc/shadow\")}"),
        ("%{ if x }", "%%{ if x }"),
        ("100% of $5", "100% of $5"),
        ("a\"b\\c\n", "a\"b\\c\n"),
    ] {
        let options = format!("{{text: {}}}", serde_json::to_string(given).unwrap());
        let found = document(&compiled(RECIPE, &options).unwrap());
        assert_eq!(found["resource"]["hcloud_server"]["web"]["user_data"], written);
    }
    for given in ["$${x}", "%%{x}", "$$${x}"] {
        let found = compiled(RECIPE, &format!("{{text: '{given}'}}")).unwrap_err();
        assert!(found[0].message.contains("Terraform has no form"), "{found:?}");
        assert!(found[0].at.is_some());
    }
}

#[test]
fn a_component_of_resources_has_a_workspace_without_a_job() {
    let compilation = compiled(RECIPE, "{}").unwrap();
    let keys: Vec<&str> = compilation
        .workspaces
        .keys()
        .map(|(_, name)| name.as_str())
        .collect();
    assert_eq!(keys, ["edge"], "nobody needs a namespace");
    let files = &compilation.workspaces.values().next().unwrap().facts.files;
    assert!(
        !files.keys().any(|path| path.ends_with(".nomad.hcl")),
        "{files:?}"
    );
    let main = &compilation.artifacts["terraform/environments/production/edge/main.tf"];
    let main = String::from_utf8_lossy(main);
    assert!(
        main.contains("provider \"hcloud\" {}") && !main.contains("nomad"),
        "{main}"
    );
    let web = document(&compilation)["resource"]["hcloud_server"]["web"].clone();
    assert_eq!(web["network"][0]["network_id"], "${hcloud_network.net.id}");
}

#[test]
fn a_node_knows_the_source_of_every_argument_and_what_it_waits_for() {
    let compilation = compiled(RECIPE, "{text: mine}").unwrap();
    let nodes = compilation.nodes(&("production".to_owned(), "edge".to_owned()));
    let web = nodes.iter().find(|node| node.address.name == "edge.web").unwrap();
    let text = &web.attributes["arguments.user_data"];
    assert_eq!(text.value, "mine");
    assert_eq!(text.from.words(), "option text");
    assert_eq!(web.attributes["arguments.name"].from.words(), "recipe edge");
    assert!(web.attributes.contains_key("arguments.network.0.network_id"));
    assert_eq!(web.after, [NodeKind::Resource.at("edge.net")]);
}

#[test]
fn what_is_no_resource_is_refused_with_its_place() {
    for (resources, words) in [
        (
            "  a: {type: random_password}",
            "Eos knows no provider of \"random_password\"",
        ),
        (
            "  a: {type: hclod_server}",
            "Eos knows no provider of \"hclod_server\"",
        ),
        (
            "  a: {type: nomad_job}",
            "\"nomad_job\" is not for recipes: Eos itself makes it",
        ),
        (
            "  a: {type: vault_token}",
            "\"vault_token\" is not for recipes: Eos itself makes it",
        ),
        (
            "  a: {type: azurerm_storage_account}",
            "\"azurerm_storage_account\" would put a secret into the Terraform state",
        ),
        (
            "  a: {type: hcloud_server, arguments: {provisioner: {local-exec: {command: id}}}}",
            "resource \"a\" has \"provisioner\", which is no argument",
        ),
        (
            "  a: {type: hcloud_server, arguments: {dynamic: {network: {for_each: [1]}}}}",
            "\"dynamic\" cannot name an argument",
        ),
        (
            "  a: {type: hcloud_server, arguments: {labels: {\"${x}\": y}}}",
            "\"${x}\" cannot name an argument",
        ),
        (
            "  a: {type: hcloud_server, arguments: {name: {resource: b, attribute: id}}}",
            "The recipe has no resource \"b\"",
        ),
        (
            "  a: {type: hcloud_server, arguments: {name: {resource: a, attribute: 'id}${x'}}}",
            "\"id}${x\" cannot name an attribute",
        ),
        (
            "  a: {type: hcloud_server, arguments: {name: {resource: b, attribute: id}}}\n  \
             b: {type: hcloud_server, arguments: {name: {resource: a, attribute: id}}}",
            "Resources wait for one another: a, b, a",
        ),
        (
            "  a: {type: hcloud_server, arguments: {name: '{{ unknown }}'}}",
            "Unknown name \"unknown\" in a template",
        ),
    ] {
        assert!(
            refused(resources).iter().any(|found| found == words),
            "{:?}",
            refused(resources)
        );
    }
}

#[test]
fn a_secret_is_refused_in_an_argument() {
    let text = format!(
        "{HEAD}options:\n  key: {{type: secret, generate: 12}}\nresources:\n  a: {{type: hcloud_server, arguments: {{user_data: '{{{{ key }}}}'}}}}\n"
    );
    let found = Recipe::parse("recipe.yaml", text.as_bytes()).unwrap_err();
    assert_eq!(found[0].message, "Secret \"key\" is used outside of secrets");
}

#[test]
fn a_reference_to_what_does_not_apply_is_refused() {
    let recipe = RECIPE.replace("  net: {type", "  net: {when: false, type");
    let found = compiled(&recipe, "{}").unwrap_err();
    assert_eq!(
        found[0].message,
        "Resource \"net\" does not apply to edge, and another one names it"
    );
}

/// The plan from one compilation to the next.
fn planned(before: Option<&Compilation>, after: &Compilation) -> Plan {
    let applied = before.map(Compilation::all_nodes).unwrap_or_default();
    plan(PlanInput {
        environment: "production",
        components: Some(&["edge".to_owned()]),
        intent: None,
        compilation: after,
        applied: &applied,
        unfinished: &BTreeSet::new(),
        observed: None,
        left: None,
        given: &BTreeSet::new(),
        hosts: Some(&[]),
        base: String::new(),
        pillar: BTreeMap::new(),
    })
}

fn titles(plan: &Plan) -> Vec<&str> {
    plan.steps.iter().map(|step| step.work.title()).collect()
}

fn gone() -> Compilation {
    let files = [(
        "pillar/infrastructure/common.sls".to_owned(),
        COMMON.as_bytes().to_vec(),
    )];
    let pillar = Pillar::read(&files.into()).unwrap();
    compile(&pillar, &Catalog::load(&[]).unwrap(), Profile::Solo).unwrap()
}

#[test]
fn they_are_made_with_the_workspace_and_proved_by_its_state() {
    let plan = planned(None, &compiled(RECIPE, "{}").unwrap());
    assert_eq!(titles(&plan), ["deliver", "terraform", "present"]);
    assert_eq!(plan.changes.len(), 3);
    let Work::Prove(Proof::Present(present)) = &plan.steps[2].work else {
        panic!("{:?}", plan.steps[2]);
    };
    assert_eq!(present.resources[0], "module.edge.hcloud_network.net");
    assert!(plan.steps.iter().all(|step| !step.work.is_final()));
}

#[test]
fn what_is_lost_for_good_is_told_by_the_type() {
    let all = compiled(RECIPE, "{}").unwrap();
    // A firewall is nothing but its arguments; a server is more.
    for (options, lost) in [("{walled: false}", false), ("{served: false}", true)] {
        let plan = planned(Some(&all), &compiled(RECIPE, options).unwrap());
        assert_eq!(titles(&plan), ["deliver", "terraform", "present"]);
        assert_eq!(plan.steps[1].work.is_final(), lost, "{options}");
        let change = &plan.changes[0];
        assert_eq!(change.reversibility == Reversibility::Final, lost, "{change:?}");
        assert_eq!(change.note.is_some(), lost);
    }
    let plan = planned(Some(&all), &gone());
    assert_eq!(titles(&plan), ["deliver", "terraform"]);
    assert!(plan.steps[1].work.is_final());
    let small = compiled(RECIPE, "{served: false}").unwrap();
    assert!(!planned(Some(&small), &gone()).steps[1].work.is_final());
}

#[test]
fn a_change_that_may_replace_it_counts_as_its_loss() {
    let all = compiled(RECIPE, "{}").unwrap();
    let plan = planned(Some(&all), &compiled(RECIPE, "{text: other}").unwrap());
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(plan.changes[0].reversibility, Reversibility::Final);
    assert!(plan.steps[1].work.is_final());
    // Its type was another, whatever it is now.
    let volume = RECIPE.replace("hcloud_firewall", "hcloud_volume");
    let plan = planned(
        Some(&compiled(&volume, "{}").unwrap()),
        &compiled(RECIPE, "{}").unwrap(),
    );
    assert_eq!(plan.changes[0].reversibility, Reversibility::Final);
    // A network is nothing but its arguments.
    let wider = RECIPE.replace("10.0.0.0/8", "10.0.0.0/16");
    let plan = planned(Some(&all), &compiled(&wider, "{}").unwrap());
    assert_eq!(plan.changes.len(), 1);
    assert!(plan.steps.iter().all(|step| !step.work.is_final()));
}

#[test]
fn nothing_changes_where_nothing_differs() {
    let all = compiled(RECIPE, "{}").unwrap();
    assert!(planned(Some(&all), &all).changes.is_empty());
}

#[test]
fn a_type_that_the_settings_do_not_name_is_of_high_risk() {
    let nodes = compiled(RECIPE, "{served: false, walled: false}").unwrap();
    let nodes = nodes.nodes(&("production".to_owned(), "edge".to_owned()));
    let tiers = |resources: Value| -> Tiers {
        let lists = json!({"images": {}, "programs": [], "volumes_below": [], "resources": resources});
        serde_json::from_value(lists).unwrap()
    };
    assert_eq!(tiers(json!({})).risk(&nodes), Risk::High);
    assert_eq!(tiers(json!({"hcloud_server": "low"})).risk(&nodes), Risk::High);
    assert_eq!(
        tiers(json!({"hcloud_network": "low"})).risk(&nodes),
        Risk::Medium,
        "its recipe says so"
    );
}
