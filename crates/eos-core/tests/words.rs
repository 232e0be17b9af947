//! What a minion's pillar says of it in the estate's own words: of its parts alone, without secrets, bounded.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;
use serde_json::{Value, json};

const HOSTS: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n  \
                     node1: {address: 10.0.0.2, roles: [client], volume_group: data-vg, devices: [/dev/sdb]}\n";
const RECIPE: &str = "\
recipe: vault
summary: A test
version: \"2.1\"
options:
  title: {type: string, default: plain}
  password: {type: secret, generate: 24}
needs:
  data: {volume: {purpose: application, size: 1GiB, path: \"/opt/{{ instance }}/data\"}}
services:
  vault:
    replicas: 1
    program: [eos, serve-hello]
    secrets: {PASSWORD_FILE: {file: password}}
    ports: {http: {}}
    check: {http: /health}
";

fn compiled(environment: &str) -> Compilation {
    let environment = format!("#!yaml\n{environment}");
    let files = [("common", HOSTS), ("production", &environment)].map(|(name, text)| {
        let path = format!("pillar/infrastructure/{name}.sls");
        (path, text.as_bytes().to_vec())
    });
    let pillar = Pillar::read(&PillarFiles::from(files)).unwrap();
    let recipe = ("recipes/vault/recipe.yaml".to_owned(), RECIPE.as_bytes().to_vec());
    let catalog = Catalog::load(&[recipe]).unwrap();
    compile(&pillar, &catalog, Profile::Solo).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn slice(compilation: &Compilation, host: &str) -> Value {
    let text = compilation.artifacts[&format!("pillar/hosts/{host}.sls")].as_slice();
    let document: Value = serde_json::from_slice(text.strip_prefix(b"#!json\n").unwrap()).unwrap();
    document["eos"].clone()
}

#[test]
fn each_minion_is_told_of_its_own_parts() {
    let compilation = compiled(
        "components:\n  \
           treasure: {recipe: vault, options: {title: gold}, hosts: {data: [node1]}, volumes: {data: {size: 2GiB}}}\n  \
           hello: {options: {greeting: hi}}\n\
         volumes:\n  archive: {host: node1, size: 3GiB, mount: /srv/archive}\n",
    );
    let of = |host: &str| slice(&compilation, host)["estate"].clone();
    let volume = json!({"size": "2 GiB", "filesystem": "xfs"});
    let treasure = json!({"recipe": "vault", "version": "2.1", "options": {"title": "gold"}});
    let mut with_volume = treasure.clone();
    with_volume["volumes"] = json!({"data": volume});
    assert_eq!(
        of("node1"),
        json!({
            "host": {"address": "10.0.0.2", "roles": ["client"], "datacenter": "dc1",
                     "volume_group": "data-vg", "devices": ["/dev/sdb"]},
            "components": {"production/treasure": with_volume},
            "volumes": {"production/archive": {"size": "3 GiB", "filesystem": "xfs"}},
        })
    );
    // It runs Terraform for all of them, and has no volume.
    let control = of("control");
    assert_eq!(control["components"]["production/treasure"], treasure);
    assert_eq!(
        control["components"]["production/hello"]["options"],
        json!({"greeting": "hi"})
    );
    assert_eq!(control["components"].as_object().unwrap().len(), 2);
    assert_eq!(control["volumes"], Value::Null);
}

#[test]
fn a_secret_is_not_there_and_a_long_value_is_where_the_pillar_has_it() {
    let long = "x".repeat(300);
    let compilation = compiled(&format!(
        "components:\n  treasure: {{recipe: vault, options: {{title: {long}, password: \"***\"}}}}\n"
    ));
    let options = &slice(&compilation, "control")["estate"]["components"]["production/treasure"]["options"];
    let pointed = "(302 bytes in pillar/infrastructure/production.sls)";
    assert_eq!(options, &json!({"title": pointed}));
}

/// Who reads more of the estate in its pillar gets no new step for it.
#[test]
fn no_digest_is_of_it() {
    let digests = |environment: &str| {
        let compilation = compiled(environment);
        let key = ("production".to_owned(), "treasure".to_owned());
        let waves = compilation.artifacts["salt/orchestrate/waves.json"].clone();
        let words = slice(&compilation, "control")["estate"].clone();
        (words, (compilation.digest(&key), waves))
    };
    let by_default = digests("components:\n  treasure: {recipe: vault}\n");
    let in_words = digests("components:\n  treasure: {recipe: vault, options: {title: plain}}\n");
    assert_ne!(by_default.0, in_words.0);
    assert_eq!(by_default.1, in_words.1);
}
