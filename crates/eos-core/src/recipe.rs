//! Recipes: what can be created, as data. A recipe names its options, what it needs, its services and outputs.

use crate::diagnostic::{Diagnostic, Position};
use crate::name::{self, quoted};
use crate::option::{BUILT_IN, OptionType};
use crate::read::{Reader, find};
use crate::template::{self, Template};
use crate::yaml::{self, Node};
use serde::Serialize;

/// How much can go wrong, and so who may ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    Low,
    Medium,
    High,
}

#[derive(Clone, Debug)]
pub struct Recipe {
    pub name: String,
    pub file: String,
    pub summary: String,
    pub version: String,
    pub risk: Risk,
    pub options: Vec<OptionSpec>,
    pub volumes: Vec<VolumeNeed>,
    pub services: Vec<Service>,
    pub outputs: Vec<Output>,
}

#[derive(Clone, Debug)]
pub struct OptionSpec {
    pub name: String,
    pub kind: OptionType,
    pub default: Option<Template>,
    /// Length of the value Eos makes when none is given (secrets only).
    pub generate: Option<u32>,
    pub help: String,
    pub at: Position,
}

/// A volume that the component keeps data on.
#[derive(Clone, Debug)]
pub struct VolumeNeed {
    pub name: String,
    pub purpose: Purpose,
    pub size: Template,
    pub path: Template,
    /// `user:group`, as numbers or names.
    pub owner: String,
    pub mode: String,
    pub at: Position,
}

/// What a volume is for; the storage policy chooses the filesystem by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    Application,
    Database,
    Backup,
    Shared,
}

#[derive(Clone, Debug)]
pub struct Service {
    pub name: String,
    /// Exactly one may run: it writes to a volume that has a single writer.
    pub one: bool,
    pub replicas: Option<Figure>,
    pub cpu: Option<Figure>,
    pub memory: Option<Figure>,
    pub run: Run,
    pub env: Vec<(String, Template)>,
    pub secrets: Vec<SecretUse>,
    pub ports: Vec<Port>,
    pub check: Option<Check>,
    /// Name of the volume need -> path inside the task.
    pub mounts: Vec<(String, String)>,
    pub at: Position,
}

/// How a service is given a secret: an environment variable that holds its value, or names a file that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUse {
    pub variable: String,
    /// Name of the secret option.
    pub item: String,
    pub file: bool,
}

/// A number that the recipe sets for production.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    pub value: u32,
    pub at: Position,
}

#[derive(Clone, Debug)]
pub enum Run {
    /// A container image.
    Image(Template),
    /// A program of the host and its arguments.
    Program(Vec<Template>),
}

#[derive(Clone, Debug)]
pub struct Port {
    pub label: String,
    /// Port inside the container.
    pub to: Option<Template>,
    /// Port of the host; without one the scheduler chooses.
    pub fixed: Option<Template>,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub path: Template,
}

#[derive(Clone, Debug)]
pub struct Output {
    pub name: String,
    pub value: Template,
}

impl Recipe {
    pub fn option(&self, name: &str) -> Option<&OptionSpec> {
        self.options.iter().find(|option| option.name == name)
    }

    /// Every option a person may set: the recipe's own, then those that all recipes have.
    pub fn settable(&self) -> impl Iterator<Item = &OptionSpec> {
        let one = self.services.iter().all(|service| service.one);
        self.options.iter().chain(
            BUILT_IN
                .iter()
                .filter(move |option| !(one && option.name == "replicas")),
        )
    }

    pub fn parse(file: &str, text: &[u8]) -> Result<Self, Vec<Diagnostic>> {
        let root = yaml::parse(file, text)?;
        let mut reader = Reader::new(file);
        let recipe = read(&mut reader, &root);
        match recipe {
            Some(recipe) if reader.diagnostics.is_empty() => Ok(recipe),
            _ => Err(reader.diagnostics),
        }
    }
}

fn read(reader: &mut Reader<'_>, root: &Node) -> Option<Recipe> {
    const KEYS: &[&str] = &[
        "recipe", "summary", "version", "risk", "options", "needs", "services", "outputs",
    ];
    let entries = reader.record("the recipe", root, KEYS);
    let mut required = |key: &str| -> Option<String> {
        match find(entries, key) {
            Some(node) => reader.text(key, node),
            None => {
                reader.report(root.at, format!("The recipe has no {key}"));
                None
            }
        }
    };
    let (name, summary, version) = (required("recipe"), required("summary"), required("version"));
    if let Some(problem) = name.as_deref().and_then(|name| name::problem("recipe", name)) {
        reader.report(find(entries, "recipe").map_or(root.at, |node| node.at), problem);
    }
    let risk = find(entries, "risk").map_or(Some(Risk::Low), |node| read_risk(reader, node));
    let options: Vec<_> = find(entries, "options").map_or_else(Vec::new, |node| {
        reader
            .map("options", node)
            .iter()
            .filter_map(|e| read_option(reader, &e.key, e.key_at, &e.value))
            .collect()
    });
    let volumes: Vec<_> = find(entries, "needs").map_or_else(Vec::new, |node| {
        reader
            .map("needs", node)
            .iter()
            .filter_map(|e| read_need(reader, &e.key, &e.value))
            .collect()
    });
    let services: Vec<_> = match find(entries, "services") {
        Some(node) => reader
            .map("services", node)
            .iter()
            .filter_map(|e| read_service(reader, &e.key, e.key_at, &e.value))
            .collect(),
        None => {
            reader.report(root.at, "The recipe has no services");
            Vec::new()
        }
    };
    let outputs = find(entries, "outputs").map_or_else(Vec::new, |node| {
        reader
            .map("outputs", node)
            .iter()
            .filter_map(|e| {
                Some(Output {
                    name: e.key.clone(),
                    value: read_template(reader, &e.key, &e.value)?,
                })
            })
            .collect()
    });
    let recipe = Recipe {
        name: name?,
        file: reader.file.to_owned(),
        summary: summary?,
        version: version?,
        risk: risk?,
        options,
        volumes,
        services,
        outputs,
    };
    check_references(reader, &recipe);
    Some(recipe)
}

fn read_risk(reader: &mut Reader<'_>, node: &Node) -> Option<Risk> {
    match node.as_str() {
        Some("low") => Some(Risk::Low),
        Some("medium") => Some(Risk::Medium),
        Some("high") => Some(Risk::High),
        _ => {
            reader.report_with_hint(node.at, "Unknown risk", "Use low, medium or high");
            None
        }
    }
}

fn read_option(reader: &mut Reader<'_>, name: &str, at: Position, node: &Node) -> Option<OptionSpec> {
    let what = format!("option {}", quoted(name));
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    {
        reader.report_with_hint(
            at,
            format!("{what} has no valid name"),
            "Use lower-case letters, digits and underscores",
        );
    }
    if BUILT_IN.iter().any(|built_in| built_in.name == name) {
        reader.report(at, format!("{what} is built in: every recipe has it"));
    }
    let entries = reader.record(&what, node, &["type", "default", "generate", "help", "choices"]);
    let choices = find(entries, "choices")
        .map(|node| reader.texts("choices", node))
        .unwrap_or_default();
    let kind = match find(entries, "type") {
        Some(node) => {
            let word = reader.text("type", node)?;
            OptionType::from_word(&word, choices).or_else(|| {
                reader.report_with_hint(
                    node.at,
                    format!("Unknown option type {}", quoted(&word)),
                    format!("Known types: {}", OptionType::WORDS.join(", ")),
                );
                None
            })?
        }
        None => OptionType::String,
    };
    let default = find(entries, "default").and_then(|node| read_template(reader, "default", node));
    let generate = find(entries, "generate")
        .and_then(|node| reader.whole_number("generate", node, 12, 128))
        .map(|n| n as u32);
    let secret = kind == OptionType::Secret;
    if secret && default.is_some() {
        reader.report_with_hint(
            at,
            format!("{what} is a secret and has a default"),
            "Use generate: 24 instead",
        );
    }
    if !secret && generate.is_some() {
        reader.report(at, format!("{what} is not a secret and cannot be generated"));
    }
    let help = find(entries, "help")
        .and_then(|node| reader.text("help", node))
        .unwrap_or_default();
    Some(OptionSpec {
        name: name.to_owned(),
        kind,
        default,
        generate,
        help,
        at,
    })
}

fn read_need(reader: &mut Reader<'_>, name: &str, node: &Node) -> Option<VolumeNeed> {
    let entries = reader.record(&format!("need {}", quoted(name)), node, &["volume"]);
    let node = find(entries, "volume")?;
    let fields = reader.record("volume", node, &["purpose", "size", "path", "owner", "mode"]);
    let mut need = |key: &str| {
        let found = find(fields, key);
        if found.is_none() {
            reader.report(node.at, format!("volume {} has no {key}", quoted(name)));
        }
        found
    };
    let (purpose, size, path) = (need("purpose")?, need("size")?, need("path")?);
    let purpose = match purpose.as_str() {
        Some("application") => Purpose::Application,
        Some("database") => Purpose::Database,
        Some("backup") => Purpose::Backup,
        Some("shared") => Purpose::Shared,
        _ => {
            reader.report_with_hint(
                purpose.at,
                "Unknown purpose of a volume",
                "Use application, database, backup or shared",
            );
            return None;
        }
    };
    let owner =
        find(fields, "owner").map_or(Some("root:root".to_owned()), |node| reader.text("owner", node))?;
    if owner.split(':').count() != 2 {
        reader.report_with_hint(
            node.at,
            "The owner of a volume is user:group",
            "For example owner: \"472:472\"",
        );
    }
    let mode = find(fields, "mode").map_or(Some("0750".to_owned()), |node| reader.text("mode", node))?;
    Some(VolumeNeed {
        name: name.to_owned(),
        purpose,
        size: read_template(reader, "size", size)?,
        path: read_template(reader, "path", path)?,
        owner,
        mode,
        at: node.at,
    })
}

fn read_service(reader: &mut Reader<'_>, name: &str, at: Position, node: &Node) -> Option<Service> {
    const KEYS: &[&str] = &[
        "instances",
        "replicas",
        "cpu",
        "memory",
        "image",
        "program",
        "env",
        "secrets",
        "ports",
        "check",
        "volumes",
    ];
    let what = format!("service {}", quoted(name));
    if let Some(problem) = name::problem("service", name) {
        reader.report(at, problem);
    }
    let entries = reader.record(&what, node, KEYS);
    let one = match find(entries, "instances").map(|node| (node, node.as_str())) {
        None | Some((_, Some("many"))) => false,
        Some((_, Some("one"))) => true,
        Some((node, _)) => {
            reader.report_with_hint(node.at, format!("Unknown instances of {what}"), "Use one or many");
            false
        }
    };
    let mut figure = |key: &str, high: i64| {
        let node = find(entries, key)?;
        Some(Figure {
            value: reader.whole_number(key, node, 1, high)? as u32,
            at: node.at,
        })
    };
    let (replicas, cpu, memory) = (
        figure("replicas", 1000),
        figure("cpu", 1_000_000),
        figure("memory", 10_000_000),
    );
    let run = match (find(entries, "image"), find(entries, "program")) {
        (Some(image), None) => Run::Image(read_template(reader, "image", image)?),
        (None, Some(program)) => {
            let Some(words) = program.as_list().filter(|words| !words.is_empty()) else {
                reader.report(
                    program.at,
                    format!("The program of {what} must be a list of words"),
                );
                return None;
            };
            Run::Program(
                words
                    .iter()
                    .filter_map(|word| read_template(reader, "program", word))
                    .collect(),
            )
        }
        _ => {
            reader.report_with_hint(
                at,
                format!("{what} needs either an image or a program"),
                "Add image: NAME:TAG",
            );
            return None;
        }
    };
    let env = find(entries, "env").map_or_else(Vec::new, |node| {
        reader
            .map("env", node)
            .iter()
            .filter_map(|e| Some((e.key.clone(), read_template(reader, &e.key, &e.value)?)))
            .collect()
    });
    let mut pairs = |key: &str| -> Vec<(String, String)> {
        find(entries, key).map_or_else(Vec::new, |node| {
            reader
                .map(key, node)
                .iter()
                .filter_map(|e| Some((e.key.clone(), reader.text(key, &e.value)?)))
                .collect()
        })
    };
    let mounts = pairs("volumes");
    let secrets = find(entries, "secrets").map_or_else(Vec::new, |node| {
        reader
            .map("secrets", node)
            .iter()
            .filter_map(|e| read_secret_use(reader, &e.key, &e.value))
            .collect()
    });
    let ports: Vec<_> = find(entries, "ports").map_or_else(Vec::new, |node| {
        reader
            .map("ports", node)
            .iter()
            .filter_map(|e| read_port(reader, &e.key, &e.value))
            .collect()
    });
    let check = find(entries, "check").and_then(|node| {
        let fields = reader.record("check", node, &["http"]);
        Some(Check {
            path: read_template(reader, "http", find(fields, "http")?)?,
        })
    });
    if check.is_some() && ports.is_empty() {
        reader.report(at, format!("{what} has a check but no port to check"));
    }
    Some(Service {
        name: name.to_owned(),
        one,
        replicas,
        cpu,
        memory,
        run,
        env,
        secrets,
        ports,
        check,
        mounts,
        at,
    })
}

fn read_secret_use(reader: &mut Reader<'_>, variable: &str, node: &Node) -> Option<SecretUse> {
    let (node, file) = match node.as_map() {
        Some(_) => (find(reader.record("a secret", node, &["file"]), "file")?, true),
        None => (node, false),
    };
    Some(SecretUse {
        variable: variable.to_owned(),
        item: reader.text("secrets", node)?,
        file,
    })
}

fn read_port(reader: &mut Reader<'_>, label: &str, node: &Node) -> Option<Port> {
    let fields = reader.record(&format!("port {}", quoted(label)), node, &["to", "static"]);
    let mut field = |key: &str| find(fields, key).and_then(|node| read_template(reader, key, node));
    Some(Port {
        label: label.to_owned(),
        to: field("to"),
        fixed: field("static"),
    })
}

fn read_template(reader: &mut Reader<'_>, what: &str, node: &Node) -> Option<Template> {
    match Template::read(node) {
        Ok(template) => Some(template),
        Err(why) => {
            reader.report(node.at, format!("{} cannot be read: {why}", quoted(what)));
            None
        }
    }
}

/// Every name in a template is an option or a fact; a secret option stands under `secrets:` and nowhere else.
fn check_references(reader: &mut Reader<'_>, recipe: &Recipe) {
    let check = |reader: &mut Reader<'_>, template: &Template, facts: &[&str]| {
        for name in template.names() {
            match recipe.option(name) {
                Some(option) if option.kind == OptionType::Secret => reader.report_with_hint(
                    template.at,
                    format!("Secret option {} is used outside of secrets", quoted(name)),
                    "List it under secrets: of the service; its value then stays in the secrets engine",
                ),
                Some(_) => {}
                None if facts.contains(&name) || BUILT_IN.iter().any(|option| option.name == name) => {}
                None => {
                    let known = recipe
                        .options
                        .iter()
                        .map(|option| option.name.as_str())
                        .chain(facts.iter().copied());
                    let hint = match name::closest(name, known) {
                        Some(meant) => format!("Did you mean {meant}?"),
                        None => format!("Add an option {name}, or use one of: {}", facts.join(", ")),
                    };
                    reader.report_with_hint(
                        template.at,
                        format!("Unknown name {} in a template", quoted(name)),
                        hint,
                    );
                }
            }
        }
    };
    for option in &recipe.options {
        if let Some(default) = &option.default {
            check(reader, default, template::FACTS);
        }
    }
    for volume in &recipe.volumes {
        check(reader, &volume.size, template::FACTS);
        check(reader, &volume.path, template::FACTS);
    }
    for service in &recipe.services {
        let run: Vec<_> = match &service.run {
            Run::Image(image) => vec![image],
            Run::Program(words) => words.iter().collect(),
        };
        let ports = service
            .ports
            .iter()
            .flat_map(|port| [&port.to, &port.fixed])
            .flatten();
        let others = service
            .env
            .iter()
            .map(|(_, value)| value)
            .chain(service.check.iter().map(|check| &check.path));
        for template in run.into_iter().chain(ports).chain(others) {
            check(reader, template, template::FACTS);
        }
        for SecretUse { variable, item, .. } in &service.secrets {
            if recipe
                .option(item)
                .is_none_or(|option| option.kind != OptionType::Secret)
            {
                reader.report(
                    service.at,
                    format!("{variable} wants {}, which is no secret option", quoted(item)),
                );
            }
        }
        for (volume, _) in &service.mounts {
            if !recipe.volumes.iter().any(|need| need.name == *volume) {
                reader.report(
                    service.at,
                    format!(
                        "Service {} mounts unknown volume {}",
                        service.name,
                        quoted(volume)
                    ),
                );
            }
        }
        if !service.mounts.is_empty() && !service.one {
            reader.report_with_hint(
                service.at,
                format!(
                    "Service {} writes to a volume and must be a single instance",
                    service.name
                ),
                "Add instances: one",
            );
        }
    }
    for output in &recipe.outputs {
        check(reader, &output.value, template::OUTPUT_FACTS);
    }
}
