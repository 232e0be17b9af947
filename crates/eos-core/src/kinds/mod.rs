//! Kinds: a home for every sort of thing that Eos can bring about.
//!
//! The file of a kind says what its nodes are, what its minion is told, in which steps and phases it comes and goes, and
//! what is lost with it. This file alone lists the kinds and the sorts of their nodes: a new one does not compile until it is listed here.

pub mod file;
pub mod host;
pub mod job;
pub mod namespace;
pub mod resource;
pub mod route;
pub mod rules;
pub mod secret;
pub mod volume;
pub mod workspace;

use crate::address::Address;
use crate::called::Called;
use crate::compile::Compilation;
use crate::diagnostic::Diagnostic;
use crate::drift::{Look, Object};
use crate::expand::Expanded;
use crate::lowered::Lowered;
use crate::node::{Node, Writer};
use crate::plan::effects::{Effect, Of, salt};
use crate::plan::{Act, Change, Key, PlanInput, Work};
use crate::read::Reader;
use crate::recipe::Risk;
use crate::recipe::read::each;
use crate::source::Sourced;
use crate::template::Template;
use crate::tiers::Tiers;
use crate::yaml::Entry;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The sorts of nodes, in the order of their words, each with its word.
macro_rules! sorts {
    ($($sort:ident $word:literal,)*) => {
        /// What sort of thing a node is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NodeKind {
            $($sort,)*
        }

        impl NodeKind {
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$sort,)*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$sort => $word,)*
                }
            }
        }
    };
}

/// What minions are asked for, each by the name of its kind and the kind's own file.
macro_rules! requests {
    ($(#[$about:meta])* $name:ident { $($kind:ident($file:ident),)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum $name {
            $($kind($file::$name),)*
        }

        impl $name {
            pub fn request(&self) -> &dyn Request {
                match self {
                    $(Self::$kind(one) => one,)*
                }
            }
        }
    };
}

/// What recipes ask of hosts themselves: the key below `host:`, and the kind's own file.
macro_rules! host_parts {
    ($($key:ident: $file:ident,)*) => {
        /// What a recipe has below `host:`, kind by kind.
        #[derive(Clone, Debug, Default)]
        pub struct HostNeeds {
            $(pub $key: Vec<$file::Need>,)*
        }

        /// What a component has on hosts beside volumes, kind by kind.
        #[derive(Clone, Debug, Default)]
        pub struct HostParts {
            $(pub $key: Box<[$file::Part]>,)*
        }

        impl HostNeeds {
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];

            pub(crate) fn read(reader: &mut Reader<'_>, fields: &[Entry]) -> Self {
                Self {
                    $($key: each(reader, fields, stringify!($key), $file::read),)*
                }
            }

            pub fn templates(&self) -> impl Iterator<Item = &Template> {
                std::iter::empty()$(.chain(self.$key.iter().flat_map($file::Need::templates)))*
            }

            pub fn is_empty(&self) -> bool {
                true $(&& self.$key.is_empty())*
            }

            /// What it becomes on these hosts.
            pub(crate) fn lower(
                &self,
                expanded: &Expanded<'_>,
                hosts: &[Sourced<String>],
            ) -> Result<HostParts, Diagnostic> {
                Ok(HostParts {
                    $($key: $file::lower(expanded, &self.$key, hosts)?.into(),)*
                })
            }
        }

        impl HostParts {
            pub fn is_empty(&self) -> bool {
                true $(&& self.$key.is_empty())*
            }

            /// What no other component may have: the sort of thing, and its name.
            pub(crate) fn claims(&self) -> impl Iterator<Item = (&'static str, String)> {
                std::iter::empty()$(.chain(self.$key.iter().map($file::Part::claim)))*
            }
        }
    };
}

/// What recipes ask of Terraform beside the job: the key of the recipe, and the kind's own file.
macro_rules! workspace_parts {
    ($($key:ident: $file:ident,)*) => {
        /// What a recipe has Terraform make, kind by kind.
        #[derive(Clone, Debug, Default)]
        pub struct WorkspaceNeeds {
            $(pub $key: Vec<$file::Need>,)*
        }

        /// What a component has in its workspace beside the job, kind by kind.
        #[derive(Clone, Debug, Default)]
        pub struct WorkspaceParts {
            $(pub $key: Box<[$file::Part]>,)*
        }

        impl WorkspaceNeeds {
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];

            pub(crate) fn read(reader: &mut Reader<'_>, entries: &[Entry]) -> Self {
                Self {
                    $($key: $file::read(reader, entries, stringify!($key)),)*
                }
            }

            /// Every template of it. All must be known before anything is made.
            pub fn templates(&self) -> impl Iterator<Item = &Template> {
                std::iter::empty()$(.chain(self.$key.iter().flat_map($file::Need::templates)))*
            }

            pub(crate) fn lower(&self, expanded: &Expanded<'_>, found: &mut Vec<Diagnostic>) -> WorkspaceParts {
                WorkspaceParts {
                    $($key: $file::lower(expanded, &self.$key, found).into(),)*
                }
            }
        }

        impl WorkspaceParts {
            pub fn is_empty(&self) -> bool {
                true $(&& self.$key.is_empty())*
            }

            /// The files of the module that have them, in Terraform's JSON.
            pub(crate) fn documents(&self) -> impl Iterator<Item = (&'static str, Value)> {
                std::iter::empty()$(.chain((!self.$key.is_empty()).then(|| $file::document(&self.$key))))*
            }

            /// Their types, by which their providers are found.
            pub(crate) fn types(&self) -> impl Iterator<Item = &str> {
                std::iter::empty()$(.chain(self.$key.iter().map($file::Part::terraform_type)))*
            }
        }
    };
}

sorts! {
    File "file",
    Host "host",
    Job "job",
    Namespace "namespace",
    Resource "resource",
    Route "route",
    Rules "rules",
    Secret "secret",
    Service "service",
    Target "target",
    Volume "volume",
}

/// The kinds that a component has, in the order in which their nodes and steps come.
pub(crate) static KINDS: [&dyn Kind; 7] = [
    &secret::Secrets,
    &volume::Volumes,
    &file::Files,
    &job::Jobs,
    &resource::Resources,
    &route::Routes,
    &rules::Monitoring,
];

requests! {
    /// What a minion makes in one step.
    Made {
        File(file),
        Volume(volume),
        Workspace(workspace),
        Rules(rules),
    }
}

requests! {
    /// What a minion removes in one step.
    Unmade {
        File(file),
        Volume(volume),
        Workspace(workspace),
        Rules(rules),
    }
}

requests! {
    /// What a minion does in one step with something that is there, and neither makes nor removes it.
    Acted {
        Job(job),
    }
}

host_parts! {
    files: file,
}

workspace_parts! {
    resources: resource,
}

/// What a person can have done with a component that the pillar does not say. Each is at home with one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deed {
    #[default]
    Restart,
    /// Starts a run of what has a schedule.
    Run,
}

impl Deed {
    pub fn word(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Run => "run",
        }
    }

    /// The word as the first of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Restart => "Restart",
            Self::Run => "Run",
        }
    }

    /// Why nothing undoes it.
    pub fn why_final(self) -> &'static str {
        match self {
            Self::Restart => "a restart leaves nothing to undo",
            Self::Run => "Eos does not know what the run did",
        }
    }

    pub(crate) fn home(self) -> &'static dyn Kind {
        match self {
            Self::Restart | Self::Run => &job::Jobs,
        }
    }
}

/// The kind at home with a sort of node; nothing for what the whole estate shares.
pub(crate) fn of(kind: NodeKind) -> Option<&'static dyn Kind> {
    KINDS.into_iter().find(|one| one.sorts().contains(&kind))
}

/// Whether something goes with a node that nothing brings back.
pub(crate) fn is_lost(node: &Node) -> bool {
    of(node.address.kind).is_some_and(|kind| kind.is_lost(node))
}

/// The address of the node that Terraform knows under this address of its own.
pub(crate) fn at_terraform(component: &str, terraform: &str) -> Option<Address> {
    KINDS
        .into_iter()
        .find_map(|kind| kind.at_terraform(component, terraform))
}

/// What a step proves. It changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// The component runs, is registered and passes its checks.
    Healthy(job::Healthy),
    /// The component's job ran to its end, and well.
    Ended(job::Ended),
    /// The component's job is there, and Nomad starts it at its times.
    Scheduled(job::Scheduled),
    /// The component's job is there, and nothing of it runs or is registered.
    Stopped(job::Stopped),
    /// Nothing of the component runs or is registered any more.
    Gone(job::Gone),
    /// Volumes that the pillar names no longer are there all the same, with their data.
    Kept(volume::Kept),
    /// The host answers as a minion, and, if it is to run tasks, as a Nomad client.
    Host(host::Answers),
    /// Terraform's state has the resources.
    Present(resource::Present),
    /// The proxy answers under the component's host names, and under no others that it had.
    Routed(route::Routed),
    /// The monitor asks the component no longer.
    Unwatched(rules::Unwatched),
}

impl Proof {
    /// The proof in a word, for progress and errors.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Healthy(_) => "healthy",
            Self::Ended(_) => "ended",
            Self::Scheduled(_) => "scheduled",
            Self::Stopped(_) => "stopped",
            Self::Gone(_) => "gone",
            Self::Kept(_) => "kept",
            Self::Host(_) => "host",
            Self::Present(_) => "present",
            Self::Routed(_) => "route",
            Self::Unwatched(_) => "monitor",
        }
    }

    /// The services of the job that it is about; nothing where it is about no job.
    pub fn services(&self) -> Option<Vec<&str>> {
        match self {
            Self::Healthy(healthy) => Some(healthy.services()),
            Self::Stopped(stopped) => Some(stopped.services.iter().map(String::as_str).collect()),
            Self::Gone(gone) => Some(gone.services.iter().map(String::as_str).collect()),
            Self::Ended(_) | Self::Scheduled(_) => Some(Vec::new()),
            Self::Kept(_) | Self::Host(_) | Self::Present(_) | Self::Routed(_) | Self::Unwatched(_) => None,
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

    /// What its minion's preview says that becomes of things there. Terraform's is read where its plan is.
    fn effects(&self, of: Of<'_>, _: Option<&Lowered>, answer: &Value) -> Vec<Effect> {
        salt::effects(of, self.minion(), answer)
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
pub(crate) struct PhaseStep {
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
    /// The sorts of nodes that are at home with it.
    fn sorts(&self) -> &'static [NodeKind];

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
    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep>;

    /// The steps that remove it, each with its time.
    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)>;

    /// What a plan says of a deed that is at home with it.
    fn act(&self, _: Deed, _: &Lowered) -> Option<Act> {
        None
    }

    /// The steps of a deed that is at home with it, each after the one before.
    fn does(&self, _: Deed, _: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        Vec::new()
    }

    /// What an operation that is rolled back left of it, and the work that removes that.
    fn leftovers(&self, input: &PlanInput<'_>) -> Vec<(Key, Work)>;

    /// The other component that must be healthy before it is made.
    fn waits_for<'c>(&self, component: &'c Lowered) -> Option<&'c str>;

    /// Adds the changes that the nodes themselves do not show. `wanted` are the nodes of the component.
    fn adds(&self, input: &PlanInput<'_>, key: &Key, wanted: &[Node], changes: &mut Vec<Change>);

    /// The risk that its minion will find in a node, beside the one that its recipe says; `tiers` are the minion's lists.
    fn risk(&self, _: &Node, _: &Tiers) -> Risk {
        Risk::Low
    }

    /// What engines call a node, where that is another name than its own.
    fn called(&self, _: &Lowered, _: &Node) -> Vec<Called> {
        Vec::new()
    }

    /// Whether something goes with a node that nothing brings back.
    fn is_lost(&self, _: &Node) -> bool {
        false
    }

    /// The address of its node that Terraform knows under this address of its own.
    fn at_terraform(&self, _component: &str, _terraform: &str) -> Option<Address> {
        None
    }

    /// What it is in reality, where the kind itself says so. The engines' own objects are judged in `drift`.
    fn verdicts(&self, _: &Look<'_>) -> Vec<Object> {
        Vec::new()
    }

    /// Adds to a change what else a person should know of it, and how far it can be undone.
    fn remark(&self, change: &mut Change, input: &PlanInput<'_>);
}
