//! Every attribute of every node of the golden estates can be explained, and what the explanation says is there.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::intent::find_volume;
use eos_core::name::ENVIRONMENTS;
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;
use eos_core::source::Source;
use eos_core::why::{Change, Explained, Explanation, Extent, Question, Spot, why};
use std::path::{Path, PathBuf};

struct Estate {
    root: PathBuf,
    pillar: Pillar,
    catalog: Catalog,
    compilation: Compilation,
}

fn estates() -> Vec<Estate> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let cases = std::fs::read_dir(golden).unwrap();
    cases
        .map(|case| estate(case.unwrap().path().join("estate")))
        .collect()
}

fn estate(root: PathBuf) -> Estate {
    let names = ENVIRONMENTS.iter().chain(&["common"]);
    let files = names.map(|name| format!("pillar/infrastructure/{name}.sls"));
    let files: PillarFiles = files
        .filter_map(|file| Some((file.clone(), std::fs::read(root.join(&file)).ok()?)))
        .collect();
    let pillar = Pillar::read(&files).unwrap();
    let own = std::fs::read_dir(root.parent().unwrap().join("recipes"));
    let recipes = own.into_iter().flatten().map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let file = format!("recipes/{name}/recipe.yaml");
        let text = std::fs::read(root.parent().unwrap().join(&file)).unwrap();
        (file, text)
    });
    let catalog = Catalog::load(&recipes.collect::<Vec<_>>()).unwrap();
    let profile = match root.parent().unwrap().ends_with("full") {
        true => Profile::Full,
        false => Profile::Solo,
    };
    let compilation = compile(&pillar, &catalog, profile).unwrap();
    Estate {
        root,
        pillar,
        catalog,
        compilation,
    }
}

impl Estate {
    fn ask(&self, environment: &str, about: &str) -> Explanation {
        let question = Question {
            about,
            environment,
            usual_environment: "production",
        };
        why(&question, &self.pillar, &self.catalog, &self.compilation)
            .unwrap_or_else(|unknown| panic!("{}: {about}: {unknown}", self.root.display()))
    }

    /// The line exists, in the estate or in the catalog that ships with Eos. Gives it, or nothing where none is named.
    fn check_place(&self, about: &str, spot: &Spot) -> String {
        let root = match spot.built_in {
            true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
            // A recipe of the case's own lies beside its estate.
            false if spot.file.starts_with("recipes/") => self.root.parent().unwrap().to_owned(),
            false => self.root.clone(),
        };
        let text = std::fs::read_to_string(root.join(&spot.file)).unwrap_or_else(|error| {
            panic!("{about}: {}: {error}", spot.file);
        });
        let lines = text.lines().count() as u32;
        assert!(
            spot.line.is_none_or(|line| line >= 1 && line <= lines),
            "{about}: {spot:?}"
        );
        let line = spot.line.and_then(|line| text.lines().nth(line as usize - 1));
        line.unwrap_or_default().to_owned()
    }

    /// A command names a component that there is, and an option of its recipe; or a volume that there is.
    fn check_command(&self, about: &str, environment: &str, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        if let ["eos", "resize", "lvm", meant, ..] | ["eos", "convert", "filesystem", meant, ..] = words[..] {
            let found = find_volume(&self.compilation.components, environment, meant);
            assert!(found.is_ok(), "{about}: {command}");
            return;
        }
        assert_eq!(words[..2], ["eos", "update"], "{about}: {command}");
        let lowered = self.compilation.component(environment, words[2]).unwrap();
        let option = words[3].trim_start_matches("--").split('=').next().unwrap();
        let recipe = self.catalog.get(&lowered.recipe).unwrap();
        let known = |name: &str| name.replace('_', "-") == option;
        assert!(
            option == "upgrade" || recipe.settable().any(|spec| known(&spec.name)),
            "{about}: {command}"
        );
        let named = words.get(words.len() - 2..) == Some(&["--environment", environment]);
        assert_eq!(named, environment != "production", "{about}: {command}");
    }
}

#[test]
fn every_attribute_is_explained() {
    let mut count = 0;
    for estate in estates() {
        for ((environment, _), nodes) in &estate.compilation.all_nodes() {
            for node in nodes {
                let whole = estate.ask(environment, &node.address.to_string());
                assert_eq!(whole.explained.len(), node.attributes.len(), "{}", node.address);
                for (name, attribute) in &node.attributes {
                    let about = format!("{}.{name}", node.address);
                    let answer = estate.ask(environment, &about);
                    assert_eq!(answer.extent, Extent::Attribute, "{about}");
                    let [explained] = answer.explained.as_slice() else {
                        panic!("{about}: {}", answer.explained.len());
                    };
                    assert_eq!(explained.value, attribute.value, "{about}");
                    check(&estate, environment, &about, explained);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}

fn check(estate: &Estate, environment: &str, about: &str, explained: &Explained) {
    let in_no_file = matches!(explained.from, Source::Pass { .. });
    assert!(explained.place.is_some() || in_no_file, "{about}: {explained:?}");
    let places = explained.over.iter().map(|rival| &rival.place);
    let places = places.chain(explained.made_of.iter().map(|part| &part.place));
    for place in places.flatten() {
        estate.check_place(about, place);
    }
    let line = explained
        .place
        .as_ref()
        .map(|place| estate.check_place(about, place));
    // What a recipe says in so many words stands in the line that is named.
    let is_said = about.contains(".mount.") || about.ends_with(".metrics");
    if let Some(line) = line.filter(|_| is_said) {
        assert!(
            line.contains(explained.value.as_str().unwrap()),
            "{about}: {line}"
        );
    }
    assert!(!explained.change.is_empty(), "{about}: {explained:?}");
    for change in &explained.change {
        match change {
            Change::Command { command } => estate.check_command(about, environment, command),
            Change::Edit { place, .. } => drop(estate.check_place(about, place)),
            Change::Follows { from } => assert!(from.starts_with("from "), "{about}: {from}"),
        }
    }
}

#[test]
fn hosts_are_explained_too() {
    for estate in estates() {
        for host in estate.pillar.hosts.values() {
            let about = format!("host/{}", host.name);
            for explained in estate.ask("production", &about).explained {
                assert_eq!(explained.environment, None);
                check(&estate, "production", &about, &explained);
            }
        }
    }
}
