//! What a recipe says of the container that an image runs in, beside its image, ports and files.

use super::read::{read_template, read_words};
use super::{Requires, Run, Service};
use crate::diagnostic::Position;
use crate::expand::{MEASURED, ROUTES};
use crate::name::quoted;
use crate::option;
use crate::read::{Reader, find};
use crate::template::Template;
use crate::yaml::{Entry, Node};

/// What changes in a file while its task runs.
const LIVE: &[&str] = &[ROUTES, MEASURED];

#[derive(Clone, Debug, Default)]
pub struct Container {
    /// In place of the image's own.
    pub entrypoint: Vec<Template>,
    /// `user` or `user:group` that it runs as, as numbers or as names of the image.
    pub user: Option<Template>,
    /// A process of its own collects what others leave, and passes signals on.
    pub init: bool,
    pub hostname: Option<Template>,
    /// How much memory it shares among its processes, as a size.
    pub shm: Option<Template>,
    pub privileges: Privileges,
}

/// What a container may do beyond its own walls. The minion takes any of it for a high risk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privileges {
    pub capabilities: Vec<String>,
    /// Paths of devices of the host.
    pub devices: Vec<String>,
    pub host_network: bool,
    /// Everything that root of the host may.
    pub all: bool,
}

impl Privileges {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// In words, the widest first.
    pub fn words(&self) -> String {
        let all = self
            .all
            .then(|| "everything that root of the host may".to_owned());
        let network = self.host_network.then(|| "the network of the host".to_owned());
        let named = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what} {}", names.join(" and ")))
        };
        let devices = named("devices", &self.devices);
        let capabilities = named("capabilities", &self.capabilities);
        let words = [all, network, devices, capabilities];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Container {
    pub(super) const KEYS: &'static [&'static str] =
        &["entrypoint", "user", "init", "hostname", "shm", "privileges"];

    pub(super) fn read(reader: &mut Reader<'_>, entries: &[Entry]) -> Self {
        let flag = |reader: &mut Reader<'_>, key: &str| {
            find(entries, key).is_some_and(|node| reader.flag(key, node) == Some(true))
        };
        let text = |reader: &mut Reader<'_>, key: &str| {
            find(entries, key).and_then(|node| read_template(reader, key, node))
        };
        Self {
            entrypoint: find(entries, "entrypoint")
                .map_or_else(Vec::new, |node| read_words(reader, "entrypoint", node)),
            user: text(reader, "user"),
            init: flag(reader, "init"),
            hostname: text(reader, "hostname"),
            shm: text(reader, "shm"),
            privileges: find(entries, "privileges")
                .map_or_else(Privileges::default, |node| read_privileges(reader, node)),
        }
    }

    /// Its templates beside the words that it starts with; Nomad reads them before the task starts.
    pub fn settings(&self) -> impl Iterator<Item = &Template> {
        self.user.iter().chain(&self.hostname).chain(&self.shm)
    }

    pub fn is_default(&self) -> bool {
        let says_nothing = self.entrypoint.is_empty() && self.settings().next().is_none();
        says_nothing && !self.init && self.privileges.is_none()
    }
}

fn read_privileges(reader: &mut Reader<'_>, node: &Node) -> Privileges {
    let fields = reader.record("privileges", node, &["capabilities", "devices", "network", "all"]);
    let capabilities = texts(reader, fields, "capabilities", |name| {
        name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
    });
    let capabilities = capabilities.iter().map(|name| capability(name)).collect();
    let devices = texts(reader, fields, "devices", |path| {
        path.starts_with("/dev/") && option::is_absolute(path)
    });
    let host_network = match find(fields, "network").map(|node| (node.as_str(), node.at)) {
        None => false,
        Some((Some("host"), _)) => true,
        Some((_, at)) => {
            reader.report_with_hint(
                at,
                "The network of a privilege can only be that of the host",
                "Use network: host",
            );
            false
        }
    };
    Privileges {
        capabilities,
        devices,
        host_network,
        all: find(fields, "all").is_some_and(|node| reader.flag("all", node) == Some(true)),
    }
}

/// Docker and the kernel write them otherwise than Nomad: NET_ADMIN, CAP_NET_ADMIN.
fn capability(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    name.strip_prefix("cap_").unwrap_or(&name).to_owned()
}

fn texts(reader: &mut Reader<'_>, fields: &[Entry], key: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let Some(node) = find(fields, key) else {
        return Vec::new();
    };
    let found = reader.texts(key, node);
    if let Some(strange) = found.iter().find(|text| text.is_empty() || !fits(text)) {
        let hint = match key {
            "devices" => "Name paths such as /dev/ttyUSB0",
            _ => "Name them as net_admin or NET_ADMIN",
        };
        reader.report_with_hint(
            node.at,
            format!("{} cannot be one of {key}", quoted(strange)),
            hint,
        );
    }
    found
}

/// What a check or a monitor asks is the first port, over a connection.
pub(super) fn check_protocol(reader: &mut Reader<'_>, service: &Service) {
    let asks = service.check.is_some() || service.metrics.is_some();
    if asks && service.ports.first().is_some_and(|port| port.udp) {
        let words = format!(
            "The first port of service {} is udp, which no check can ask",
            service.name
        );
        reader.report_with_hint(
            service.at,
            words,
            "Name a tcp port first, or take check and metrics out",
        );
    }
}

/// What is said of a container is said of an image: a program runs on its host as it is.
pub(super) fn check(reader: &mut Reader<'_>, service: &Service) {
    let of_program = matches!(service.run, Run::Program(_));
    let refuse = |reader: &mut Reader<'_>, at: Position, what: &str, container: &Container| {
        if !container.is_default() {
            let words = format!("{what} runs a program of the host, which has no container");
            let hint = format!("Take these keys out: {}", Container::KEYS.join(", "));
            reader.report_with_hint(at, words, hint);
        }
    };
    if of_program {
        refuse(
            reader,
            service.at,
            &format!("Service {}", service.name),
            &service.container,
        );
    }
    for task in &service.tasks {
        let is_program = match &task.run {
            Some(run) => matches!(run, Run::Program(_)),
            None => of_program,
        };
        if is_program {
            refuse(reader, task.at, &format!("Task {}", task.name), &task.container);
        }
        if task.name == service.name {
            let words = format!("Task {} has the name of its service", task.name);
            reader.report_with_hint(task.at, words, "Give the task another name");
        }
        if task.run.is_none() && of_program {
            let words = format!("Task {} says nothing that it runs", task.name);
            reader.report_with_hint(task.at, words, "Add program: [NAME, ARGUMENT]");
        }
    }
    for file in service.files.iter().filter(|file| file.path.is_some()) {
        let shown = quoted(&file.name);
        // A container keeps the file that was there at its start, whatever takes its place.
        if file.text.names().any(|name| LIVE.contains(&name)) {
            let words =
                format!("File {shown} changes while the service runs, and cannot have a path of its own");
            reader.report_with_hint(
                service.at,
                words,
                "Take path out: the program finds it in {{ files_dir }}",
            );
        }
        if of_program {
            let words = format!("File {shown} has a path of its own, which only a container can have");
            reader.report_with_hint(
                service.at,
                words,
                "Take path out: the program finds it in {{ files_dir }}",
            );
        }
    }
}

/// `requires` of a recipe: what hosts must have.
pub(super) fn read_requires(reader: &mut Reader<'_>, node: &Node) -> Requires {
    use super::Architecture;
    let fields = reader.record("requires", node, &["memory", "disk", "architecture"]);
    let size = |reader: &mut Reader<'_>, key: &str| {
        let node = find(fields, key)?;
        let text = reader.text(key, node)?;
        match option::bytes(&text) {
            Ok(bytes) => Some((bytes, node.at)),
            Err(why) => {
                reader.report(node.at, format!("{key}: {why}"));
                None
            }
        }
    };
    let architecture = find(fields, "architecture").and_then(|node| {
        let word = reader.text("architecture", node)?;
        let known = Architecture::from_word(&word);
        if known.is_none() {
            let hint = format!("Known architectures: {}", Architecture::WORDS.join(", "));
            reader.report_with_hint(node.at, format!("Unknown architecture {}", quoted(&word)), hint);
        }
        Some((known?, node.at))
    });
    Requires {
        memory: size(reader, "memory"),
        disk: size(reader, "disk"),
        architecture,
    }
}
