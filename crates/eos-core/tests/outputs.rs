//! Outputs as data: recipes in; what a component says of itself, to people and in its workspace, out.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::emit::terraform::Workspace;
use eos_core::pillar::Pillar;
use eos_core::profile::Profile;
use eos_core::recipe::Recipe;

const COMMON: &str = "#!yaml\nhosts:\n  control:\n    address: 127.0.0.1\n    roles: [client, control]\n";
const OPTIONS: &str = "options:\n  port: {type: port, default: null}\n  path: {type: string, default: a%d}\n  web: {type: flag, default: true}\n";
const SERVICE: &str = "services:\n  wiki:\n    when: \"{{ web }}\"\n    instances: one\n    program: [eos, serve-hello]\n    ports: {http: {static: \"{{ port }}\"}}\n  worker:\n    replicas: 1\n    program: [eos, serve-hello]\n";

fn recipe(outputs: &str) -> String {
    format!(
        "recipe: wiki\nsummary: A test\nversion: \"1\"\nrisk: high\n{OPTIONS}{SERVICE}outputs: {{{outputs}}}\n"
    )
}

/// A component `wiki` in two environments, of a recipe with these outputs; production has the options.
fn compiled(profile: Profile, outputs: &str, options: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let recipe = recipe(outputs).into_bytes();
    let catalog = Catalog::load(&[("recipes/wiki/recipe.yaml".to_owned(), recipe)])?;
    compiled_of(profile, &catalog, &format!("options: {{{options}}}"))
}

/// The same of a recipe that a catalog has; production has more lines.
fn compiled_of(profile: Profile, catalog: &Catalog, more: &str) -> Result<Compilation, Vec<Diagnostic>> {
    let components = |more| format!("#!yaml\ncomponents:\n  wiki:\n    recipe: wiki\n    {more}\n");
    let (production, staging) = (components(more), components("options: {}"));
    let files = [
        ("common", COMMON),
        ("production", &production),
        ("staging", &staging),
    ];
    let files = files.map(|(name, text)| {
        (
            format!("pillar/infrastructure/{name}.sls"),
            text.as_bytes().to_vec(),
        )
    });
    compile(&Pillar::read(&files.into())?, catalog, profile)
}

/// `name=text` of each output of the component, said of an instance at `10.0.0.7:21234`.
fn said(compilation: &Compilation, environment: &str) -> String {
    let component = compilation.component(environment, "wiki").unwrap();
    let outputs = component.outputs.iter();
    let said: Vec<_> = outputs
        .map(|output| format!("{}={}", output.name, output.text("10.0.0.7", 21234)))
        .collect();
    said.join(" ")
}

fn workspace<'a>(compilation: &'a Compilation, environment: &str) -> &'a Workspace {
    &compilation.workspaces[&(environment.to_owned(), "wiki".to_owned())]
}

const URL: &str = "url: \"http://{{ address }}:{{ port }}/{{ path }}\"";

#[test]
fn an_option_is_put_in_early_and_the_place_late() {
    let solo = compiled(Profile::Solo, URL, "").unwrap();
    assert_eq!(
        said(&solo, "production"),
        "url=http://10.0.0.7:21234/a%d nomad_service=10.0.0.7:21234"
    );
    let full = compiled(Profile::Full, URL, "port: 3000").unwrap();
    assert_eq!(
        said(&full, "production"),
        "url=http://10.0.0.7:3000/a%d consul_service=wiki.service.consul"
    );
    assert_eq!(
        said(&full, "staging"),
        "url=http://10.0.0.7:21234/a%d consul_service=wiki-staging.service.consul"
    );
    let looked_up = &workspace(&full, "staging").facts.service;
    assert_eq!(looked_up.as_deref(), Some("wiki-staging"));
}

#[test]
fn without_a_service_nothing_is_said_of_its_place() {
    let outputs = format!("{URL}, path: \"{{{{ path }}}}\"");
    let compilation = compiled(Profile::Solo, &outputs, "web: false").unwrap();
    assert_eq!(said(&compilation, "production"), "path=a%d");
    assert_eq!(workspace(&compilation, "production").facts.service, None);
}

#[test]
fn environments_share_a_module_whatever_their_outputs_say() {
    let compilation = compiled(Profile::Full, URL, "").unwrap();
    let modules = |environment| -> Vec<String> {
        let files = workspace(&compilation, environment).facts.files.keys().cloned();
        files
            .filter(|path| path.starts_with("terraform/modules/"))
            .collect()
    };
    assert!(
        modules("production")
            .iter()
            .any(|path| path.ends_with("/recipe_outputs.tf"))
    );
    assert_eq!(modules("production"), modules("staging"));
}

#[test]
fn another_output_restarts_nothing() {
    let other = "address: \"{{ address }}\", path: \"{{ path }}\"";
    let [one, two] = [URL, other].map(|outputs| compiled(Profile::Solo, outputs, "").unwrap());
    let [one, two] = [&one, &two].map(|all| workspace(all, "production"));
    assert_ne!(one.digest, two.digest);
    assert_eq!(one.job_digest, two.job_digest);
}

#[test]
fn what_is_put_in_late_cannot_be_worked_on() {
    for outputs in ["a: \"{{ address | upper }}\"", "a: \"{{ port + 1 }}\""] {
        let found = compiled(Profile::Solo, outputs, "").expect_err(outputs);
        assert!(found.iter().all(|one| one.hint.is_some()), "{found:#?}");
    }
}

#[test]
fn a_stopped_component_answers_nowhere() {
    let recipe = recipe(URL).into_bytes();
    let catalog = Catalog::load(&[("recipes/wiki/recipe.yaml".to_owned(), recipe)]).unwrap();
    let compilation = compiled_of(Profile::Solo, &catalog, "stopped: true").unwrap();
    assert_eq!(workspace(&compilation, "production").facts.service, None);
    assert!(workspace(&compilation, "staging").facts.service.is_some());
}

#[test]
fn a_recipe_that_an_older_eos_kept_lacks_the_outputs_that_terraform_cannot_have() {
    let outputs = "job: \"{{ path }}\", wiki.url: \"{{ path }}\", high: \"{{ address | upper }}\", path: \"{{ path }}\"";
    let old = recipe(outputs).into_bytes();
    assert!(Recipe::parse("recipes/wiki/recipe.yaml", &old).is_err());
    let pin = Recipe::parse("recipes/kept/wiki/any.yaml", &old).unwrap().pin;
    let new = recipe(URL).into_bytes();
    let own = [
        ("recipes/wiki/recipe.yaml".to_owned(), new),
        (format!("recipes/kept/wiki/{pin}.yaml"), old),
    ];
    let catalog = Catalog::load(&own).unwrap();
    let compilation = compiled_of(Profile::Solo, &catalog, &format!("pinned: {{wiki: {pin}}}")).unwrap();
    assert_eq!(
        said(&compilation, "production"),
        "path=a%d nomad_service=10.0.0.7:21234"
    );
}
