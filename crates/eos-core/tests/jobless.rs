//! Components without a job: they compile without a client or a workspace, and have a digest that is recorded.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile, workspace_digest};
use eos_core::diagnostic::Diagnostic;
use eos_core::pillar::Pillar;
use eos_core::profile::Profile;
use eos_core::recipe::Recipe;

const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n";
const RECIPE: &str = "\
recipe: box
summary: A test
version: \"1\"
options:
  runs: {type: flag, default: false}
  kept: {type: flag, default: true}
needs:
  data: {volume: {purpose: application, size: 1G, path: \"/srv/{{ instance }}\", when: \"{{ kept }}\"}}
services:
  box:
    instances: one
    when: \"{{ runs }}\"
    program: [eos, serve-hello]
    volumes: {data: /data}
";

fn tried(options: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let recipes = [("recipes/box/recipe.yaml".to_owned(), RECIPE.as_bytes().to_vec())];
    let environment = format!("#!yaml\ncomponents:\n  box: {{options: {options}}}\n");
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

#[test]
fn a_component_without_a_job_has_no_workspace_and_a_digest() {
    let key = ("production".to_owned(), "box".to_owned());
    let idle = tried("{}").unwrap();
    assert!(!idle.components[&key].runs() && !idle.components[&key].has_workspace());
    assert!(
        idle.workspaces.is_empty(),
        "not even the environment's: nothing runs in it"
    );
    let digest = idle.digest(&key).unwrap();
    let running = tried("{runs: true}").unwrap();
    assert_eq!(
        running.digest(&key).as_ref(),
        Some(&running.workspaces[&key].digest)
    );
    assert_ne!(running.digest(&key), Some(digest.clone()));
    assert_eq!(workspace_digest("one+two"), "one");
    assert_eq!(workspace_digest(&digest), digest);
}

#[test]
fn a_component_of_which_nothing_applies_is_refused() {
    let found = tried("{kept: false}").unwrap_err();
    assert_eq!(
        found[0].message,
        "box is empty: with its options nothing of recipe box applies"
    );
}

#[test]
fn a_recipe_without_services_offers_no_figures() {
    let text = "recipe: mine\nsummary: s\nversion: \"1\"\n";
    let found = Recipe::parse("recipe.yaml", text.as_bytes()).unwrap_err();
    assert_eq!(found[0].message, "The recipe has no services, parts or resources");
    let recipe = Recipe::parse("recipe.yaml", format!("{text}services: {{}}\n").as_bytes()).unwrap();
    let names: Vec<&str> = recipe.settable().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["datacenter"]);
}
