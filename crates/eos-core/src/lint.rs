//! Lint: what the author of a recipe wants to hear and the compiler does not say, and a trial whether it compiles.

use crate::catalog::Catalog;
use crate::compile::lower;
use crate::diagnostic::{Diagnostic, Place, Position};
use crate::name::{ENVIRONMENTS, quoted};
use crate::option::OptionType;
use crate::pillar::{Component, Host, OptionValue, Pillar, SetBy};
use crate::profile::Profile;
use crate::recipe::{OptionSpec, Recipe, Risk, Run, named};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What works, and is not what its author means or its users want.
pub fn warnings(recipe: &Recipe) -> Vec<Diagnostic> {
    let names = named(recipe);
    let firsts: BTreeSet<&str> = names
        .iter()
        .map(|name| name.split('.').next().unwrap_or(name))
        .collect();
    let mut found = Vec::new();
    let mut warn = |at: Position, message: String, hint: String| {
        found.push(Diagnostic::new(message).at(&recipe.file, at).hint(hint));
    };
    let own = recipe
        .options
        .iter()
        .filter(|option| option.kind != OptionType::Component);
    for option in own {
        let name = &option.name;
        if option.help.is_empty() {
            let hint = format!("Add help: to it; `eos create {} --help` shows it", recipe.name);
            warn(option.at, format!("Option {} has no help", quoted(name)), hint);
        }
        if !firsts.contains(name.as_str()) {
            let hint = match option.kind {
                OptionType::Secret => format!(
                    "Name it under secrets: of a service, such as {}: {name}",
                    name.to_uppercase()
                ),
                _ => format!("Name it as {{{{ {name} }}}}, or take it out"),
            };
            warn(
                option.at,
                format!("Option {} changes nothing: no template names it", quoted(name)),
                hint,
            );
        }
    }
    for used in &recipe.uses {
        let name = &used.name;
        if !names.iter().any(|of| {
            of.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        }) {
            let hint = format!("Name a value of it in a service, such as {{{{ {name}.address }}}}");
            warn(used.at, format!("No service names {}", quoted(name)), hint);
        }
    }
    for secret in &recipe.secrets {
        if !firsts.contains(secret.name.as_str()) {
            let hint = format!(
                "Name it under secrets: of a service, such as {}: {}",
                secret.name.to_uppercase(),
                secret.name
            );
            warn(
                secret.at,
                format!("Secret {} is given to no service", quoted(&secret.name)),
                hint,
            );
        }
    }
    for volume in &recipe.volumes {
        let mounts =
            |service: &crate::recipe::Service| service.mounts.iter().any(|(name, _)| *name == volume.name);
        if !recipe.services.iter().any(mounts) {
            let hint = format!("Add volumes: {{{}: /path/in/the/task}} to a service", volume.name);
            warn(
                volume.at,
                format!("Volume {} is mounted by no service", quoted(&volume.name)),
                hint,
            );
        }
    }
    for service in &recipe.services {
        if service.check.is_none() && !service.ports.is_empty() {
            let hint = "Add check: {http: /path} or check: {tcp: true}; without one it is healthy as soon as it runs";
            warn(
                service.at,
                format!("Service {} has a port and no check", quoted(&service.name)),
                hint.to_owned(),
            );
        }
        // A program that ships with Eos is named in the settings of a laboratory.
        let is_own = !recipe.file.starts_with("catalog/");
        if matches!(service.run, Run::Program(_)) && recipe.risk < Risk::High && is_own {
            let hint = "Say risk: high, or use an image; an administrator can give a program another risk";
            warn(
                service.at,
                format!(
                    "Service {} runs a program of its host, so minions overrule risk {}",
                    quoted(&service.name),
                    recipe.risk.word()
                ),
                hint.to_owned(),
            );
        }
        let every = service.timing.every();
        let said = service.timing.timeout.map(|said| said.span);
        if let Some(timeout) = said.filter(|timeout| *timeout > every) {
            let name = quoted(&service.name);
            warn(
                service.at,
                format!("Service {name} is checked every {every}, but one check may take {timeout}"),
                format!("Lower timeout, or raise every to {timeout}"),
            );
        }
    }
    for output in &recipe.outputs {
        let mut of_output = output.value.names().peekable();
        let name = quoted(&output.name);
        if of_output.peek().is_none() {
            let hint = "Name an option, or {{ address }} and {{ port }} of the service".to_owned();
            warn(
                output.value.at,
                format!("Output {name} names nothing: it is the same for every component"),
                hint,
            );
        } else if recipe.front().is_none() && of_output.any(|of| matches!(of, "address" | "port")) {
            let hint = "Add ports: to a service".to_owned();
            warn(
                output.value.at,
                format!("Output {name} names an address, and no service has a port"),
                hint,
            );
        }
    }
    found
}

/// What is wrong with the recipe when a component is made from it, in every environment, with the defaults it has and
/// a sample of each option that has none. Nothing, where no sample can be made: a pattern says what text it wants.
pub fn trial(recipe: &Recipe, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let Some(options) = sampled(recipe) else {
        return found;
    };
    for environment in ENVIRONMENTS {
        let pillar = trial_pillar(recipe, options.clone(), environment, catalog);
        let (_, diagnostics) = lower(&pillar, catalog, Profile::default());
        // What is wrong elsewhere is no fault of this recipe; said once is enough.
        let of_recipe =
            |diagnostic: &Diagnostic| diagnostic.at.as_ref().is_some_and(|at| at.file == recipe.file);
        for diagnostic in diagnostics.into_iter().filter(of_recipe) {
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }
    found
}

/// A pillar with one component of the recipe, the shared ones that it and they use, and hosts enough for all.
fn trial_pillar(
    recipe: &Recipe,
    options: BTreeMap<String, Value>,
    environment: &str,
    catalog: &Catalog,
) -> Pillar {
    let mut pillar = Pillar::default();
    let place = |recipe: &Recipe| Place {
        file: recipe.file.clone(),
        position: recipe.at,
    };
    let figures = recipe.services.iter().flat_map(|service| &service.replicas.of);
    let hosts = figures.map(|(_, count, _)| *count).chain([8]).max().unwrap_or(8);
    for number in 0..hosts {
        let name = format!("trial-{number}");
        let host = Host {
            name: name.clone(),
            address: "127.0.0.1".to_owned(),
            roles: vec!["client".to_owned(), "control".to_owned()],
            datacenter: "dc1".to_owned(),
            volume_group: None,
            devices: Vec::new(),
            volumes_below: None,
            intent: None,
            at: place(recipe),
        };
        pillar.hosts.insert(name, host);
    }
    let mut wanted = vec![(recipe, options)];
    while let Some((recipe, options)) = wanted.pop() {
        let key = (environment.to_owned(), recipe.name.clone());
        if pillar.components.contains_key(&key) {
            continue;
        }
        for used in recipe.uses.iter() {
            if let Some(other) = catalog.get(&used.recipe).filter(|_| used.share) {
                wanted.extend(sampled(other).map(|options| (other, options)));
            }
        }
        let at = place(recipe);
        let options = options.into_iter().map(|(name, value)| {
            let value = OptionValue {
                value,
                set_by: SetBy::Person,
                at: at.clone(),
            };
            (name, Box::new(value))
        });
        let component = Component {
            environment: environment.to_owned(),
            name: recipe.name.clone(),
            recipe: recipe.name.clone(),
            pinned: BTreeMap::new(),
            hosts: BTreeMap::new(),
            options: options.collect(),
            volumes: BTreeMap::new(),
            generation: 0,
            stopped: None,
            intent: None,
            owner: None,
            at: at.clone(),
        };
        pillar.components.insert(key, component);
    }
    pillar
}

/// A value for each option that a person would have to give.
fn sampled(recipe: &Recipe) -> Option<BTreeMap<String, Value>> {
    let needed = recipe.options.iter().filter(|option| {
        option.default.is_none() && option.when.is_none() && option.kind != OptionType::Secret
    });
    needed
        .map(|option| Some((option.name.clone(), sample(option)?)))
        .collect()
}

fn sample(option: &OptionSpec) -> Option<Value> {
    if option.pattern.is_some() {
        return None;
    }
    let bound = option.min.or(option.max);
    Some(match (&option.kind, bound) {
        (OptionType::Integer, Some(bound)) => json!(bound),
        (OptionType::Size, Some(bound)) => json!(bound.to_string()),
        (OptionType::Duration, Some(bound)) => json!(format!("{bound}ms")),
        (OptionType::List(of), _) => json!([sample_of(of)]),
        (kind, _) => sample_of(kind),
    })
}

fn sample_of(kind: &OptionType) -> Value {
    match kind {
        OptionType::Integer => json!(1),
        OptionType::Flag => json!(true),
        OptionType::Port => json!(8080),
        OptionType::Size => json!("1G"),
        OptionType::Duration => json!("1m"),
        OptionType::Path => json!("/srv/sample"),
        OptionType::Domain => json!("sample.example"),
        OptionType::Image => json!(format!("sample@sha256:{}", "0".repeat(64))),
        OptionType::Choice(choices) => json!(choices.first()),
        OptionType::List(of) => json!([sample_of(of)]),
        OptionType::String | OptionType::Component | OptionType::Secret => json!("sample"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(found: Vec<Diagnostic>) -> Vec<String> {
        found.into_iter().map(|found| found.message).collect()
    }

    fn recipe(text: &str) -> (Recipe, Catalog) {
        let file = "recipes/mine/recipe.yaml".to_owned();
        let catalog =
            Catalog::load(&[(file, text.as_bytes().to_vec())]).unwrap_or_else(|found| panic!("{found:#?}"));
        (catalog.get("mine").expect("it was loaded").clone(), catalog)
    }

    #[test]
    fn the_built_in_recipes_give_no_cause_for_warnings() {
        let catalog = Catalog::load(&[]).expect("they are sound");
        for recipe in catalog.iter() {
            assert_eq!(warnings(recipe), [], "{}", recipe.name);
            assert_eq!(trial(recipe, &catalog), [], "{}", recipe.name);
        }
    }

    #[test]
    fn what_leads_nowhere_is_said() {
        let (recipe, _) = recipe(
            "recipe: mine\nsummary: s\nversion: '1'\noptions:\n  idle: {default: 1, type: integer}\n  key: {type: secret, generate: 12, help: h}\n\
             uses:\n  store: {recipe: redis}\n\
             needs:\n  salt: {secret: {}}\n  data: {volume: {purpose: backup, size: 1G, path: /x}}\n\
             services:\n  mine:\n    program: [x]\n    ports: {http: {}}\n\
             \x20 eager:\n    program: [x]\n    ports: {http: {}}\n    check: {tcp: true, every: 1s, timeout: 2s}\n\
             outputs:\n  fixed: always\n",
        );
        assert_eq!(
            messages(warnings(&recipe)),
            [
                "Option \"idle\" has no help",
                "Option \"idle\" changes nothing: no template names it",
                "Option \"key\" changes nothing: no template names it",
                "No service names \"store\"",
                "Secret \"salt\" is given to no service",
                "Volume \"data\" is mounted by no service",
                "Service \"mine\" has a port and no check",
                "Service \"mine\" runs a program of its host, so minions overrule risk medium",
                "Service \"eager\" runs a program of its host, so minions overrule risk medium",
                "Service \"eager\" is checked every 1s, but one check may take 2s",
                "Output \"fixed\" names nothing: it is the same for every component",
            ]
        );
    }

    #[test]
    fn a_recipe_is_tried_in_every_environment() {
        for (lines, expected) in [
            (
                "port: {type: port, default: 99999}",
                "Default of option port: 99999 is not a port between 1 and 65535",
            ),
            (
                "size: {type: size, default: 1G, max: 512M}",
                "Default of option size: 1G is more than 512 MiB",
            ),
            (
                "word: {default: \"{{ 1 / 0 if environment == 'staging' else 1 }}\"}",
                "Default of option word: ",
            ),
        ] {
            let (recipe, catalog) = recipe(&format!(
                "recipe: mine\nsummary: s\nversion: '1'\noptions:\n  needed: {{type: list, of: port}}\n  {lines}\nservices:\n  mine:\n    program: [x]\n"
            ));
            let found = trial(&recipe, &catalog);
            assert!(
                !found.is_empty() && found[0].message.starts_with(expected),
                "{found:?}"
            );
            assert_eq!(
                found[0].at.as_ref().map(|at| at.position.line),
                Some(6),
                "{found:?}"
            );
        }
    }

    #[test]
    fn where_a_component_is_comes_too_late_for_the_job_itself() {
        for line in [
            "image: \"x:{{ store.address }}\"",
            "image: x\n    ports: {p: {static: \"{{ store.port }}\"}}",
            "image: x\n    ports: {p: {}}\n    check: {http: \"/{{ store.host }}\"}",
        ] {
            let text = format!(
                "recipe: mine\nsummary: s\nversion: '1'\nuses:\n  store: {{recipe: redis}}\nservices:\n  mine:\n    {line}\n"
            );
            let found =
                Catalog::load(&[("recipes/mine/recipe.yaml".to_owned(), text.into_bytes())]).unwrap_err();
            assert!(found[0].message.ends_with("is not known here"), "{found:?}");
        }
    }

    #[test]
    fn what_is_shared_is_there_in_a_trial() {
        let (recipe, catalog) = recipe(
            "recipe: mine\nsummary: s\nversion: '1'\nuses:\n  alerts: {recipe: alertmanager, share: true}\n\
             services:\n  mine:\n    replicas: 12\n    program: [x]\n    ports: {http: {static: 80}}\n    env: {A: \"{{ alerts.address }}\"}\n",
        );
        assert_eq!(trial(&recipe, &catalog), []);
    }
}
