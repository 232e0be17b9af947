//! The pillar as typed facts: hosts, and the components and volumes of each environment.

mod volume;

use crate::diagnostic::{Diagnostic, Place};
use crate::name::{self, ENVIRONMENTS, Sort};
use crate::option;
use crate::read::{Reader, find};
use crate::source::Source;
use crate::yaml::{self, Entry, Node};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub use volume::{
    ALERTS, COMPRESSIONS, Converted, Restored, SETTINGS, STANDING, STANDING_NEED, Setting, StandingVolume,
    VolumeSettings, group_problem, is_device,
};
pub(crate) use volume::{read_mode, read_owner, read_purpose};

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
    /// Volumes that stand for themselves; none has the name of a component of its environment.
    pub volumes: BTreeMap<(String, String), StandingVolume>,
    /// Environment -> the generation of what its components share.
    pub generations: BTreeMap<String, u32>,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub name: String,
    pub address: String,
    pub roles: Vec<String>,
    pub datacenter: String,
    /// Volume group that its volumes are made in.
    pub volume_group: Option<String>,
    /// Disks that are given to Eos.
    pub devices: Vec<String>,
    /// Directory that all volumes of this host lie below (a laboratory).
    pub volumes_below: Option<String>,
    pub intent: Option<Words>,
    pub at: Place,
}

impl Host {
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|of| of == role)
    }

    /// The host as the source of a value.
    pub fn source(&self) -> Source {
        Source::Host {
            host: self.name.clone(),
            file: self.at.file.clone(),
            line: self.at.position.line,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Component {
    pub environment: String,
    pub name: String,
    pub recipe: String,
    /// Recipe -> the pin that this component, and what it has for its own use, are made from; without one, the newest.
    pub pinned: BTreeMap<String, String>,
    /// Volume -> hosts it lies on. Written when it is made, so that data stays where it is when hosts come and go.
    pub hosts: BTreeMap<String, HostsOfVolume>,
    /// Boxed, since a map of few entries has room for eleven.
    pub options: BTreeMap<String, Box<OptionValue>>,
    /// What is set of its volumes, by need.
    pub volumes: BTreeMap<String, VolumeSettings>,
    /// How often it was brought back to what is written here. A new number has Terraform register the job again, also
    /// where its provider sees no difference.
    pub generation: u32,
    /// Nothing of it is to run until somebody starts it.
    pub stopped: Option<Box<Stopped>>,
    pub intent: Option<Words>,
    /// The component that has this one for its own use.
    pub owner: Option<String>,
    pub at: Place,
}

/// That a component is stopped: who did so, unless a person wrote it by hand, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    pub by: Option<Words>,
    pub at: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HostsOfVolume {
    pub names: Vec<String>,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub struct OptionValue {
    pub value: Value,
    pub set_by: SetBy,
    pub at: Place,
}

/// Who gave an option its value.
#[derive(Clone, Debug, PartialEq)]
pub enum SetBy {
    /// A person, in the pillar.
    Person,
    /// The recipe of the component that has this one for its own use.
    Consumer { component: String, recipe: String },
}

/// The highest generation there is.
pub const GENERATIONS: u32 = 1_000_000;

/// What a host can be.
pub const ROLES: &[&str] = &["client", "control", "storage"];

/// The words a component was asked for with (I9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    pub fn volume(&self, environment: &str, name: &str) -> Option<&StandingVolume> {
        self.volumes.get(&(environment.to_owned(), name.to_owned()))
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
        // Consul and DNS take two such names for one.
        let same = |name: &&String| name.eq_ignore_ascii_case(&entry.key);
        if let Some(other) = pillar.hosts.keys().find(same) {
            let words = format!("Hosts {} and {} differ in letter case alone", other, entry.key);
            reader.report_with_hint(entry.key_at, words, "Give one of the two minions another id");
        }
        if let Some(host) = read_host(reader, entry) {
            pillar.hosts.insert(host.name.clone(), host);
        }
    }
}

fn read_host(reader: &mut Reader<'_>, entry: &Entry) -> Option<Host> {
    const KEYS: &[&str] = &[
        "address",
        "datacenter",
        "devices",
        "intent",
        "roles",
        "volume_group",
        "volumes_below",
    ];
    if let Some(problem) = name::problem(Sort::Host, &entry.key) {
        reader.report_with_hint(entry.key_at, problem, "Choose another name");
    }
    let fields = reader.record("a host", &entry.value, KEYS);
    let address = match find(fields, "address") {
        Some(node) => reader.text("address", node),
        None => {
            reader.report_with_hint(
                entry.key_at,
                format!("Host {} has no address", name::named(&entry.key)),
                "Add address: with a name or IP address that other hosts reach",
            );
            None
        }
    };
    let roles = find(fields, "roles").map_or_else(Vec::new, |node| {
        let roles = reader.texts("roles", node);
        for role in roles.iter().filter(|role| !ROLES.contains(&role.as_str())) {
            let hint = match name::closest(role, ROLES.iter().copied()) {
                Some(meant) => format!("Did you mean {meant}?"),
                None => format!("Known roles: {}", ROLES.join(", ")),
            };
            reader.report_with_hint(node.at, format!("Unknown role {}", name::quoted(role)), hint);
        }
        roles
    });
    let mut text = |key: &str| find(fields, key).map(|node| reader.text(key, node).unwrap_or_default());
    let (datacenter, volume_group) = (text("datacenter"), text("volume_group"));
    let volumes_below = find(fields, "volumes_below").and_then(|node| read_directory(reader, node));
    let devices = find(fields, "devices").map_or_else(Vec::new, |node| reader.texts("devices", node));
    Some(Host {
        name: entry.key.clone(),
        address: address?,
        roles,
        datacenter: datacenter.unwrap_or_else(|| "dc1".to_owned()),
        volume_group,
        devices,
        volumes_below,
        intent: find(fields, "intent").map(|node| read_words(reader, "intent", node)),
        at: Place {
            file: reader.file.to_owned(),
            position: entry.key_at,
        },
    })
}

fn read_directory(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let path = reader.text("volumes_below", node)?;
    if !option::is_absolute(path.trim_end_matches('/')) {
        reader.report_with_hint(
            node.at,
            format!("volumes_below cannot be {}", name::quoted(&path)),
            "Give an absolute path without . and ..",
        );
    }
    Some(path)
}

fn read_environment(reader: &mut Reader<'_>, root: &Node, environment: &str, pillar: &mut Pillar) {
    if root.is_null() {
        return;
    }
    let file = reader.file;
    let entries = reader.record(file, root, &["components", "generation", "volumes"]);
    let generation = find(entries, "generation").filter(|node| !node.is_null());
    if let Some(number) = generation.and_then(|node| read_generation(reader, node)) {
        pillar.generations.insert(environment.to_owned(), number);
    }
    let given = |key: &str| find(entries, key).filter(|node| !node.is_null());
    for entry in given("components").map_or(&[][..], |node| reader.map("components", node)) {
        if let Some(component) = read_component(reader, entry, environment) {
            let key = (environment.to_owned(), entry.key.clone());
            pillar.components.insert(key, component);
        }
    }
    for entry in given("volumes").map_or(&[][..], |node| reader.map("volumes", node)) {
        if pillar.component(environment, &entry.key).is_some() {
            let words = format!("{} is the name of a component, too", name::named(&entry.key));
            reader.report_with_hint(entry.key_at, words, "Choose another name for the volume");
        }
        if let Some(volume) = volume::read_standing(reader, entry, environment) {
            let key = (environment.to_owned(), entry.key.clone());
            pillar.volumes.insert(key, volume);
        }
    }
}

fn read_component(reader: &mut Reader<'_>, entry: &Entry, environment: &str) -> Option<Component> {
    const KEYS: &[&str] = &[
        "recipe",
        "pinned",
        "hosts",
        "options",
        "volumes",
        "generation",
        "stopped",
        "intent",
    ];
    if let Some(problem) = name::problem(Sort::Component, &entry.key) {
        reader.report_with_hint(
            entry.key_at,
            problem,
            "Choose another name, and name its recipe with recipe:",
        );
    }
    let file = reader.file;
    let place = |position| Place {
        file: file.to_owned(),
        position,
    };
    let fields = reader.record("a component", &entry.value, KEYS);
    let given = |key: &str| find(fields, key).filter(|node| !node.is_null());
    let recipe = match given("recipe") {
        Some(node) => reader.text("recipe", node),
        None => Some(entry.key.clone()),
    };
    let mut pinned = BTreeMap::new();
    for pin in given("pinned").map_or(&[][..], |node| reader.map("pinned", node)) {
        pinned.extend(
            reader
                .text("pinned", &pin.value)
                .map(|text| (pin.key.clone(), text)),
        );
    }
    let mut hosts = BTreeMap::new();
    for volume in given("hosts").map_or(&[][..], |node| reader.map("hosts", node)) {
        let names = reader.texts("hosts", &volume.value);
        let at = place(volume.value.at);
        hosts.insert(volume.key.clone(), HostsOfVolume { names, at });
    }
    let options = given("options").map_or(&[][..], |node| reader.map("options", node));
    let options = options.iter().map(|option| {
        let value = OptionValue {
            value: option.value.to_json(),
            set_by: SetBy::Person,
            at: place(option.value.at),
        };
        (option.key.clone(), Box::new(value))
    });
    let options = options.collect();
    let volumes = given("volumes").map_or_else(BTreeMap::new, |node| volume::read_of_component(reader, node));
    let generation = given("generation").and_then(|node| read_generation(reader, node));
    let stopped = given("stopped").and_then(|node| read_stopped(reader, node));
    let intent = given("intent").map(|node| read_words(reader, "intent", node));
    Some(Component {
        environment: environment.to_owned(),
        name: entry.key.clone(),
        recipe: recipe?,
        pinned,
        hosts,
        options,
        volumes,
        generation: generation.unwrap_or_default(),
        stopped,
        intent,
        owner: None,
        at: place(entry.key_at),
    })
}

fn read_generation(reader: &mut Reader<'_>, node: &Node) -> Option<u32> {
    let number = reader.whole_number("generation", node, 0, GENERATIONS.into())?;
    u32::try_from(number).ok()
}

/// `true` is for a person who edits the pillar by hand; Eos writes who stopped it.
fn read_stopped(reader: &mut Reader<'_>, node: &Node) -> Option<Box<Stopped>> {
    let by = match &node.value {
        yaml::Value::Bool(false) => return None,
        yaml::Value::Bool(true) => None,
        yaml::Value::Map(_) => Some(read_words(reader, "stopped", node)),
        _ => {
            let words = format!("stopped must be true or false, not {}", node.kind_name());
            reader.report_with_hint(node.at, words, "Write stopped: true, or leave it out");
            return None;
        }
    };
    let at = Place {
        file: reader.file.to_owned(),
        position: node.at,
    };
    Some(Box::new(Stopped { by, at }))
}

fn read_words(reader: &mut Reader<'_>, what: &str, node: &Node) -> Words {
    let fields = reader.record(what, node, &["words", "who", "when"]);
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
}
