//! Secrets: values of a component in the secrets engine. Nodes, plans and steps name them, and hold none.

use super::{
    Function, Going, Kind, Parting, Phase, PhaseStep, Piece, Request, Slices, Wanted, job, namespace,
};
use crate::address::{Address, NodeKind};
use crate::compile::Compilation;
use crate::lowered::{CopyOf, Lowered, secret_path};
use crate::node::{Attribute, Layer, Node, Reversibility, Writer, attributes};
use crate::plan::{Action, Change, Key, PlanInput, Work};
use crate::profile::Profile;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The control minion brings the secrets of a component to what a plan says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    pub minion: String,
    pub path: String,
    #[serde(flatten)]
    pub how: How,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Items without a given value are made if they are not there.
    Write { items: Vec<SecretWork> },
    /// The secrets engine holds again what it held before an operation wrote to it.
    Restore { previous: Previous },
    /// Everything goes, with all versions.
    Remove {},
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecretWork {
    pub item: String,
    /// The person gave a value with this command.
    pub given: bool,
    /// A new value takes the place of the one that is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rotate: bool,
    pub generate: Option<u32>,
    /// The value is that of another component's secret, in the same environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
}

/// What the secrets engine held before an operation wrote to it; where to find it, never what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Previous {
    Nothing,
    /// A version that the engine itself keeps.
    Version(u64),
    /// The path of a copy that the engine keeps until the operation ends.
    Kept(String),
}

impl Moved {
    /// The items that it writes.
    pub fn items(&self) -> &[SecretWork] {
        match &self.how {
            How::Write { items } => items,
            How::Restore { .. } | How::Remove {} => &[],
        }
    }
}

impl Request for Moved {
    fn kind(&self) -> &'static str {
        "secret"
    }

    fn title(&self) -> &'static str {
        "secret"
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        match self.how {
            How::Write { .. } => Function::Make,
            How::Restore { .. } => Function::Act("restore"),
            How::Remove {} => Function::Remove,
        }
    }

    fn facts(&self, _: &str) -> Value {
        match &self.how {
            How::Write { items } => json!({"items": items}),
            How::Restore { previous } => json!({"previous": previous}),
            How::Remove {} => json!({}),
        }
    }

    /// The pillar holds no values: nothing of it can be outdated.
    fn is_served(&self, _: &Key, _: &Compilation) -> bool {
        true
    }

    fn is_bound(&self) -> bool {
        false
    }

    /// The control minion says what the secrets are, and Eos what would become of them.
    fn is_previewed(&self) -> bool {
        false
    }

    fn object(&self, place: &str) -> String {
        format!("secrets of {place}")
    }
}

pub fn address(component: &str) -> Address {
    NodeKind::Secret.at(component)
}

pub(crate) struct Secrets;

impl Kind for Secrets {
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::Secret]
    }

    fn phase(&self) -> Phase {
        Phase::BeforeJob
    }

    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        if component.secrets.is_empty() {
            return Vec::new();
        }
        let copied = component
            .secrets
            .iter()
            .filter_map(|secret| secret.copy_of.as_ref());
        let mut after = vec![namespace::address(&component.environment)];
        after.extend(copied.map(|copy| address(&copy.component)));
        after.dedup();
        vec![Node::of(
            component,
            address(&component.component),
            (Layer::Secret, Writer::Secret),
            summary(component),
            secret_attributes(component),
            after,
        )]
    }

    fn part(&self, _: &Node) -> Option<String> {
        None
    }

    /// The slice of its workspace names the secrets that a component needs.
    fn slices<'a>(&self, _: &'a BTreeMap<Key, Lowered>, _: &mut Slices<'a>) {}

    fn pieces(&self, _: &Lowered) -> Vec<Piece> {
        Vec::new()
    }

    fn recorded(&self, _: &Lowered) -> Vec<String> {
        Vec::new()
    }

    fn files(&self, _: &Lowered) -> Vec<(&'static str, Vec<u8>)> {
        Vec::new()
    }

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let ask = |how| PhaseStep {
            risk: wanted.risk,
            work: Work::Secret(Moved {
                minion: wanted.control.to_owned(),
                path: wanted.component.secret_path(),
                how,
            }),
        };
        let overwritten = wanted.input.left.and_then(|left| left.secrets.get(wanted.key));
        let restored = overwritten.map(|previous| {
            ask(How::Restore {
                previous: previous.clone(),
            })
        });
        let mut changes = wanted.changes_of(NodeKind::Secret);
        let written = changes.any(|change| change.action != Action::Delete).then(|| {
            ask(How::Write {
                items: items(wanted.input, wanted.key),
            })
        });
        restored.into_iter().chain(written).collect()
    }

    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        let mut nodes = going.applied().iter().filter(|_| going.ran());
        let had = nodes.any(|node| node.address.kind == NodeKind::Secret);
        let removed = had.then(|| PhaseStep {
            risk: going.risk,
            work: Work::Secret(Moved {
                minion: going.control.to_owned(),
                path: secret_path(going.input.compilation.profile, &going.key.0, &going.key.1),
                how: How::Remove {},
            }),
        });
        removed
            .into_iter()
            .map(|asked| (Parting::NothingRuns, asked))
            .collect()
    }

    fn leftovers(&self, _: &PlanInput<'_>) -> Vec<(Key, Work)> {
        Vec::new()
    }

    fn waits_for<'c>(&self, _: &'c Lowered) -> Option<&'c str> {
        None
    }

    /// A value that was given, or is to be made again, for a secret that was there before replaces it. Vault keeps the
    /// earlier version, Nomad's variables do not. Those who have a copy of it get the new one. All that use it restart.
    fn adds(&self, input: &PlanInput<'_>, key: &Key, wanted: &[Node], changes: &mut Vec<Change>) {
        let Some(node) = wanted.iter().find(|node| node.address.kind == NodeKind::Secret) else {
            return;
        };
        let items = items(input, key);
        let missing = items.iter().any(|item| is_missing(input, key, &item.item));
        let restored = is_restored(input, key);
        let replaced = restored || items.iter().any(|item| is_replaced(input, item));
        let reversibility = match input.compilation.profile {
            Profile::Solo => Reversibility::Final,
            Profile::Full => Reversibility::Reversible,
        };
        let already = changes.iter_mut().find(|change| change.address == node.address);
        match already {
            Some(change) if change.action == Action::Change && replaced => {
                change.reversibility = reversibility;
            }
            Some(_) => {}
            None if replaced => {
                let mut replaced = Change::again(node);
                replaced.reversibility = reversibility;
                changes.insert(0, replaced);
            }
            None if missing => changes.insert(0, Change::again(node)),
            None => {}
        }
        let job = job::address(&key.1);
        let is_said = changes.iter().any(|change| change.address == job);
        let restarts = wanted
            .iter()
            .find(|node| node.address == job && replaced && !is_said);
        changes.extend(restarts.map(|job| Change {
            note: Some(match items.iter().find_map(|item| copied_from(input, item)) {
                Some(of) => {
                    format!("restarts with the new copy; cannot log in to {of} between the two restarts")
                }
                None if restored => "restarts with the earlier value".to_owned(),
                None => "restarts with the new value".to_owned(),
            }),
            ..Change::again(job)
        }));
    }

    fn remark(&self, change: &mut Change, input: &PlanInput<'_>) {
        let key = change.key();
        let words = match change.action {
            Action::Delete => {
                change.reversibility = Reversibility::Final;
                "its values cannot be recovered".to_owned()
            }
            Action::Create => {
                let items = items(input, &key);
                let generated = items.iter().any(|item| !item.given && item.copy_of.is_none());
                let words = match (generated, items.iter().any(|item| item.given)) {
                    (true, true) => "given, the rest generated",
                    (true, false) => "generated",
                    (false, true) => "given",
                    (false, false) => "copied from the component it uses",
                };
                words.to_owned()
            }
            Action::Change => {
                let is_lost = change.reversibility == Reversibility::Final;
                match kept_by_program(input, &key) {
                    Some(why) if is_lost => {
                        format!("recorded only: {why}; the old value cannot be recovered")
                    }
                    Some(why) => format!("recorded only: {why}"),
                    None if is_restored(input, &key) => "as it was before".to_owned(),
                    None if is_lost => "the old value cannot be recovered".to_owned(),
                    None if items(input, &key).iter().any(|item| is_replaced(input, item)) => {
                        "Vault keeps the old value as an earlier version".to_owned()
                    }
                    None => return,
                }
            }
        };
        change.note = Some(words);
    }
}

/// What a plan does to each secret of a component.
fn items(input: &PlanInput<'_>, key: &Key) -> Vec<SecretWork> {
    let intent = input.intent.as_ref();
    let is_named = intent.is_none_or(|intent| intent.sentence.component() == Some(&key.1));
    let component = input.compilation.component(&key.0, &key.1);
    let secrets = component.into_iter().flat_map(|component| &component.secrets);
    secrets
        .map(|secret| SecretWork {
            item: secret.item.clone(),
            given: is_named && input.given.contains(&secret.item),
            rotate: secret.copy_of.is_none()
                && intent.is_some_and(|intent| is_named && intent.rotates(&secret.item)),
            generate: secret.generate,
            copy_of: secret.copy_of.clone(),
        })
        .collect()
}

/// Whether an operation that is rolled back overwrote the secrets.
fn is_restored(input: &PlanInput<'_>, key: &Key) -> bool {
    input.left.is_some_and(|left| left.secrets.contains_key(key))
}

/// Whether a value that is there gives way to another.
fn is_replaced(input: &PlanInput<'_>, item: &SecretWork) -> bool {
    item.given || item.rotate || copied_from(input, item).is_some()
}

/// The component whose new value this item is a copy of.
fn copied_from<'a>(input: &'a PlanInput<'_>, item: &SecretWork) -> Option<&'a str> {
    let intent = input.intent.as_ref()?;
    let copy = item.copy_of.as_ref()?;
    let renewed = input.given.contains(&copy.item) || intent.rotates(&copy.item);
    let named = intent.sentence.component()?;
    (copy.component == named && renewed).then_some(named)
}

/// Why a given value does not reach the program, where that is so.
fn kept_by_program<'a>(input: &PlanInput<'a>, key: &Key) -> Option<&'a str> {
    let component = input.compilation.component(&key.0, &key.1)?;
    let items = items(input, key);
    let given = |item: &str| items.iter().any(|work| work.item == item && work.given);
    let mut secrets = component.secrets.iter();
    secrets.find_map(|secret| secret.not_rotated.as_deref().filter(|_| given(&secret.item)))
}

fn is_missing(input: &PlanInput<'_>, key: &Key, item: &str) -> bool {
    let Some(observed) = input.observed else {
        return false;
    };
    let Some(component) = input.compilation.component(&key.0, &key.1) else {
        return false;
    };
    let place = (key.0.clone(), component.secret_path());
    observed
        .secrets
        .get(&place)
        .is_none_or(|items| !items.contains(item))
}

fn summary(lowered: &Lowered) -> String {
    let items: Vec<_> = lowered
        .secrets
        .iter()
        .map(|secret| secret.item.as_str())
        .collect();
    format!("{}  {}", lowered.secret_place(), items.join(", "))
}

fn secret_attributes(lowered: &Lowered) -> BTreeMap<String, Attribute> {
    let items: Vec<&str> = lowered
        .secrets
        .iter()
        .map(|secret| secret.item.as_str())
        .collect();
    let why = format!("recipe {} names them", lowered.recipe);
    let mut list = attributes([("items", Attribute::new(items, Source::pass("secrets", why)))]);
    for secret in &lowered.secrets {
        if let Some(copy) = &secret.copy_of {
            let from = Source::pass("secrets", format!("copied from what {} uses", lowered.component));
            let value = format!("{} of {}", copy.item, copy.component);
            list.insert(format!("copy.{}", secret.item), Attribute::new(value, from));
        }
    }
    list
}
