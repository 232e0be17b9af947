//! A component after all passes: every value decided, each with its source. Nodes and artifacts are made from it.

use crate::diagnostic::Place;
use crate::recipe::{Purpose, Risk, SecretUse};
use crate::source::Sourced;
use crate::template::Template;
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub struct Lowered {
    pub environment: String,
    pub component: String,
    pub recipe: String,
    pub version: String,
    pub risk: Risk,
    pub datacenter: Sourced<String>,
    pub groups: Vec<Group>,
    pub volumes: Vec<Volume>,
    pub secrets: Vec<SecretItem>,
    pub outputs: Vec<(String, Template)>,
    /// Options and facts that templates may name; no secret is among them.
    pub context: Map<String, Value>,
    pub at: Place,
}

/// One service: a task group of the job.
#[derive(Clone, Debug)]
pub struct Group {
    pub name: String,
    /// Name it is registered under.
    pub service: String,
    pub count: Sourced<u32>,
    pub cpu: Sourced<u32>,
    pub memory: Sourced<u32>,
    /// No two instances on one host: they share a static port.
    pub distinct_hosts: bool,
    pub driver: Driver,
    pub env: Vec<(String, Sourced<String>)>,
    pub secrets: Vec<SecretUse>,
    pub ports: Vec<Port>,
    pub check: Option<Sourced<String>>,
    pub mounts: Vec<Mount>,
}

#[derive(Clone, Debug)]
pub enum Driver {
    Docker {
        image: Sourced<String>,
    },
    RawExec {
        command: Sourced<String>,
        args: Vec<Sourced<String>>,
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
}

#[derive(Clone, Debug)]
pub struct Port {
    pub label: String,
    pub to: Option<Sourced<u16>>,
    pub fixed: Option<Sourced<u16>>,
}

#[derive(Clone, Debug)]
pub struct Mount {
    pub volume: String,
    pub path: String,
}

/// A directory on one host that Salt makes and Nomad knows as a host volume.
#[derive(Clone, Debug)]
pub struct Volume {
    /// Name of the need, such as `data`.
    pub need: String,
    /// Name in Nomad, such as `grafana-data`.
    pub name: String,
    pub host: Sourced<String>,
    pub path: Sourced<String>,
    pub purpose: Purpose,
    pub size: Sourced<u64>,
    pub user: String,
    pub group: String,
    pub mode: String,
}

/// One secret value, by name; the value itself is in the secrets engine alone.
#[derive(Clone, Debug)]
pub struct SecretItem {
    pub item: String,
    /// Length of the value Eos makes, where the person gave none.
    pub generate: Option<u32>,
}

impl Lowered {
    /// `environment/component`: the workspace, and how a message names it.
    pub fn workspace(&self) -> String {
        format!("{}/{}", self.environment, self.component)
    }

    /// Where the component's secrets lie in the solo profile: the path its own tasks may read.
    pub fn secret_path(&self) -> String {
        format!("nomad/jobs/{}", self.component)
    }
}

/// `grafana` in production, `grafana-staging` elsewhere.
pub fn instance_name(environment: &str, component: &str) -> String {
    match environment {
        "production" => component.to_owned(),
        _ => format!("{component}-{environment}"),
    }
}
