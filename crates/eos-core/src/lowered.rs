//! A component after all passes: every value decided, each with its source. Nodes and artifacts are made from it.
//!
//! A compilation keeps one of these for each component. So its lists are boxed slices: a vector of large things begins with
//! room for four.

use crate::compose::Key;
use crate::diagnostic::Place;
use crate::kinds::{HostParts, WorkspaceParts};
use crate::output::{Output, PUBLIC_URL, Said};
use crate::pillar::{Converted, Restored};
use crate::profile::Profile;
use crate::recipe::{Moment, Privileges, Purpose, Recipe, Requires, Risk};
use crate::runtime::RuntimeText;
use crate::source::{Source, Sourced};
use crate::timing::Timing;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What stands for a recipe in a volume that stands for itself.
pub const STANDING_RECIPE: &str = "volume";

#[derive(Clone, Debug)]
pub struct Lowered {
    pub profile: Profile,
    pub environment: String,
    pub component: String,
    pub recipe: String,
    pub version: String,
    pub risk: Risk,
    /// The component that has this one for its own use.
    pub owner: Option<String>,
    /// It is a further job of its owner, which says what it is, and stops, starts and goes with it.
    pub is_member: bool,
    /// Name of the use -> component.
    pub uses: BTreeMap<String, String>,
    /// Names of those uses that it can be without.
    pub optional: BTreeSet<String>,
    /// Components of its environment that are done before it.
    pub before: BTreeSet<String>,
    /// How many of those wait for one another.
    pub wave: usize,
    pub datacenter: Sourced<String>,
    /// How often it was brought back to what the pillar says.
    pub generation: u32,
    /// How its job runs; of no meaning where it has none.
    pub shape: Shape,
    pub groups: Box<[Group]>,
    /// Volumes of its owner that its job mounts: name of the need -> name in Nomad.
    pub borrowed: BTreeMap<String, String>,
    pub in_workspace: WorkspaceParts,
    pub volumes: Box<[Volume]>,
    /// What it has on hosts beside volumes.
    pub parts: HostParts,
    pub secrets: Box<[SecretItem]>,
    pub outputs: Box<[Output]>,
    /// The proxy that serves its routes, if it has any.
    pub routed_by: Option<String>,
    /// The path at which it answers, as a proxy, under each host name that it serves.
    pub asked: Option<String>,
    /// What it is to others, if it watches them.
    pub monitor: Option<Arc<Monitor>>,
    /// What watches it.
    pub watched_by: Option<Arc<Monitor>>,
    pub at: Place,
}

/// A component that watches those of its environment: where it reads rules, and how it is asked.
#[derive(Debug)]
pub struct Monitor {
    pub component: String,
    /// The name it is registered under.
    pub service: String,
    pub host: String,
    /// The port of that host.
    pub port: u16,
    /// Where it reads rules, on its host.
    pub directory: String,
    pub user: String,
    pub group: String,
    /// How long something must be wrong before an alert fires.
    pub patience: Sourced<String>,
}

/// How a job runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Shape {
    #[default]
    Service,
    /// With one instance on each host of its datacenter.
    System,
    /// Once, to its end.
    Batch,
    Scheduled(Box<Schedule>),
}

/// The set times of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pub cron: Sourced<String>,
    pub zone: Sourced<String>,
    pub overlap: bool,
    /// A person stopped it: it starts no run.
    pub rests: Option<Source>,
}

impl Shape {
    /// Nomad's name for it.
    pub fn nomad(&self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::System => "system",
            Self::Batch | Self::Scheduled(_) => "batch",
        }
    }

    /// Whether it runs until somebody stops it.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Service | Self::System => true,
            Self::Batch | Self::Scheduled(_) => false,
        }
    }

    pub fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Scheduled(schedule) => Some(schedule),
            Self::Service | Self::System | Self::Batch => None,
        }
    }
}

/// Name -> text.
pub type Texts = Box<[(String, Sourced<RuntimeText>)]>;

/// One service: a task group of the job.
#[derive(Clone, Debug)]
pub struct Group {
    pub name: String,
    /// Name it is registered under.
    pub service: String,
    pub count: Sourced<u32>,
    /// No more than one may run.
    pub one: bool,
    pub cpu: Sourced<u32>,
    pub memory: Sourced<u32>,
    /// No two instances on one host: they share a static port, or have a volume each.
    pub distinct_hosts: bool,
    pub driver: Driver,
    /// What it says of its container, and its tasks beside the service. Apart, since most services say none of it.
    pub more: Option<Box<More>>,
    pub env: Texts,
    /// Files in the task's own directory.
    pub files: Texts,
    pub secrets: Box<[SecretUse]>,
    pub ports: Box<[Port]>,
    pub check: Option<Check>,
    pub timing: Timing,
    /// The host names under which the proxy serves it.
    pub routes: Box<[Sourced<String>]>,
    /// The path at which its first port tells what can be measured.
    pub metrics: Option<Sourced<String>>,
    pub mounts: Box<[Mount]>,
    /// Its part in the mesh; nothing, if it calls nobody and nobody calls it.
    pub mesh: Option<Mesh>,
    /// The service it is, as the source of what that says in so many words.
    pub declared: Source,
}

/// What few services say.
#[derive(Clone, Debug, Default)]
pub struct More {
    pub container: Container,
    pub tasks: Box<[Task]>,
    /// File -> where its container finds it as well.
    pub paths: BTreeMap<String, String>,
    /// The command by which it reads the files again that follow the routes.
    pub reload: Box<[Sourced<String>]>,
    /// What a host must have.
    pub requires: Option<Requires>,
}

/// What a container is started with.
#[derive(Clone, Debug, Default)]
pub struct Container {
    pub entrypoint: Box<[Sourced<String>]>,
    pub user: Option<Sourced<String>>,
    pub init: bool,
    pub hostname: Option<Sourced<String>>,
    /// Bytes of memory that its processes share.
    pub shm: Option<Sourced<u64>>,
    pub privileges: Privileges,
}

/// What runs to its end before a service starts, or once it started.
#[derive(Clone, Debug)]
pub struct Task {
    pub name: String,
    pub moment: Moment,
    pub driver: Driver,
    pub container: Container,
    pub cpu: Option<u32>,
    pub memory: Option<u32>,
    pub declared: Source,
}

/// An environment variable that holds a secret text, or the path of a file that does.
#[derive(Clone, Debug)]
pub struct SecretUse {
    pub variable: String,
    pub text: Sourced<RuntimeText>,
    pub file: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Driver {
    Docker {
        image: Sourced<String>,
        args: Box<[Sourced<String>]>,
    },
    RawExec {
        command: Sourced<String>,
        args: Box<[Sourced<String>]>,
    },
}

impl Driver {
    /// Nomad's name for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Docker { .. } => "docker",
            Self::RawExec { .. } => "raw_exec",
        }
    }

    pub fn args(&self) -> &[Sourced<String>] {
        match self {
            Self::Docker { args, .. } | Self::RawExec { args, .. } => args,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Port {
    pub label: String,
    pub to: Option<Sourced<u16>>,
    pub fixed: Option<Sourced<u16>>,
}

/// How the first port is found to be healthy.
#[derive(Clone, Debug)]
pub enum Check {
    Http(Sourced<String>),
    Tcp {
        /// What finds the same from within the task; empty, if the recipe names none.
        command: Vec<String>,
    },
}

/// A group in Consul's mesh.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub upstreams: Vec<Upstream>,
    /// Services that may call it.
    pub callers: BTreeSet<String>,
}

/// A service that a group calls, and the port of the task's own network at which it answers.
#[derive(Clone, Debug)]
pub struct Upstream {
    pub service: String,
    pub port: u16,
}

impl Group {
    /// Whether none of it is to run. Only a person's word brings that about.
    pub fn is_stopped(&self) -> bool {
        self.count.value == 0
    }

    /// What a host must have, where its recipe says so.
    pub fn requires(&self) -> Option<&Requires> {
        self.more.as_deref()?.requires.as_ref()
    }

    /// Whether its container finds the file of this name at a path of its own.
    pub fn has_place(&self, file: &str) -> bool {
        let mut paths = self.more.iter().flat_map(|more| &more.paths);
        paths.any(|(placed, _)| placed == file)
    }

    /// Whether it is reached through the mesh alone.
    pub fn is_closed(&self) -> bool {
        let is_called = self.mesh.as_ref().is_some_and(Mesh::is_called);
        is_called && self.ports.first().is_some_and(|port| port.fixed.is_none())
    }

    /// The path at which it can be measured from outside. In the mesh alone, nobody but its callers gets to it.
    pub fn measured(&self) -> Option<&str> {
        let path = self.metrics.as_ref().map(|path| path.value.as_str());
        path.filter(|_| !self.is_closed())
    }
}

#[derive(Clone, Debug)]
pub struct Mount {
    pub volume: String,
    pub path: Sourced<String>,
    /// Every instance has a volume of its own.
    pub each: bool,
}

/// Storage on one host that Salt makes and Nomad knows as a host volume.
#[derive(Clone, Debug)]
pub struct Volume {
    /// Name of the need, such as `data`.
    pub need: String,
    /// Name in Nomad, such as `grafana-data`.
    pub name: String,
    /// One of several of that name, each on a host of its own.
    pub each: bool,
    pub host: Sourced<String>,
    pub path: Sourced<String>,
    pub purpose: Purpose,
    pub size: Sourced<u64>,
    pub filesystem: Sourced<Filesystem>,
    /// What it is on LVM; a directory has none of it.
    /// Apart from it, since most volumes of a large estate have none.
    pub lvm: Option<Box<Lvm>>,
    pub durability: Sourced<Durability>,
    pub user: String,
    pub group: String,
    pub mode: String,
    /// The need that asks for it, as the source of what it says in so many words.
    pub declared: Source,
}

/// What a volume is on LVM.
#[derive(Clone, Debug)]
pub struct Lvm {
    /// The volume group it is made in.
    pub group: Sourced<String>,
    /// Disks that the group may have, where it is not there or has no room.
    pub devices: Sourced<Vec<String>>,
    pub compression: Option<Sourced<String>>,
    /// Percent full at which its host says so.
    pub alert: Sourced<u8>,
    pub shrink_from: Option<u64>,
    /// Name -> room for what changes beside it.
    pub snapshots: BTreeMap<String, u64>,
    pub restored: Option<Restored>,
    pub converted: Option<Converted>,
}

impl Volume {
    /// The name that its host knows it under.
    pub fn id(&self, environment: &str, component: &str) -> String {
        format!("{environment}/{component}/{}", self.need)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    /// A directory of a filesystem that is there: its size is not enforced.
    Directory,
    Xfs,
    Btrfs,
    Ext4,
}

impl Filesystem {
    pub const WORDS: &'static [&'static str] = &["directory", "xfs", "btrfs", "ext4"];

    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "directory" => Self::Directory,
            "xfs" => Self::Xfs,
            "btrfs" => Self::Btrfs,
            "ext4" => Self::Ext4,
            _ => return None,
        })
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Ext4 => "ext4",
        }
    }

    /// As people write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Xfs => "XFS",
            Self::Btrfs => "Btrfs",
            other => other.word(),
        }
    }
}

/// How much an environment cares for its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    Ephemeral,
    Persistent,
    Redundant,
}

impl Durability {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral",
            Self::Persistent => "persistent",
            Self::Redundant => "redundant",
        }
    }
}

/// One secret value, by name; the value itself is in the secrets engine alone.
#[derive(Clone, Debug)]
pub struct SecretItem {
    pub item: String,
    /// Length of the value Eos makes, where the person gave none.
    pub generate: Option<u32>,
    /// Why a new value would not reach the program, where that is so.
    pub not_rotated: Option<String>,
    /// The value is that of another component's secret.
    pub copy_of: Option<CopyOf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyOf {
    pub component: String,
    pub item: String,
}

impl Lowered {
    /// Whether it has a job.
    pub fn runs(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether Terraform makes something of it.
    pub fn has_workspace(&self) -> bool {
        self.runs() || !self.in_workspace.is_empty()
    }

    /// The service that others mean when they name it: the first with a port.
    pub fn front(&self) -> Option<&Group> {
        front(&self.groups)
    }

    /// The URL under which the proxy of its environment serves it.
    pub fn public_url(&self) -> Option<&str> {
        let output = self.outputs.iter().find(|output| output.name == PUBLIC_URL)?;
        match &*output.pieces {
            [Said::Text(url)] => Some(url),
            _ => None,
        }
    }

    /// Whether Nomad is told of its volumes, for its job.
    pub fn registers_volumes(&self) -> bool {
        self.runs() && !self.volumes.is_empty()
    }

    pub fn key(&self) -> Key {
        (self.environment.clone(), self.component.clone())
    }

    /// `environment/component`: the workspace, and how a message names it.
    pub fn workspace(&self) -> String {
        format!("{}/{}", self.environment, self.component)
    }

    /// Whether it has a job of which nothing runs, because a person stopped it.
    pub fn is_stopped(&self) -> bool {
        let rests = self
            .shape
            .schedule()
            .is_some_and(|schedule| schedule.rests.is_some());
        self.runs() && (rests || self.groups.iter().all(Group::is_stopped))
    }

    /// Whether Nomad forgets its job by itself, some hours after it ended.
    pub fn may_be_forgotten(&self) -> bool {
        match self.shape {
            Shape::Batch => true,
            Shape::Service | Shape::System | Shape::Scheduled(_) => false,
        }
    }

    /// The component that a person names to have it stopped, started or made again.
    pub fn spoken_of(&self) -> &str {
        let owner = self.owner.as_deref().filter(|_| self.is_member);
        owner.unwrap_or(&self.component)
    }

    /// The component whose volumes its job mounts, if they are not its own.
    pub fn lender(&self) -> Option<&str> {
        self.owner.as_deref().filter(|_| !self.borrowed.is_empty())
    }

    /// The longest that all of its instances can take to be replaced one after the other, and one of them once more,
    /// where Nomad goes back to the version before.
    pub fn rollout(&self) -> Duration {
        let groups = self.groups.iter();
        let times = groups.map(|group| match self.shape.is_lasting() {
            true => group.timing.replacement() * (group.count.value + 1),
            false => group.timing.ends().duration(),
        });
        times.max().unwrap_or_default()
    }

    /// Whether some of it speaks through the mesh.
    pub fn is_meshed(&self) -> bool {
        self.groups.iter().any(|group| group.mesh.is_some())
    }

    /// Name of the need -> its volumes: one, or one on each of several hosts.
    pub fn volumes_by_need(&self) -> BTreeMap<&str, Vec<&Volume>> {
        let mut by_need: BTreeMap<&str, Vec<&Volume>> = BTreeMap::new();
        for volume in &self.volumes {
            by_need.entry(&volume.need).or_default().push(volume);
        }
        by_need
    }

    /// Where the component's secrets lie: the path its own tasks may read.
    pub fn secret_path(&self) -> String {
        secret_path(self.profile, &self.environment, &self.component)
    }

    pub fn secret_place(&self) -> String {
        secret_place(self.profile, &self.environment, &self.component)
    }
}

/// The service that others mean when they name the component of these.
pub fn front(groups: &[Group]) -> Option<&Group> {
    groups.iter().find(|group| !group.ports.is_empty())
}

/// Where a component's secrets lie: in Nomad's variables, whose namespace is the environment, or below Vault's `secret/`.
pub fn secret_path(profile: Profile, environment: &str, component: &str) -> String {
    match profile {
        Profile::Solo => format!("nomad/jobs/{component}"),
        Profile::Full => format!("{environment}/{component}/app"),
    }
}

/// The same place as a person asks the engine for it.
pub fn secret_place(profile: Profile, environment: &str, component: &str) -> String {
    let path = secret_path(profile, environment, component);
    match profile {
        Profile::Solo => format!("{path} in namespace {environment}"),
        Profile::Full => format!("secret/{path}"),
    }
}

/// The name that a service of a component is registered under.
pub fn service_name(environment: &str, component: &str, recipe: &Recipe, service: &str) -> String {
    let base = instance_name(environment, component);
    match recipe.services.len() == 1 || service == recipe.name {
        true => base,
        false => format!("{base}-{service}"),
    }
}

/// `grafana` in production, `grafana-staging` elsewhere.
pub fn instance_name(environment: &str, component: &str) -> String {
    match environment {
        "production" => component.to_owned(),
        _ => format!("{component}-{environment}"),
    }
}
