//! What would change: the nodes that are wanted against those that were applied.

use super::steps::secret_items;
use super::{Action, AttributeChange, Change, Key, PlanInput, SecretWork};
use crate::emit::terraform::PLATFORM;
use crate::intent::{Intent, Noun, Verb};
use crate::lowered::{Filesystem, Lowered, Volume};
use crate::node::{self, Attribute, Layer, Node, Reversibility, host_node};
use crate::option::human_size;
use crate::profile::Profile;
use crate::storage::{self, HostStorage};
use std::collections::{BTreeMap, BTreeSet};

/// What an intent changes about a host.
pub(super) fn host_changes(input: &PlanInput<'_>) -> Vec<Change> {
    let Some(intent) = input.intent.as_ref().filter(|intent| intent.noun == Noun::Host) else {
        return Vec::new();
    };
    let (before, after) = (&input.hosts.0, &input.hosts.1);
    let before = before.get(&intent.component).map(host_node);
    let after = after.get(&intent.component).map(host_node);
    match (before, after) {
        (None, Some(node)) => vec![change(Action::Create, &node, None)],
        (Some(node), None) => vec![change(Action::Delete, &node, None)],
        (Some(before), Some(node)) if !same_values(&before, &node) => {
            vec![change(Action::Change, &node, Some(&before))]
        }
        _ => Vec::new(),
    }
}

/// Whether the engines say that the workspace and its job are what the pillar wants.
fn in_step(input: &PlanInput<'_>, key: &Key) -> bool {
    let (Some(observed), Some(workspace)) = (input.observed, input.compilation.workspace(&key.0, &key.1))
    else {
        return true;
    };
    let name = format!("{}/{}", key.0, key.1);
    let workspace_in_step = observed
        .workspaces
        .get(&name)
        .is_some_and(|digest| digest.as_deref() == Some(&workspace.digest));
    let job_in_step = key.1 == PLATFORM
        || observed
            .jobs
            .get(key)
            .is_some_and(|digest| digest.as_deref() == Some(&workspace.job_digest));
    workspace_in_step && job_in_step
}

pub(super) fn component_changes(input: &PlanInput<'_>, key: &Key) -> Vec<Change> {
    let nothing = Vec::new();
    let wanted = input.compilation.nodes(key);
    // What is there of an unfinished component is not known: if it is wanted, all of it is made.
    let known = input
        .applied
        .get(key)
        .filter(|_| wanted.is_empty() || !input.unfinished.contains(key));
    let applied = known.unwrap_or(&nothing);
    let mut changes: Vec<_> = wanted
        .iter()
        .filter_map(
            |node| match applied.iter().find(|before| before.address == node.address) {
                None => Some(change(Action::Create, node, None)),
                Some(before) if !same_values(before, node) => {
                    Some(change(Action::Change, node, Some(before)))
                }
                Some(_) => None,
            },
        )
        .collect();
    changes.extend(
        applied
            .iter()
            .filter(|node| !wanted.iter().any(|now| now.address == node.address))
            .map(|node| change(Action::Delete, node, None)),
    );
    add_new_secrets(input, key, &wanted, &mut changes);
    add_made_again(input, &wanted, &mut changes);
    if changes.is_empty() && !wanted.is_empty() && !in_step(input, key) {
        changes.extend(
            wanted
                .iter()
                .filter(|node| node.address.starts_with("job/") || key.1 == PLATFORM)
                .map(|node| Change {
                    note: Some("the engines differ from the pillar".to_owned()),
                    ..change(Action::Change, node, Some(node))
                }),
        );
    }
    for change in &mut changes {
        note(change, input);
    }
    changes
}

/// What a host no longer has as it was made, though the pillar says the same of it as ever.
fn add_made_again(input: &PlanInput<'_>, wanted: &[Node], changes: &mut Vec<Change>) {
    let Some(intent) = &input.intent else { return };
    for node in wanted.iter().filter(|node| intent.makes_again(&node.address)) {
        if !changes.iter().any(|change| change.address == node.address) {
            changes.push(Change {
                note: Some("changed on its host; Eos makes it again".to_owned()),
                ..change(Action::Change, node, Some(node))
            });
        }
    }
}

/// A value that was given, or is to be made anew, for a secret that was there before replaces it. Vault keeps the earlier
/// version, Nomad's variables do not. Those who have a copy of it get the new one. All that use it start anew.
fn add_new_secrets(input: &PlanInput<'_>, key: &Key, wanted: &[Node], changes: &mut Vec<Change>) {
    let Some(node) = wanted.iter().find(|node| node.layer == Layer::Secret) else {
        return;
    };
    let items = secret_items(input, key);
    let missing = items.iter().any(|item| missing_item(input, key, &item.item));
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
            let mut replaced = change(Action::Change, node, Some(node));
            replaced.reversibility = reversibility;
            changes.insert(0, replaced);
        }
        None if missing => changes.insert(0, change(Action::Change, node, Some(node))),
        None => {}
    }
    let jobs = wanted.iter().filter(|node| node.layer == Layer::Job);
    for job in jobs.filter(|_| replaced) {
        if !changes.iter().any(|change| change.address == job.address) {
            let note = match items.iter().find_map(|item| copied_from(input, item)) {
                Some(of) => {
                    format!("restarts with the new copy; cannot log in to {of} between the two restarts")
                }
                None if restored => "restarts with the earlier value".to_owned(),
                None => "restarts with the new value".to_owned(),
            };
            changes.push(Change {
                note: Some(note),
                ..change(Action::Change, job, Some(job))
            });
        }
    }
}

/// Whether an operation that is taken back overwrote the secrets.
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
    (copy.component == intent.component && renewed).then_some(intent.component.as_str())
}

/// Why a value that was given does not reach the program, where that is so.
fn kept_by_program<'a>(input: &PlanInput<'a>, key: &Key) -> Option<&'a str> {
    let component = input.compilation.component(&key.0, &key.1)?;
    let items = secret_items(input, key);
    let given = |item: &str| items.iter().any(|work| work.item == item && work.given);
    let mut secrets = component.secrets.iter();
    secrets.find_map(|secret| secret.not_rotated.as_deref().filter(|_| given(&secret.item)))
}

fn missing_item(input: &PlanInput<'_>, key: &Key, item: &str) -> bool {
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

fn note(change: &mut Change, input: &PlanInput<'_>) {
    let text = match (change.layer, change.action) {
        (Layer::Secret, Action::Delete) => {
            change.reversibility = Reversibility::Final;
            "its values cannot be recovered"
        }
        (Layer::Secret, Action::Create) => {
            let items = secret_items(input, &(change.environment.clone(), change.component.clone()));
            let generated = items.iter().any(|item| !item.given && item.copy_of.is_none());
            match (generated, items.iter().any(|item| item.given)) {
                (true, true) => "given, the rest generated",
                (true, false) => "generated",
                (false, true) => "given",
                (false, false) => "copied from the component it uses",
            }
        }
        (Layer::Secret, Action::Change) => {
            let key = (change.environment.clone(), change.component.clone());
            match (kept_by_program(input, &key), change.reversibility) {
                (Some(why), Reversibility::Final) => {
                    &format!("recorded only: {why}; the old value cannot be recovered")
                }
                (Some(why), _) => &format!("recorded only: {why}"),
                (None, _) if is_restored(input, &key) => "as it was before",
                (None, Reversibility::Final) => "the old value cannot be recovered",
                (None, _)
                    if secret_items(input, &key)
                        .iter()
                        .any(|item| is_replaced(input, item)) =>
                {
                    "Vault keeps the old value as an earlier version"
                }
                (None, _) => return,
            }
        }
        (Layer::Host, Action::Delete) => {
            let key = (change.environment.clone(), change.component.clone());
            let mut doomed = doomed_volumes(input, &key).into_iter();
            match doomed.any(|volume| volume.address == change.address) {
                true => {
                    change.reversibility = Reversibility::Final;
                    match input.intent.as_ref().is_some_and(Intent::takes_data) {
                        true => "deleted with all its data and snapshots, as requested",
                        false => &format!(
                            "the {} and its data are deleted: storage of {} is ephemeral",
                            form(change),
                            change.environment
                        ),
                    }
                }
                false => &format!("the {} and its data are kept", form(change)),
            }
        }
        (Layer::Host, Action::Create | Action::Change) => match volume_note(change, input) {
            Some(text) => &text.clone(),
            None => return,
        },
        _ => return,
    };
    change.note = Some(text.to_owned());
}

/// What a volume is, in a word.
fn form(change: &Change) -> &'static str {
    let is = |attribute: &AttributeChange| {
        let value = attribute.before.as_ref().or(attribute.after.as_ref());
        attribute.name == "filesystem" && value.is_some_and(|value| value == Filesystem::Directory.word())
    };
    match change.attributes.iter().any(is) {
        true => "directory",
        false => "volume",
    }
}

/// Whether an attribute says that what a conversion kept need not be kept any longer.
pub(super) fn commits(attribute: &AttributeChange) -> bool {
    let after = attribute.after.as_ref().and_then(serde_json::Value::as_str);
    attribute.name == "converted" && after.is_some_and(|words| words.ends_with("committed"))
}

/// What else is to be said of a volume on LVM that is made or changed; and how far that can be had back.
fn volume_note(change: &mut Change, input: &PlanInput<'_>) -> Option<String> {
    let key = (change.environment.clone(), change.component.clone());
    let component = input.compilation.component(&key.0, &key.1)?;
    let mut volumes = component.volumes.iter();
    let volume = volumes.find(|volume| node::volume_address(volume) == change.address)?;
    let lvm = volume.lvm.as_ref()?;
    let mut notes = Vec::new();
    let mut reversibility = Reversibility::Reversible;
    let mut lasting = |least: Reversibility| reversibility = reversibility.max(least);
    for attribute in change
        .attributes
        .iter()
        .filter(|_| change.action == Action::Change)
    {
        let (before, after) = (attribute.before.as_ref(), attribute.after.as_ref());
        match (attribute.name.as_str(), before, after) {
            ("size", Some(before), Some(after)) if after.as_u64() < before.as_u64() => {
                notes.push("shrinks after a snapshot, once Eos proves that the data fits".to_owned());
            }
            ("size", Some(_), Some(_)) if volume.filesystem.value == Filesystem::Xfs => {
                lasting(Reversibility::Final);
                notes.push("XFS cannot shrink again".to_owned());
            }
            ("restored", _, Some(_)) => {
                lasting(Reversibility::Final);
                notes.push("writes since the snapshot are lost, and the snapshot is used up".to_owned());
            }
            ("converted", _, Some(_)) if commits(attribute) => {
                lasting(Reversibility::Final);
                notes.push("the old volume of the conversion is deleted".to_owned());
            }
            ("converted", _, Some(_)) => {
                lasting(Reversibility::Restorable);
                notes.push(
                    "nothing may write to it meanwhile; the old volume stays until `--commit`".to_owned(),
                );
            }
            (snapshot, Some(_), None) if snapshot.starts_with("snapshot.") && lvm.restored.is_none() => {
                lasting(Reversibility::Final);
                notes.push("the content of the snapshot is lost".to_owned());
            }
            _ => {}
        }
    }
    let host = input
        .observed
        .and_then(|observed| observed.storage.get(&volume.host.value));
    if let Some(host) = host {
        notes.extend(takes(component, volume, host));
    }
    change.reversibility = reversibility;
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What the host has to give for a volume, as it says.
fn takes(component: &Lowered, volume: &Volume, host: &HostStorage) -> Vec<String> {
    let Ok(fit) = storage::fit(component, volume, host) else {
        let id = volume.id(&component.environment, &component.component);
        let larger = host.volume(&id).filter(|there| there.size > volume.size.value);
        let stays = larger.map(|there| format!("it has {} and keeps them", human_size(there.size)));
        return stays.into_iter().collect();
    };
    let mut notes = Vec::new();
    let group = volume.lvm.as_ref().map_or("", |lvm| lvm.group.value.as_str());
    if !fit.disks.is_empty() {
        let verb = if fit.disks.len() == 1 { "becomes" } else { "become" };
        notes.push(format!("{} {verb} a part of {group}", fit.disks.join(", ")));
    }
    if fit.size != volume.size.value {
        let extent = host.group(group).map_or(4 << 20, |group| group.extent);
        notes.push(format!(
            "rounded up to {}: extents of {}",
            human_size(fit.size),
            human_size(extent)
        ));
    }
    notes
}

/// A volume that goes with its component.
pub(super) struct Doomed<'a> {
    pub address: &'a str,
    /// The name that its host knows it under: `environment/component/need`.
    pub name: String,
    pub host: &'a str,
    pub path: &'a str,
    /// Its environment does not care for its data; else a person said that it shall go.
    pub ephemeral: bool,
}

/// The volumes that go with a component. Nothing but a person's word that it shall go takes data along: not an update
/// that needs a volume no longer, and not an edit of the pillar by hand.
pub(super) fn doomed_volumes<'a>(input: &PlanInput<'a>, key: &Key) -> Vec<Doomed<'a>> {
    let deleted = input.compilation.component(&key.0, &key.1).is_none() && deleted_by_intent(input, key);
    let nodes = input.applied.get(key).filter(|_| deleted);
    let with_data = input.intent.as_ref().is_some_and(Intent::takes_data);
    let doomed = nodes.into_iter().flatten().filter_map(|node| {
        let ephemeral = node.is_ephemeral();
        let volume = Doomed {
            address: &node.address,
            name: format!("{}/{}/{}", key.0, key.1, node.volume_need()?),
            host: node.text("host")?,
            path: node.text("path")?,
            ephemeral,
        };
        (ephemeral || with_data).then_some(volume)
    });
    doomed.collect()
}

/// Whether the intent deletes the component, or one that has it for its own use.
fn deleted_by_intent(input: &PlanInput<'_>, key: &Key) -> bool {
    let deletes = |intent: &&Intent| intent.verb == Verb::Delete && intent.environment == key.0;
    let Some(intent) = input.intent.as_ref().filter(deletes) else {
        return false;
    };
    match intent.noun {
        Noun::Component | Noun::Volume => {}
        Noun::Host => return false,
        Noun::Environment => return true,
    }
    let mut passed = BTreeSet::new();
    let mut name = Some(&key.1);
    while let Some(current) = name.filter(|current| passed.insert(*current)) {
        if *current == intent.component {
            return true;
        }
        let nodes = input.applied.get(&(key.0.clone(), current.clone()));
        name = nodes.into_iter().flatten().find_map(|node| node.owner.as_ref());
    }
    false
}

fn same_values(a: &Node, b: &Node) -> bool {
    a.attributes.len() == b.attributes.len()
        && a.attributes.iter().all(|(name, attribute)| {
            b.attributes
                .get(name)
                .is_some_and(|other| other.value == attribute.value)
        })
}

fn change(action: Action, node: &Node, before: Option<&Node>) -> Change {
    let nothing = BTreeMap::new();
    let (old, new): (&BTreeMap<String, Attribute>, _) = match action {
        Action::Create => (&nothing, &node.attributes),
        Action::Delete => (&node.attributes, &nothing),
        Action::Change => (
            before.map_or(&nothing, |before| &before.attributes),
            &node.attributes,
        ),
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let attributes = names
        .into_iter()
        .map(|name| AttributeChange {
            name: name.clone(),
            before: old.get(name).map(|attribute| attribute.value.clone()),
            after: new.get(name).map(|attribute| attribute.value.clone()),
            from: new.get(name).map(|attribute| attribute.from.clone()),
        })
        .filter(|change| change.before != change.after)
        .collect();
    Change {
        address: node.address.clone(),
        environment: node.environment.clone(),
        component: node.component.clone(),
        layer: node.layer,
        action,
        summary: node.summary.clone(),
        reversibility: node.reversibility,
        note: None,
        attributes,
    }
}
