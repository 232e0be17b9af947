//! Recipes: what can be created, as data. A recipe names its options, what it uses and needs, its services and outputs.

mod check;
mod container;
mod host;
mod jobs;
pub(crate) mod read;
mod tasks;

pub use check::{check_uses, named};
pub use container::{Container, Privileges};
pub use host::OnHosts;
pub use jobs::{Mode, Schedule, jobs};
pub(crate) use read::{check_variable, read_template as read_value, read_when};

use crate::diagnostic::{Diagnostic, Position};
use crate::emit::sha256;
use crate::kinds::WorkspaceNeeds;
use crate::option::{self, BUILT_IN, OptionType};
use crate::read::Reader;
use crate::template::Template;
use crate::timing::Timing;
use crate::yaml;
pub use tasks::{Moment, Task};

use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How much can go wrong, and so who may ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    #[default]
    Low,
    Medium,
    High,
}

impl Risk {
    pub fn is_low(&self) -> bool {
        *self == Self::Low
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Recipe {
    pub name: String,
    pub file: String,
    /// Where its name stands.
    pub at: Position,
    pub text: Arc<[u8]>,
    /// `<version>-<digest of the text>`: what a component is pinned to.
    pub pin: String,
    pub summary: String,
    pub version: String,
    pub risk: Risk,
    /// It serves the routes that other components need.
    pub proxy: Option<Proxy>,
    /// It watches the components of its environment.
    pub monitor: Option<Monitor>,
    /// Recipes whose components are done before this one's, where there are any; `*` is every other.
    pub after: Vec<String>,
    pub options: Vec<OptionSpec>,
    pub uses: Vec<Use>,
    pub volumes: Vec<VolumeNeed>,
    pub secrets: Vec<SecretNeed>,
    pub routes: Vec<RouteNeed>,
    pub services: Vec<Service>,
    /// What a host must have for any of them to run on it.
    pub requires: Requires,
    /// What it asks of hosts themselves.
    pub host: Option<OnHosts>,
    /// What Terraform makes with providers of clouds.
    pub in_workspace: WorkspaceNeeds,
    pub outputs: Vec<Output>,
}

/// What a recipe that watches others says of itself: it speaks Prometheus's API at its first port.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// The volume need below which it reads alert rules.
    pub rules: String,
    /// How long something must be wrong before an alert fires.
    pub patience: Template,
    pub at: Position,
}

/// What a recipe that serves the routes of others says of itself: what the URLs begin with that it serves them under.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// `http` or `https`.
    pub scheme: Template,
    /// The port of its host; nothing for the first one that it has.
    pub port: Option<Template>,
    /// The path at which it answers, under each host name that it serves, with that name.
    pub asked: Option<String>,
}

#[derive(Clone, Debug)]
pub struct OptionSpec {
    pub name: String,
    pub kind: OptionType,
    pub default: Option<Template>,
    /// Length of the value Eos makes when none is given (secrets only).
    pub generate: Option<u32>,
    /// Why a new value would not reach the program (secrets only).
    pub not_rotated: Option<String>,
    pub help: String,
    /// The option applies only where this is true.
    pub when: Option<Template>,
    pub pattern: Option<Regex>,
    /// Bounds of a whole number, of a size in bytes, of a duration in milliseconds.
    pub min: Option<u64>,
    pub max: Option<u64>,
    /// Whether `eos promote` takes its value along. What an environment is made of (ports, paths, names, sizes of
    /// instances, secrets) stays where it is.
    pub promote: bool,
    pub at: Position,
}

/// Another component that this one works with.
#[derive(Clone, Debug)]
pub struct Use {
    pub name: String,
    pub recipe: String,
    /// One component for all that use it; else each has its own.
    pub share: bool,
    /// The environment's one, if it has such a component; nothing makes one.
    pub optional: bool,
    pub when: Option<Template>,
    /// Options that its own one is given.
    pub with: Vec<(String, Template)>,
    pub at: Position,
}

/// A volume that the component keeps data on.
#[derive(Clone, Debug)]
pub struct VolumeNeed {
    pub name: String,
    pub purpose: Purpose,
    pub size: Template,
    pub path: Template,
    /// Over the policy's choice.
    pub filesystem: Option<Template>,
    /// `user:group`, as numbers or names.
    pub owner: String,
    pub mode: String,
    /// Every instance has one of its own.
    pub each: bool,
    pub when: Option<Template>,
    pub at: Position,
}

/// What a volume is for; the storage policy chooses the filesystem by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    Application,
    Database,
    Backup,
}

impl Purpose {
    pub const WORDS: &'static [&'static str] = &["application", "database", "backup"];
    /// It wants storage that several hosts have, which Eos does not make.
    pub const SHARED: &'static str = "shared";

    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "application" => Self::Application,
            "database" => Self::Database,
            "backup" => Self::Backup,
            _ => return None,
        })
    }
}

/// A secret that nobody chooses.
#[derive(Clone, Debug)]
pub struct SecretNeed {
    pub name: String,
    pub generate: u32,
    /// Why a new value would not reach the program.
    pub not_rotated: Option<String>,
    pub at: Position,
}

/// A host name under which the proxy of the environment serves a service.
#[derive(Clone, Debug)]
pub struct RouteNeed {
    pub name: String,
    pub host: Template,
    pub service: String,
    pub when: Option<Template>,
    pub at: Position,
}

#[derive(Clone, Debug)]
pub struct Service {
    pub name: String,
    pub mode: Mode,
    /// Services of this recipe that are healthy, or at their end, before it starts.
    pub after: Vec<(String, Position)>,
    /// Exactly one may run: it writes to a volume that has a single writer.
    pub one: bool,
    pub when: Option<Template>,
    pub replicas: Figure,
    pub cpu: Figure,
    pub memory: Figure,
    pub run: Run,
    pub container: Container,
    pub tasks: Vec<Task>,
    pub env: Vec<(String, Template)>,
    pub files: Vec<File>,
    pub secrets: Vec<SecretUse>,
    pub ports: Vec<Port>,
    pub check: Option<Check>,
    pub timing: Timing,
    /// The command by which the running task reads the files again that follow the routes.
    pub reload: Vec<Template>,
    /// The path at which its first port tells what can be measured.
    pub metrics: Option<Placed>,
    /// Name of the volume need -> path inside the task.
    pub mounts: Vec<(String, Placed)>,
    pub at: Position,
}

/// A text, and where it stands in the recipe.
#[derive(Clone, Debug)]
pub struct Placed {
    pub text: String,
    pub at: Position,
}

/// A text file in the task's own directory.
#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    pub text: Template,
    /// Where a container finds it as well.
    pub path: Option<String>,
    /// Its text is there once for each route that the proxy serves.
    pub each_route: bool,
}

/// What a host must have.
#[derive(Clone, Debug, Default)]
pub struct Requires {
    /// Bytes of memory that it has at all.
    pub memory: Option<(u64, Position)>,
    /// Bytes that are free on the disk of its tasks.
    pub disk: Option<(u64, Position)>,
    pub architecture: Option<(Architecture, Position)>,
}

impl Requires {
    /// Whether it asks for anything.
    pub fn asks(&self) -> bool {
        self.memory.is_some() || self.disk.is_some() || self.architecture.is_some()
    }
}

/// The processors that images are made for, by their names for them. Nomad calls them so, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    Amd64,
    Arm64,
}

impl Architecture {
    pub const WORDS: &'static [&'static str] = &["amd64", "arm64"];

    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "amd64" | "x86_64" => Self::Amd64,
            "arm64" | "aarch64" => Self::Arm64,
            _ => return None,
        })
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

/// How a service is given a secret: an environment variable that holds the text, or names a file that does.
#[derive(Clone, Debug)]
pub struct SecretUse {
    pub variable: String,
    /// The text, which names the secret.
    pub text: Template,
    pub file: Option<String>,
}

/// A number that the recipe sets: for production, for other environments by name, and at least.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    pub of: Vec<(String, u32, Position)>,
    pub minimum: Option<(u32, Position)>,
}

#[derive(Clone, Debug)]
pub enum Run {
    /// A container image and the arguments it is started with.
    Image(Template, Vec<Template>),
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
    /// It takes datagrams: no check connects to it.
    pub udp: bool,
}

#[derive(Clone, Debug)]
pub enum Check {
    /// A path that answers.
    Http(Template),
    /// The first port accepts connections; a command finds the same from within the task.
    Tcp { command: Vec<String> },
}

#[derive(Clone, Debug)]
pub struct Output {
    pub name: String,
    pub value: Template,
}

impl Recipe {
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, Vec<Diagnostic>> {
        let root = yaml::parse(file, text)?;
        let mut reader = Reader::new(file);
        let recipe = read::read(&mut reader, &root, text);
        match recipe {
            Some(recipe) if reader.diagnostics.is_empty() => Ok(recipe),
            _ => Err(reader.diagnostics),
        }
    }

    pub fn option(&self, name: &str) -> Option<&OptionSpec> {
        self.options.iter().find(|option| option.name == name)
    }

    /// Every option a person may set: the recipe's own, those of its uses, then those that all recipes have.
    pub fn settable(&self) -> impl Iterator<Item = &OptionSpec> {
        let one = self.services.iter().all(|service| service.one);
        self.options.iter().chain(
            self.built_in()
                .filter(move |option| !(one && option.name == "replicas")),
        )
    }

    /// The options that it has without saying so. Without a service nothing has instances.
    pub fn built_in(&self) -> impl Iterator<Item = &OptionSpec> {
        let nothing_runs = self.services.is_empty();
        BUILT_IN
            .iter()
            .filter(move |option| !(nothing_runs && option::is_figure(&option.name)))
    }

    /// Whether it serves the routes of others.
    pub fn is_proxy(&self) -> bool {
        self.proxy.is_some()
    }

    pub fn use_named(&self, name: &str) -> Option<&Use> {
        self.uses.iter().find(|used| used.name == name)
    }

    /// Whether the name is that of a secret: an option, or a need.
    pub fn is_secret(&self, name: &str) -> bool {
        self.secrets.iter().any(|need| need.name == name)
            || self
                .option(name)
                .is_some_and(|option| option.kind == OptionType::Secret)
    }

    /// The service that others mean when they name the component: the first with a port.
    pub fn front(&self) -> Option<&Service> {
        self.services.iter().find(|service| !service.ports.is_empty())
    }
}

/// What a component is pinned to: the version for people, the digest to be exact.
fn pin(version: &str, text: &[u8]) -> String {
    format!("{version}-{}", &sha256(text)[..12])
}
