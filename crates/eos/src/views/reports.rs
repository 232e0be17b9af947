//! What verbs hand to a view: facts, not yet words.

use eos_core::diagnostic::Diagnostic;
use eos_core::discover::Discovery;
use eos_core::source::Source;
use eos_engine::approval::Approval;
use eos_engine::home::Recorded;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Serialize)]
pub struct MadeEstate {
    pub root: PathBuf,
    pub environment: String,
    pub files: Vec<String>,
}

#[derive(Serialize)]
pub struct Login {
    pub url: String,
    pub user: String,
    pub expires: Timestamp,
    pub token_file: PathBuf,
}

#[derive(Serialize)]
pub struct HomeReport {
    /// The machine that this runs on.
    #[serde(rename = "this")]
    pub here: Machine,
    pub home: Option<Recorded>,
    pub is_here: bool,
}

#[derive(Serialize)]
pub struct Machine {
    pub id: String,
    pub name: String,
}

#[derive(Serialize)]
pub struct Approved {
    #[serde(flatten)]
    pub approval: Approval,
    /// The API user who asked for the operation, and can now carry it out.
    pub requester: String,
}

/// `eos catalog new`: a recipe to begin with.
#[derive(Serialize)]
pub struct MadeRecipe {
    pub recipe: String,
    pub files: Vec<String>,
}

/// `eos catalog lint`: recipes without errors.
#[derive(Serialize)]
pub struct Linted {
    pub files: Vec<String>,
    pub warnings: Vec<Diagnostic>,
}

/// `eos read --reveal`: the one answer that holds a secret's value.
#[derive(Serialize)]
pub struct Revealed<'a> {
    pub component: &'a str,
    pub environment: &'a str,
    pub name: &'a str,
    pub revealed: &'a str,
}

/// One line of `eos list`.
#[derive(Serialize)]
pub struct ComponentRow {
    pub component: String,
    pub recipe: String,
    pub version: Option<String>,
    /// Whether what the pillar says was applied.
    pub applied: Applied,
    pub operation: Option<String>,
}

/// One line of `eos list --hosts`.
#[derive(Serialize)]
pub struct HostRow {
    pub host: String,
    pub address: String,
    pub datacenter: String,
    pub roles: Vec<String>,
    pub volume_group: Option<String>,
    pub devices: Vec<String>,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Applied {
    Yes,
    /// The pillar was changed since.
    Changed,
    No,
    /// It is applied, but no longer in the pillar.
    Removed,
}

impl Applied {
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Changed => "changed since",
            Self::No => "not yet",
            Self::Removed => "removed from pillar",
        }
    }
}

/// `eos read`: a component in declarative form.
#[derive(Serialize)]
pub struct ComponentReport {
    pub component: String,
    pub environment: String,
    pub recipe: String,
    pub version: String,
    pub options: Vec<OptionReport>,
    pub secrets: Vec<SecretReport>,
    /// Unknown where no engine answers.
    pub outputs: Option<Vec<(String, String)>>,
    pub intent: Option<IntentReport>,
    /// File and line in the pillar.
    pub place: String,
}

#[derive(Serialize)]
pub struct OptionReport {
    pub name: String,
    pub value: Value,
    pub from: Source,
}

#[derive(Serialize)]
pub struct SecretReport {
    pub name: String,
    pub value: &'static str,
    pub path: String,
}

#[derive(Serialize)]
pub struct IntentReport {
    pub words: String,
    pub who: String,
    pub when: String,
}

/// `eos discover`.
#[derive(Serialize)]
pub struct Discovered {
    #[serde(flatten)]
    pub discovery: Discovery,
    /// Files of the pillar that now have what is proposed.
    pub written: Vec<String>,
}

/// How much of a status a person wants to see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A line a component, one for the layers, one a trouble.
    Short,
    /// A table a layer.
    Layers,
    /// One component, with its instances.
    Component,
}

#[derive(Serialize)]
pub struct LogText {
    pub allocation: String,
    pub node: String,
    /// `running`, or how it ended: `complete`, `failed`, `lost`.
    pub status: String,
    pub task: String,
    pub stream: &'static str,
    pub text: String,
}

#[derive(Serialize)]
pub struct Compiled {
    pub release: String,
    pub components: usize,
    pub files: usize,
    /// Files that were written or, with `--check`, would be.
    pub differing: Vec<String>,
    pub check: bool,
}

/// What a verb of the lab left behind.
#[derive(Serialize)]
pub struct LabReport {
    pub directory: PathBuf,
    pub condition: LabCondition,
    pub engines: Vec<eos_lab::EngineStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<eos_lab::LabNode>,
    /// Commands that a person would give next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers: Option<eos_lab::ContainersStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LabCondition {
    Up,
    /// Some of it runs, or does not do what it is there for.
    Partial,
    Down,
    /// There is none.
    Absent,
}
