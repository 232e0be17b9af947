//! Names as people have them: volumes with underscores, hosts with the full name of their machine; and what engines make
//! of them.

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{Intent, Sentence, edit};
use eos_core::pillar::{Pillar, PillarFiles, STANDING_NEED, Words};
use eos_core::profile::Profile;
use eos_core::why::{Extent, Question, why};
use serde_json::{Value, json};

const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n";
const FULL: &str = "web1.example.org";
const SHOP: &str = "recipe: shop\nsummary: A shop\nversion: \"1\"\nneeds:\n  data: {volume: {each: true, purpose: application, owner: \"1:1\", size: 1G, path: /srv/shop}}\n\
                    services:\n  shop:\n    image: shop:1\n    ports: {http: {to: 80}}\n    volumes: {data: /data}\n";

fn pillar(common: &str, production: &str) -> PillarFiles {
    [("common", common), ("production", production)]
        .map(|(name, text)| {
            let file = format!("pillar/infrastructure/{name}.sls");
            (file, text.as_bytes().to_vec())
        })
        .into()
}

fn catalog() -> Catalog {
    Catalog::load(&[("recipes/shop/recipe.yaml".to_owned(), SHOP.into())]).unwrap()
}

fn said(files: &PillarFiles, sentence: Sentence) -> PillarFiles {
    let said = Words {
        words: "eos ...".to_owned(),
        who: "henry".to_owned(),
        when: "2026-11-19T06:00:00Z".to_owned(),
    };
    edit(files, &catalog(), &Intent { sentence, said }).unwrap_or_else(|found| panic!("{found:?}"))
}

fn compiled(files: &PillarFiles) -> Result<Compilation, Vec<Diagnostic>> {
    compile(&Pillar::read(files)?, &catalog(), Profile::Solo)
}

fn refused(common: &str, production: &str) -> String {
    match compiled(&pillar(common, production)) {
        Ok(_) => panic!("it is accepted: {common} {production}"),
        Err(found) => found.iter().map(Diagnostic::to_string).collect(),
    }
}

fn artifact(compilation: &Compilation, path: &str) -> Value {
    let bytes = compilation.artifacts.get(path);
    let bytes = bytes.unwrap_or_else(|| panic!("no {path}: {:?}", compilation.artifacts.keys()));
    let text = std::str::from_utf8(bytes).unwrap();
    serde_json::from_str(text.strip_prefix("#!json\n").unwrap_or(text)).unwrap()
}

/// What a node is called elsewhere.
fn called(files: &PillarFiles, about: &str) -> Vec<(&'static str, String)> {
    let question = Question {
        about,
        environment: "production",
        usual_environment: "production",
    };
    let compilation = compiled(files).unwrap();
    let answer = why(&question, &Pillar::read(files).unwrap(), &catalog(), &compilation).unwrap();
    answer.called.into_iter().map(|one| (one.by, one.name)).collect()
}

fn with_volume() -> PillarFiles {
    let facts = json!({"size": "100G", "volume_group": "data-vg", "devices": ["/dev/sdb"], "host": FULL});
    let host = json!({"address": "10.0.0.2", "roles": ["storage"]});
    let files = said(
        &pillar(COMMON, "#!yaml\n"),
        Sentence::CreateHost {
            host: FULL.to_owned(),
            facts: serde_json::from_value(host).unwrap(),
        },
    );
    said(
        &files,
        Sentence::CreateVolume {
            environment: "production".to_owned(),
            volume: "database_volume".to_owned(),
            facts: serde_json::from_value(facts).unwrap(),
        },
    )
}

#[test]
fn a_volume_may_have_an_underscore_and_a_host_its_full_name() {
    let grown = said(
        &with_volume(),
        Sentence::UpdateVolume {
            environment: "production".to_owned(),
            component: "database_volume".to_owned(),
            need: STANDING_NEED.to_owned(),
            facts: serde_json::from_value(json!({"size": "+50G"})).unwrap(),
        },
    );
    let compilation = compiled(&grown).unwrap();
    let slice = artifact(&compilation, "pillar/hosts/web1/example/org.sls");
    let volume = &slice["eos"]["volumes"]["production/database_volume/data"];
    assert_eq!(volume["volume"], "database_volume", "{slice}");
    assert_eq!(volume["path"], "/srv/database_volume");
    assert_eq!(volume["size"], 150_u64 << 30);
    // Salt looks for `hosts.web1.example.org` in exactly that file.
    let top = artifact(&compilation, "pillar/top.sls");
    assert_eq!(top["base"][FULL], json!(["hosts.web1.example.org"]));
    artifact(
        &compilation,
        "salt/components/database_volume/production/volumes.sls",
    );
    let waves = artifact(&compilation, "salt/orchestrate/waves.json");
    let step = &waves["waves"][0][0];
    assert_eq!(
        (step["minion"].as_str(), step["sls"].as_str()),
        (Some(FULL), Some("components.database_volume.production.volumes"))
    );
}

#[test]
fn volumes_on_hosts_with_full_names_lie_where_salt_looks_for_them() {
    let common = format!("{COMMON}  {FULL}: {{address: 10.0.0.2, roles: [client]}}\n");
    let files = pillar(&common, "#!yaml\ncomponents:\n  shop: {options: {replicas: 2}}\n");
    let compilation = compiled(&files).unwrap();
    artifact(
        &compilation,
        "salt/components/shop/production/volumes-control.sls",
    );
    artifact(
        &compilation,
        "salt/components/shop/production/volumes-web1/example/org.sls",
    );
    let waves = compilation.artifacts["salt/orchestrate/waves.json"].clone();
    let waves = String::from_utf8(waves).unwrap();
    assert!(
        waves.contains("components.shop.production.volumes-web1.example.org"),
        "{waves}"
    );
}

#[test]
fn it_is_said_where_an_engine_has_another_name() {
    let files = with_volume();
    let salt = ("Salt", "production/database_volume/data".to_owned());
    assert_eq!(
        called(&files, "volume/database_volume"),
        [
            salt,
            ("LVM", "data-vg/database_volume".to_owned()),
            ("kernel", "/dev/mapper/data--vg-database_volume".to_owned()),
        ]
    );
    let slice = [("Salt", "pillar/hosts/web1/example/org.sls".to_owned())];
    for about in ["host/web1.example.org", FULL] {
        assert_eq!(called(&files, about), slice, "{about}");
    }
    assert_eq!(called(&files, "host/control"), []);
    assert_eq!(called(&files, "volume/database_volume.size"), []);
}

#[test]
fn an_attribute_of_a_host_with_dots_is_found() {
    let files = with_volume();
    let compilation = compiled(&files).unwrap();
    for about in ["web1.example.org.address", "host/web1.example.org.address"] {
        let question = Question {
            about,
            environment: "production",
            usual_environment: "production",
        };
        let answer = why(
            &question,
            &Pillar::read(&files).unwrap(),
            &catalog(),
            &compilation,
        )
        .unwrap();
        assert_eq!(
            (answer.extent, &answer.explained[0].value),
            (Extent::Attribute, &json!("10.0.0.2")),
            "{about}"
        );
    }
}

#[test]
fn numbers_as_ids_of_minions_stay_texts() {
    for host in ["10.0.0.5", "1.5", "0x10", "1e3", "7", "true", "no"] {
        let files = said(
            &pillar(COMMON, "#!yaml\n"),
            Sentence::CreateHost {
                host: host.to_owned(),
                facts: serde_json::from_value(json!({"address": "10.0.0.2"})).unwrap(),
            },
        );
        let read = Pillar::read(&files).unwrap_or_else(|found| panic!("{host}: {found:?}"));
        assert!(read.hosts.contains_key(host), "{host}: {:?}", read.hosts.keys());
    }
}

#[test]
fn two_names_that_would_be_one_are_refused() {
    let on_lvm = format!("{COMMON}  node1: {{address: a, roles: [storage], volume_group: data-vg}}\n");
    let volume = |name: &str| format!("#!yaml\nvolumes:\n  {name}: {{host: node1, size: 1G}}\n");
    for (common, production, words) in [
        (
            &format!("{COMMON}  web1.example.org: {{address: a}}\n  Web1.example.ORG: {{address: a}}\n"),
            "#!yaml\n".to_owned(),
            "Hosts web1.example.org and Web1.example.ORG differ in letter case alone",
        ),
        (
            &on_lvm,
            format!(
                "{}components:\n  shop: {{options: {{replicas: 1}}}}\n",
                volume("shop-data")
            ),
            "production/shop and production/shop-data would both have the volume shop-data",
        ),
        (
            &on_lvm,
            volume("snapshots"),
            "LVM reserves names that begin with snapshot",
        ),
        (
            &on_lvm,
            volume("my_tdata"),
            "LVM reserves names with _tdata in them",
        ),
    ] {
        let why = refused(common, &production);
        assert!(why.contains(words), "{why}");
    }
    // What is a directory is nothing to LVM.
    let files = pillar(
        &on_lvm.replace(", volume_group: data-vg", ""),
        &volume("my_tdata"),
    );
    compiled(&files).unwrap();
    // An underscore and a hyphen are two letters to every engine that has a volume.
    let both = format!("{}  a-b: {{host: node1, size: 1G}}\n", volume("a_b"));
    compiled(&pillar(&on_lvm, &both)).unwrap();
}
