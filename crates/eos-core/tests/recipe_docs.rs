//! docs/recipes.md, held to its word: every recipe in it is sound and compiles, every message in it is one that Eos says.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::lint;
use eos_core::name::ENVIRONMENTS;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, environment_file};
use eos_core::profile::Profile;
use eos_core::recipe::Recipe;
use eos_core::schema;
use serde_json::Value;

const DOCS: &str = include_str!("../../../docs/recipes.md");

/// Indented blocks that start with `first`, without the indent. A blank line and a less indented one end a block.
fn blocks(first: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in DOCS.lines().chain([""]) {
        let inside = line.strip_prefix("    ");
        match (&mut open, inside) {
            (Some(block), Some(text)) => block.push_str(&format!("{text}\n")),
            (Some(block), None) if line.is_empty() => block.push('\n'),
            (Some(_), _) => found.extend(open.take()),
            (None, Some(text)) if text.starts_with(first) => open = Some(format!("{text}\n")),
            _ => {}
        }
    }
    found.extend(open);
    found
}

fn recipes() -> Vec<(String, Vec<u8>)> {
    let recipes = blocks("recipe: ").into_iter();
    recipes
        .enumerate()
        .map(|(number, text)| {
            (
                format!("docs/recipes.md, example {}", number + 1),
                text.into_bytes(),
            )
        })
        .collect()
}

fn catalog(own: &[(String, Vec<u8>)]) -> Catalog {
    Catalog::load(own).unwrap_or_else(|found| panic!("{found:#?}"))
}

/// An estate of four hosts with one component of the recipe in an environment.
fn pillar(environment: &str, components: &str) -> Pillar {
    let hosts: String = (1..=4)
        .map(|number| {
            format!("  n{number}: {{address: 10.0.0.{number}, roles: [client, control], volume_group: vg}}\n")
        })
        .collect();
    let files = PillarFiles::from([
        (
            COMMON_FILE.to_owned(),
            format!("#!yaml\nhosts:\n{hosts}").into_bytes(),
        ),
        (
            environment_file(environment),
            format!("#!yaml\ncomponents:\n{components}").into_bytes(),
        ),
    ]);
    Pillar::read(&files).unwrap_or_else(|found| panic!("{found:#?}"))
}

#[test]
fn every_recipe_is_sound() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 17, "recipes of the page");
    let catalog = catalog(&recipes);
    let validator = jsonschema::validator_for(&serde_json::from_str(schema::RECIPE).unwrap()).unwrap();
    for (file, text) in &recipes {
        let recipe = Recipe::parse(file, text).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(lint::warnings(&recipe), [], "{file}");
        assert_eq!(lint::trial(&recipe, &catalog), [], "{file}");
        let document = eos_core::yaml::parse(file, text).unwrap().to_json();
        let refused: Vec<_> = validator
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(refused, Vec::<String>::new(), "{file}");
    }
}

#[test]
fn every_recipe_compiles_in_every_environment() {
    let recipes = recipes();
    let catalog = catalog(&recipes);
    for (file, text) in &recipes {
        let name = Recipe::parse(file, text).unwrap().name;
        let rest = match name.as_str() {
            "types" => {
                "    options: {title: A title, peers: [a.example, B.example], log: loud, log_prefix: '> '}\n"
            }
            "forum" => "    options: {domain: forum.example}\n  door: {}\n  prometheus: {}\n",
            "store" => "    options: {archive: true, filesystem: ext4}\n",
            _ => "",
        };
        for environment in ENVIRONMENTS {
            let pillar = pillar(environment, &format!("  {name}:\n    recipe: {name}\n{rest}"));
            let compiled = compile(&pillar, &catalog, Profile::Solo)
                .unwrap_or_else(|found| panic!("{name}: {found:#?}"));
            assert!(compiled.component(environment, &name).is_some());
        }
    }
}

#[test]
fn what_the_page_says_of_names_and_values_is_so() {
    let recipes = recipes();
    let catalog = catalog(&recipes);
    let pillar = pillar(
        "staging",
        "  forum: {options: {domain: Forum.example}}\n  door: {}\n  prometheus: {}\n  wiki: {}\n  types: {options: {title: t, timeout: 2d}}\n",
    );
    let compiled = compile(&pillar, &catalog, Profile::Solo).unwrap_or_else(|found| panic!("{found:#?}"));
    let component = |name: &str| {
        compiled
            .component("staging", name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    // Components for another's own use; their secrets.
    assert_eq!(component("forum").uses["database"], "forum-database");
    assert_eq!(component("forum").uses["metrics"], "prometheus");
    let secrets: Vec<_> = component("forum")
        .secrets
        .iter()
        .map(|secret| secret.item.as_str())
        .collect();
    assert_eq!(secrets, ["cache_password", "database_password"]);
    // Services, volumes, figures.
    let wiki = component("wiki");
    let services: Vec<_> = wiki.groups.iter().map(|group| group.service.as_str()).collect();
    assert_eq!(services, ["wiki-staging", "wiki-staging-indexer"]);
    assert_eq!(wiki.volumes[0].name, "wiki-staging-pages");
    let figures: Vec<_> = wiki
        .groups
        .iter()
        .map(|group| (group.count.value, group.cpu.value, group.memory.value))
        .collect();
    assert_eq!(figures, [(1, 200, 512), (1, 200, 512)]);
    // Values in the form that templates see.
    let env = |name: &str| {
        let group = &component("types").groups[0];
        let (_, text) = group.env.iter().find(|(of, _)| of == name).expect("the variable");
        text.value.known().expect("known").to_owned()
    };
    assert_eq!(env("TIMEOUT"), "48h");
    assert_eq!(env("CACHE_BYTES"), (256 << 20).to_string());
    assert_eq!(env("PEERS"), "[]");
    // The proxy finds the route, by the name in lower case.
    let (_, conf) = &component("door").groups[0].files[1];
    assert!(
        conf.value.to_string().contains("<host name> -> <addresses>"),
        "{}",
        conf.value
    );
    assert_eq!(component("forum").groups[0].routes[0].value, "forum.example");
    assert_eq!(component("forum").public_url(), Some("http://forum.example:8097"));
}

#[test]
fn every_key_of_a_recipe_is_explained() {
    fn keys(node: &Value, found: &mut Vec<String>) {
        if let Some(properties) = node.get("properties").and_then(Value::as_object) {
            found.extend(properties.keys().cloned());
        }
        for definition in node.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            keys(definition.1, found);
        }
    }
    let mut found = Vec::new();
    keys(&serde_json::from_str(schema::RECIPE).unwrap(), &mut found);
    assert!(found.len() > 50);
    for key in found {
        let explained = DOCS.contains(&format!("`{key}`")) || DOCS.contains(&format!("{{{key}: "));
        assert!(
            explained || DOCS.contains(&format!("{key}: |")),
            "{key} is nowhere explained"
        );
    }
}

#[test]
fn the_pinned_component_is_a_pillar() {
    let block = blocks("components:").pop().expect("the block");
    let text = block.strip_prefix("components:\n").expect("its first line");
    let pillar = pillar("production", text);
    assert!(pillar.component("production", "notice").unwrap().pinned["notice"].starts_with("1-"));
}

/// A recipe with something wrong in it, and what is said of it on the page.
const MESSAGES: &[(&str, &str)] = &[
    ("sevices: {}", "Unknown key \"sevices\" in the recipe"),
    (
        "outputs: {o: \"{{ prot }}\"}",
        "Unknown name \"prot\" in a template",
    ),
    (
        "options: {token: {type: secret}}\noutputs: {o: \"{{ token }}\"}",
        "Secret \"token\" is used outside of secrets",
    ),
    (
        "outputs: {job: x}",
        "output \"job\" has the name of one that Eos adds",
    ),
    (
        "uses: {store: {recipe: redis}}\noutputs: {o: \"{{ store.address }}\"}",
        "\"store.address\" is not known here",
    ),
    (
        "uses: {store: {recipe: redis}}\nservices: {mine: {program: [x], env: {A: \"{{ store }}\"}}}",
        "\"store\" is a component, not a value",
    ),
    (
        "uses: {store: {recipe: postgras}}",
        "There is no recipe \"postgras\"",
    ),
    (
        "uses: {store: {recipe: redis}}\nservices: {mine: {program: [x], env: {A: \"{{ store.pasword }}\"}}}",
        "Recipe redis has no \"pasword\"",
    ),
    (
        "needs: {data: {volume: {purpose: backup, size: 1G, path: /x}}}\nservices: {mine: {program: [x], volumes: {data: /x}}}",
        "Service mine writes to a volume and must be a single instance",
    ),
    (
        "services: {mine: {program: [x], volumes: {date: /x}}}",
        "Service mine mounts unknown volume \"date\"",
    ),
    (
        "needs: {web: {route: {host: x, service: main}}}",
        "Route web is to \"main\", which is no service with a port",
    ),
    (
        "services: {mine: {program: [x], check: {tcp: true}}}",
        "service \"mine\" has a check but no port to check",
    ),
    (
        "services: {mine: {program: [x], start: {within: 0s}}}",
        "start.within must be between 5s and 1h, not 0s",
    ),
    (
        "services: {mine: {program: [x], ports: {p: {}}, check: {tcp: true, every: 2m}}}",
        "every of the check of service \"mine\" is 2m, and a start may take 90s",
    ),
    (
        "services: {mine: {}}",
        "service \"mine\" needs either an image or a program",
    ),
    (
        "options: {token: {type: secret, default: x}}",
        "option \"token\" is a secret and has a default",
    ),
    (
        "options: {port: {type: port, default: 99999}}",
        "Default of option port: 99999 is not a port between 1 and 65535",
    ),
    (
        "uses: {store: {recipe: redis}}\nservices: {mine: {program: [x, \"{{ store.address }}\"]}}",
        "Recipe mine: an address or secret cannot stand on a command line: use env or secrets",
    ),
    (
        "uses: {store: {recipe: redis}}\nservices: {mine: {program: [x], env: {A: \"{{ store.address | upper }}\"}}}",
        "Recipe mine: a value that is known only when the task starts was changed by a filter",
    ),
];

#[test]
fn every_message_of_the_page_is_one_that_eos_says() {
    let table = DOCS.split("## Messages").nth(1).expect("the table of messages");
    let mut listed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .filter(|message| *message != "message")
        .collect();
    let said = |text: &str| -> Vec<String> {
        let own = [("recipes/mine/recipe.yaml".to_owned(), text.as_bytes().to_vec())];
        let found = match Catalog::load(&own) {
            Ok(catalog) => lint::trial(catalog.get("mine").unwrap(), &catalog),
            Err(found) => found,
        };
        found.into_iter().map(|found| found.message).collect()
    };
    let mut check = |text: &str, message: &str| {
        let said = said(text);
        assert!(
            said.iter().any(|said| said == message),
            "{message}\nnot said of\n{text}\n{said:#?}"
        );
        let before = listed.len();
        listed.retain(|listed| *listed != message);
        assert_eq!(listed.len() + 1, before, "{message} is not on the page");
    };
    for (lines, message) in MESSAGES {
        let service = match lines.contains("services:") {
            true => "",
            false => "services: {mine: {program: [x]}}\n",
        };
        check(
            &format!("recipe: mine\nsummary: s\nversion: '1'\n{service}{lines}\n"),
            message,
        );
    }
    check(
        "recipe: mine\nsummary: s\nversion: 1.0\nservices: {}\n",
        "version must be text, not a number",
    );
    assert_eq!(
        listed,
        Vec::<&str>::new(),
        "messages of the page that no recipe here has"
    );
}

#[test]
fn the_first_recipe_has_ten_lines_on_the_first_screen() {
    let starts = DOCS
        .lines()
        .position(|line| line.starts_with("    recipe: "))
        .unwrap();
    let length = DOCS
        .lines()
        .skip(starts)
        .take_while(|line| !line.is_empty())
        .count();
    assert_eq!(length, 10);
    assert!(starts + length <= 35, "it ends at line {}", starts + length);
}
