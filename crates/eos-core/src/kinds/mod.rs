//! Kinds: a home for every sort of thing that Eos can bring about.
//!
//! The file of a kind says what its nodes are, what its minion is told, in which steps and phases it comes and goes, and
//! what is lost with it. This file alone lists the kinds: a new one does not compile until it is listed here.

pub mod host;
pub mod job;
pub mod namespace;
pub mod rules;
pub mod secret;
pub mod volume;
pub mod workspace;

use crate::address::NodeKind;
use crate::compile::Compilation;
use crate::lowered::Lowered;
use crate::node::{Node, Writer};
use crate::plan::{Change, Key, PlanInput, Work};
use crate::recipe::Risk;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The kinds that a component has, in the order in which their nodes and steps come.
pub(crate) static KINDS: [&dyn Kind; 4] =
    [&secret::Secrets, &volume::Volumes, &job::Jobs, &rules::Monitoring];

/// The kind at home with a sort of node; nothing for what the whole estate shares.
pub(crate) fn of(kind: NodeKind) -> Option<&'static dyn Kind> {
    match kind {
        NodeKind::Secret => Some(&secret::Secrets),
        NodeKind::Volume => Some(&volume::Volumes),
        NodeKind::Job | NodeKind::Service => Some(&job::Jobs),
        NodeKind::Rules | NodeKind::Target => Some(&rules::Monitoring),
        NodeKind::Host | NodeKind::Namespace => None,
    }
}

/// What a minion makes in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Made {
    Volume(volume::Made),
    Workspace(workspace::Made),
    Rules(rules::Made),
}

/// What a minion removes in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unmade {
    Volume(volume::Unmade),
    Workspace(workspace::Unmade),
    Rules(rules::Unmade),
}

/// What a step proves. It changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// The component runs, is registered and passes its checks.
    Healthy(job::Healthy),
    /// Nothing of the component runs or is registered any more.
    Gone(job::Gone),
    /// Volumes that the pillar names no longer are there all the same, with their data.
    Kept(volume::Kept),
    /// The host answers as a minion, and, if it is to run tasks, as a Nomad client.
    Host(host::Answers),
    /// The monitor asks the component no longer.
    Unwatched(rules::Unwatched),
}

impl Made {
    pub fn request(&self) -> &dyn Request {
        match self {
            Self::Volume(one) => one,
            Self::Workspace(one) => one,
            Self::Rules(one) => one,
        }
    }
}

impl Unmade {
    pub fn request(&self) -> &dyn Request {
        match self {
            Self::Volume(one) => one,
            Self::Workspace(one) => one,
            Self::Rules(one) => one,
        }
    }
}

impl Proof {
    /// The proof in a word, for progress and errors.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Healthy(_) => "healthy",
            Self::Gone(_) => "gone",
            Self::Kept(_) => "kept",
            Self::Host(_) => "host",
            Self::Unwatched(_) => "monitor",
        }
    }

    /// Whether it is about a component, and not about a thing of the whole estate.
    pub fn is_of_component(&self) -> bool {
        match self {
            Self::Host(_) => false,
            Self::Healthy(_) | Self::Gone(_) | Self::Kept(_) | Self::Unwatched(_) => true,
        }
    }

    /// The services of the job that it is about; nothing where it is about no job.
    pub fn services(&self) -> Option<Vec<&str>> {
        match self {
            Self::Healthy(healthy) => Some(healthy.services()),
            Self::Gone(gone) => Some(gone.services.iter().map(String::as_str).collect()),
            Self::Kept(_) | Self::Host(_) | Self::Unwatched(_) => None,
        }
    }
}

/// The function of the formula that a request calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Make,
    Remove,
    /// Another action of the kind, by its name.
    Act(&'static str),
}

/// One request to a minion about a part of a component.
pub trait Request {
    /// The formula's name for the kind: its module is `eos_kind_<name>`.
    fn kind(&self) -> &'static str;

    /// The step in a word, for progress and errors.
    fn title(&self) -> &'static str;

    fn minion(&self) -> &str;

    fn function(&self) -> Function;

    /// What the minion is told beside kind and component. `made_by` is the operation that a rollback undoes.
    fn facts(&self, made_by: &str) -> Value;

    /// Whether nothing brings back its effect, not even a rollback of its operation.
    fn is_final(&self) -> bool {
        false
    }

    /// Whether these compiled files still have what the request expects of them.
    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool;

    /// Whether the minion refuses the request if the master serves it another release.
    fn is_bound(&self) -> bool;

    /// Whether the minion says beforehand what it would do. Of the others Eos finds out itself.
    fn is_previewed(&self) -> bool {
        true
    }

    /// Whether Terraform runs for it.
    fn is_workspace(&self) -> bool {
        false
    }

    /// What a person calls its object; `place` is `environment/component`.
    fn object(&self, place: &str) -> String;
}

/// When the steps that make something come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    BeforeJob,
    Job,
    /// Once the component is healthy.
    AfterHealthy,
}

/// When the steps that remove something come: all of one before anything of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parting {
    BeforeJob,
    Job,
    AfterJob,
    /// Once nothing runs any more of all components that go.
    NothingRuns,
    /// After everything else, because nothing brings it back.
    Last,
}

/// A component that a plan wants, and the changes of the plan.
pub(crate) struct Wanted<'i, 'a> {
    pub input: &'i PlanInput<'a>,
    pub component: &'i Lowered,
    pub key: &'i Key,
    pub changes: &'i [Change],
    pub control: &'i str,
    /// The risk that the minions will find, as far as it is known.
    pub risk: Risk,
    /// The same for what was there before.
    pub applied_risk: Risk,
}

impl Wanted<'_, '_> {
    /// The changes of the component's nodes of one sort that the plan makes, not those that go.
    pub fn changes_of(&self, kind: NodeKind) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.component == self.component.component && change.address.kind == kind)
    }
}

/// A component that goes.
pub(crate) struct Going<'i, 'a> {
    pub input: &'i PlanInput<'a>,
    pub key: &'i Key,
    pub control: &'i str,
    /// The risk of what was there.
    pub risk: Risk,
}

impl<'a> Going<'_, 'a> {
    /// Its nodes as they were last applied.
    pub fn applied(&self) -> &'a [Node] {
        self.input.applied.get(self.key).map_or(&[], Vec::as_slice)
    }

    /// Whether it had a job. A standalone volume never did.
    pub fn ran(&self) -> bool {
        let mut nodes = self.applied().iter();
        nodes.any(|node| node.address.kind == NodeKind::Job)
    }

    /// Whether Terraform made something of it.
    pub fn had_workspace(&self) -> bool {
        let mut nodes = self.applied().iter();
        nodes.any(|node| node.writer == Writer::Terraform)
    }
}

/// A step that a kind asks for.
pub(crate) struct Asked {
    pub risk: Risk,
    pub work: Work,
}

/// One SLS of a component on one minion. The states are for people who apply the tree by hand.
pub(crate) struct Piece {
    /// The last part of the SLS name.
    pub name: String,
    pub minion: String,
    pub states: Value,
    /// What the minion compares with its slices.
    pub digest: String,
    /// Whether the component's `deploy.sls` includes it.
    pub deploys: bool,
}

/// Host -> key of the pillar slice -> name -> facts.
pub(crate) type Slices<'a> = BTreeMap<&'a str, BTreeMap<&'static str, Map<String, Value>>>;

/// How a kind is compiled and planned.
pub(crate) trait Kind: Sync {
    fn phase(&self) -> Phase;

    /// The nodes that a component has of it.
    fn nodes(&self, component: &Lowered) -> Vec<Node>;

    /// The name that its minion knows a node under; nothing where Salt does not make it.
    fn part(&self, node: &Node) -> Option<String>;

    /// Adds to the slices of hosts what these components have of it.
    fn slices<'a>(&self, components: &'a BTreeMap<Key, Lowered>, slices: &mut Slices<'a>);

    /// What each minion applies of it.
    fn pieces(&self, component: &Lowered) -> Vec<Piece>;

    /// The digests of what minions make of it and the component's workspace does not cover, in the order of the minions.
    fn recorded(&self, component: &Lowered) -> Vec<String>;

    /// Further files beside its pieces, by name.
    fn files(&self, component: &Lowered) -> Vec<(&'static str, Vec<u8>)>;

    /// The steps that make what changes of it, each after the one before.
    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<Asked>;

    /// The steps that remove it, each with its time.
    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, Asked)>;

    /// What an operation that is rolled back left of it, and the work that removes that.
    fn leftovers(&self, input: &PlanInput<'_>) -> Vec<(Key, Work)>;

    /// The other component that must be healthy before it is made.
    fn waits_for<'c>(&self, component: &'c Lowered) -> Option<&'c str>;

    /// Adds the changes that the nodes themselves do not show. `wanted` are the nodes of the component.
    fn adds(&self, input: &PlanInput<'_>, key: &Key, wanted: &[Node], changes: &mut Vec<Change>);

    /// Adds to a change what else a person should know of it, and how far it can be undone.
    fn remark(&self, change: &mut Change, input: &PlanInput<'_>);
}
