//! The pillar as typed facts: hosts, and the components of each environment.

use crate::diagnostic::{Diagnostic, Place};
use crate::name::{self, ENVIRONMENTS};
use crate::read::{Reader, find};
use crate::yaml::{self, Node};
use serde_json::Value;
use std::collections::BTreeMap;

pub const COMMON_FILE: &str = "pillar/infrastructure/common.sls";

/// The file that holds the components of an environment.
pub fn environment_file(environment: &str) -> String {
    format!("pillar/infrastructure/{environment}.sls")
}

/// The pillar's files as they are: path below the estate -> bytes.
pub type PillarFiles = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug, Default)]
pub struct Pillar {
    pub hosts: BTreeMap<String, Host>,
    pub components: BTreeMap<(String, String), Component>,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub name: String,
    pub address: String,
    pub roles: Vec<String>,
    /// Directory that all volumes of this host lie below (a laboratory).
    pub volumes_below: Option<String>,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub struct Component {
    pub environment: String,
    pub name: String,
    pub recipe: String,
    pub options: BTreeMap<String, OptionValue>,
    pub intent: Option<Words>,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub struct OptionValue {
    pub value: Value,
    pub at: Place,
}

/// The words a component was asked for with (I9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub words: String,
    pub who: String,
    pub when: String,
}

impl Pillar {
    pub fn read(files: &PillarFiles) -> Result<Self, Vec<Diagnostic>> {
        let mut pillar = Self::default();
        let mut diagnostics = Vec::new();
        let environments = ENVIRONMENTS
            .iter()
            .map(|environment| (environment_file(environment), Some(*environment)));
        for (file, environment) in std::iter::once((COMMON_FILE.to_owned(), None)).chain(environments) {
            let Some(text) = files.get(&file) else { continue };
            let mut reader = Reader::new(&file);
            match root(&file, text) {
                Ok(root) => match environment {
                    None => read_common(&mut reader, &root, &mut pillar),
                    Some(environment) => read_environment(&mut reader, &root, environment, &mut pillar),
                },
                Err(found) => reader.diagnostics.extend(found),
            }
            diagnostics.append(&mut reader.diagnostics);
        }
        if diagnostics.is_empty() {
            Ok(pillar)
        } else {
            Err(diagnostics)
        }
    }

    pub fn component(&self, environment: &str, name: &str) -> Option<&Component> {
        self.components.get(&(environment.to_owned(), name.to_owned()))
    }
}

/// Salt reads a file that starts with `#!yaml` as plain YAML; Eos edits no other kind.
fn root(file: &str, text: &[u8]) -> Result<Node, Vec<Diagnostic>> {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.strip_suffix(b"\r").unwrap_or(first) != b"#!yaml" {
        let at = crate::diagnostic::Position { line: 1, column: 1 };
        return Err(vec![
            Diagnostic::new("A pillar file must start with the line #!yaml")
                .at(file, at)
                .hint("Eos reads plain YAML only; Jinja in the pillar would have a value Eos cannot know"),
        ]);
    }
    yaml::parse(file, text)
}

fn read_common(reader: &mut Reader<'_>, root: &Node, pillar: &mut Pillar) {
    if root.is_null() {
        return;
    }
    let entries = reader.record(COMMON_FILE, root, &["hosts"]);
    let Some(hosts) = find(entries, "hosts").filter(|node| !node.is_null()) else {
        return;
    };
    for entry in reader.map("hosts", hosts) {
        if let Some(problem) = name::problem("host", &entry.key) {
            reader.report(entry.key_at, problem);
        }
        let fields = reader.record("a host", &entry.value, &["address", "roles", "volumes_below"]);
        let Some(address) = find(fields, "address").and_then(|node| reader.text("address", node)) else {
            reader.report(entry.key_at, format!("Host {} has no address", entry.key));
            continue;
        };
        let host = Host {
            name: entry.key.clone(),
            address,
            roles: find(fields, "roles")
                .map(|node| reader.texts("roles", node))
                .unwrap_or_default(),
            volumes_below: find(fields, "volumes_below").and_then(|node| reader.text("volumes_below", node)),
            at: Place {
                file: reader.file.to_owned(),
                position: entry.key_at,
            },
        };
        pillar.hosts.insert(entry.key.clone(), host);
    }
}

fn read_environment(reader: &mut Reader<'_>, root: &Node, environment: &str, pillar: &mut Pillar) {
    if root.is_null() {
        return;
    }
    let file = reader.file;
    let entries = reader.record(file, root, &["components"]);
    let Some(components) = find(entries, "components").filter(|node| !node.is_null()) else {
        return;
    };
    for entry in reader.map("components", components) {
        if let Some(problem) = name::problem("component", &entry.key) {
            reader.report(entry.key_at, problem);
        }
        let fields = reader.record("a component", &entry.value, &["recipe", "options", "intent"]);
        let recipe = match find(fields, "recipe") {
            Some(node) => reader.text("recipe", node),
            None => Some(entry.key.clone()),
        };
        let options = find(fields, "options")
            .filter(|node| !node.is_null())
            .map_or(&[][..], |node| reader.map("options", node));
        let place = |position| Place {
            file: file.to_owned(),
            position,
        };
        let options = options
            .iter()
            .map(|option| {
                (
                    option.key.clone(),
                    OptionValue {
                        value: option.value.to_json(),
                        at: place(option.value.at),
                    },
                )
            })
            .collect();
        let intent = find(fields, "intent").map(|node| {
            let fields = reader.record("intent", node, &["words", "who", "when"]);
            let mut text = |key| {
                find(fields, key)
                    .and_then(|node| reader.text(key, node))
                    .unwrap_or_default()
            };
            Words {
                words: text("words"),
                who: text("who"),
                when: text("when"),
            }
        });
        if let Some(recipe) = recipe {
            let component = Component {
                environment: environment.to_owned(),
                name: entry.key.clone(),
                recipe,
                options,
                intent,
                at: place(entry.key_at),
            };
            pillar
                .components
                .insert((environment.to_owned(), entry.key.clone()), component);
        }
    }
}
