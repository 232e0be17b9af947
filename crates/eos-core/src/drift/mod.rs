//! Drift: what the pillar wants, what Terraform remembers and what is really there, with one verdict for each object. A
//! pure function of what was compiled and what was observed.

mod adopt;
mod files;
mod host;
mod jobs;
mod policies;
mod reconcile;
mod seen;
mod services;
mod workspaces;

pub use adopt::{Adoption, adopt};
pub use jobs::moved as moved_jobs;
pub use reconcile::{Policy, Remedy, Tiers, remedy};
pub use seen::*;

use crate::address::{Address, NodeKind};
use crate::compile::Compilation;
use crate::compose::Key;
use crate::emit::terraform::PLATFORM;
use crate::kinds::KINDS;
use crate::lowered::Lowered;
use crate::recipe::Risk;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    InStep,
    /// The pillar says something that was not applied yet.
    PillarAhead,
    /// Somebody changed it behind Eos.
    Changed,
    Missing,
    /// It is where only Eos makes something, and no component has it.
    Unowned,
    /// The one who knows did not answer.
    Unreachable,
}

/// Who differs from the pillar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    Files,
    Terraform,
    Cloud,
    Nomad,
    Consul,
    Vault,
    Host,
}

impl Layer {
    /// Where it was changed, as a person says it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Files => "on disk",
            Self::Terraform => "in Terraform's state",
            Self::Cloud => "in its cloud",
            Self::Nomad => "in Nomad",
            Self::Consul => "in Consul",
            Self::Vault => "in Vault",
            Self::Host => "on its host",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Object {
    /// The address of its node where it has one, such as `job/hello`; else `file/`, `workspace/`, `policy/` and a name.
    pub object: String,
    pub environment: String,
    /// Nothing where it belongs to no component.
    pub component: Option<String>,
    pub verdict: Verdict,
    pub layer: Layer,
    /// Where it is, if that is not told by the layer: a minion, the release, the estate.
    pub place: Option<String>,
    pub attributes: Vec<Difference>,
    /// What else a person should know.
    pub note: Option<String>,
    /// When it was changed, where somebody knows.
    pub since: Option<String>,
    pub risk: Risk,
}

impl Object {
    /// The node that it is, where it is one.
    pub fn address(&self) -> Option<Address> {
        self.object.parse().ok()
    }

    pub fn is_job(&self) -> bool {
        self.address()
            .is_some_and(|address| address.kind == NodeKind::Job)
    }
}

/// One attribute that is not as it should be. A value that nobody keeps, such as that of a Terraform state, is not told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub name: String,
    /// As the pillar wants it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// As it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl Difference {
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            before: None,
            after: None,
        }
    }

    pub fn of(name: impl Into<String>, before: impl Into<Value>, after: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            before: Some(before.into()),
            after: Some(after.into()),
        }
    }
}

/// A component that an operation is about: what differs of it is not judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    pub component: String,
    pub operation: String,
    /// Whether somebody is at work on it; else it was stopped on the way.
    pub is_at_work: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Drift {
    pub environment: String,
    /// All that was looked at, in step or not.
    pub objects: Vec<Object>,
    pub held: Vec<Held>,
    /// Further job -> its component, which is brought back as a whole.
    #[serde(skip)]
    pub members: BTreeMap<String, String>,
    /// What Salt's schedule on the control minion last found, without Eos.
    pub synced: Option<Synced>,
}

impl Drift {
    pub fn differing(&self) -> impl Iterator<Item = &Object> {
        self.objects
            .iter()
            .filter(|object| object.verdict != Verdict::InStep)
    }

    pub fn is_in_step(&self) -> bool {
        self.differing().next().is_none()
    }
}

/// What is compared.
pub struct Look<'a> {
    pub environment: &'a str,
    /// The component to look at; none means all of the environment, and what belongs to no component.
    pub component: Option<&'a str>,
    /// The pillar as it stands.
    pub wanted: &'a Compilation,
    /// The pillar as it was last applied, where that is another.
    pub applied: Option<&'a Compilation>,
    /// Component -> digest of its workspace when it was last applied.
    pub recorded: &'a BTreeMap<Key, String>,
    pub seen: &'a Seen,
}

impl<'a> Look<'a> {
    /// What reality is compared with: the pillar as it was when the component was applied.
    fn baseline(&self, key: &Key) -> Option<&'a Compilation> {
        let recorded = self.recorded.get(key)?;
        let has = |compilation: &&Compilation| compilation.digest(key).as_ref() == Some(recorded);
        Some(self.wanted).filter(has).or_else(|| self.applied.filter(has))
    }

    /// Whether the pillar says what was applied of a component.
    fn is_ahead(&self, key: &Key) -> bool {
        self.wanted.digest(key).as_ref() != self.recorded.get(key)
    }

    fn risk(&self, key: &Key) -> Risk {
        let component = self.wanted.components.get(key);
        let component = component.or_else(|| self.applied.and_then(|applied| applied.components.get(key)));
        component.map_or(Risk::Low, |component| component.risk)
    }

    /// The components of the environment, wanted or applied, that no operation holds.
    fn keys(&self) -> Vec<Key> {
        let wanted = self.wanted.workspaces.keys().chain(self.wanted.components.keys());
        let keys = wanted.chain(self.recorded.keys());
        let of_environment = keys.filter(|(environment, _)| environment == self.environment);
        let mut keys: Vec<Key> = of_environment
            .filter(|key| self.looks_at(&key.1))
            .cloned()
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// The component as it was applied, or else as it is wanted; nothing where neither pillar has it.
    pub(crate) fn component(&self, key: &Key) -> Option<&'a Lowered> {
        let known = [self.baseline(key), Some(self.wanted), self.applied];
        let mut found = known
            .into_iter()
            .flatten()
            .filter_map(|one| one.components.get(key));
        found.next()
    }

    /// Those that have a workspace, and those that no pillar has any more.
    pub(crate) fn workspace_keys(&self) -> Vec<Key> {
        let mut keys = self.keys();
        keys.retain(|key| self.component(key).is_none_or(Lowered::has_workspace));
        keys
    }

    fn looks_at(&self, component: &str) -> bool {
        let named = self.component.is_none_or(|name| name == component);
        named && !self.is_held(component)
    }

    fn is_held(&self, component: &str) -> bool {
        self.seen.held.iter().any(|held| held.component == component)
    }

    /// Whether what belongs to no component is looked at, too.
    fn is_whole(&self) -> bool {
        self.component.is_none()
    }

    pub(crate) fn object(
        &self,
        key: &Key,
        object: impl Into<String>,
        layer: Layer,
        verdict: Verdict,
    ) -> Object {
        Object {
            object: object.into(),
            environment: self.environment.to_owned(),
            component: (key.1 != PLATFORM).then(|| key.1.clone()),
            verdict,
            layer,
            place: None,
            attributes: Vec::new(),
            note: None,
            since: None,
            risk: self.risk(key),
        }
    }

    fn platform(&self) -> Key {
        (self.environment.to_owned(), PLATFORM.to_owned())
    }
}

/// One verdict for each object of an environment.
pub fn drift(look: &Look<'_>) -> Drift {
    let mut objects = Vec::new();
    objects.extend(files::verdicts(look));
    objects.extend(workspaces::verdicts(look));
    objects.extend(jobs::verdicts(look));
    objects.extend(services::verdicts(look));
    objects.extend(KINDS.iter().flat_map(|kind| kind.verdicts(look)));
    objects.extend(host::verdicts(look));
    objects.extend(policies::verdicts(look));
    // What differs comes first in each layer, and what cannot be told last of all.
    objects.sort_by(|a, b| {
        let rank = |object: &Object| (object.verdict == Verdict::Unreachable, object.component.clone());
        rank(a).cmp(&rank(b)).then_with(|| a.object.cmp(&b.object))
    });
    let control = look.seen.control.as_deref();
    let inspection = control.and_then(|control| look.seen.minions.get(control)?.as_ref().ok());
    Drift {
        environment: look.environment.to_owned(),
        objects,
        held: look.seen.held.clone(),
        members: members(look),
        synced: inspection.and_then(|inspection| inspection.synced.clone()),
    }
}

fn members(look: &Look<'_>) -> BTreeMap<String, String> {
    let there = look.wanted.of_environment(look.environment);
    let members = there.filter(|component| component.is_member);
    let named = members.map(|member| (member.component.clone(), member.spoken_of().to_owned()));
    named.collect()
}

#[cfg(test)]
mod tests;
