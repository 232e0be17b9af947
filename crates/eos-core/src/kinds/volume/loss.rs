//! What is lost with a volume, or with a change of one: decided by what the pillar says of it, never by words.

use super::address;
use super::shown::{CONVERTED, FILESYSTEM, RESTORED, SIZE, snapshot_in};
use crate::address::Address;
use crate::intent::{Intent, Sentence};
use crate::lowered::{Filesystem, Lowered, Volume};
use crate::node::Reversibility;
use crate::option::human_size;
use crate::plan::{Action, Change, Key, PlanInput};
use crate::storage::{self, HostStorage};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a change of a volume on LVM does that a person should know before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consequence {
    Shrinks,
    /// XFS keeps its size for good.
    StaysLarge,
    LosesWrites,
    LosesOldVolume,
    KeepsOldVolume,
    LosesSnapshot,
}

impl Consequence {
    fn reversibility(self) -> Reversibility {
        match self {
            Self::Shrinks => Reversibility::Reversible,
            Self::KeepsOldVolume => Reversibility::Restorable,
            Self::StaysLarge | Self::LosesWrites | Self::LosesOldVolume | Self::LosesSnapshot => {
                Reversibility::Final
            }
        }
    }

    /// Whether data goes. A volume that stays large has all of it.
    fn loses_data(self) -> bool {
        match self {
            Self::LosesWrites | Self::LosesOldVolume | Self::LosesSnapshot => true,
            Self::Shrinks | Self::StaysLarge | Self::KeepsOldVolume => false,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Shrinks => "shrinks after a snapshot, once Eos proves that the data fits",
            Self::StaysLarge => "XFS cannot shrink again",
            Self::LosesWrites => "writes since the snapshot are lost, and the snapshot is used up",
            Self::LosesOldVolume => "the old volume of the conversion is deleted",
            Self::KeepsOldVolume => {
                "nothing may write to it meanwhile; the old volume stays until `--commit`"
            }
            Self::LosesSnapshot => "the content of the snapshot is lost",
        }
    }
}

/// What a change does to a volume that is wanted as it is given here.
fn consequences(volume: &Volume, change: &Change) -> Vec<Consequence> {
    let Some(lvm) = volume.lvm.as_ref().filter(|_| change.action == Action::Change) else {
        return Vec::new();
    };
    let changed = |name: &str| {
        let mut attributes = change.attributes.iter();
        attributes.find(|attribute| attribute.name == name)
    };
    let restored = lvm.restored.as_ref().filter(|_| changed(RESTORED).is_some());
    let mut found = Vec::new();
    for attribute in &change.attributes {
        let bytes = |value: &Option<Value>| value.as_ref().and_then(Value::as_u64);
        let (before, after) = (bytes(&attribute.before), bytes(&attribute.after));
        match attribute.name.as_str() {
            SIZE if after < before => found.push(Consequence::Shrinks),
            SIZE if before.is_some() && volume.filesystem.value == Filesystem::Xfs => {
                found.push(Consequence::StaysLarge);
            }
            RESTORED if restored.is_some() => found.push(Consequence::LosesWrites),
            CONVERTED => found.extend(lvm.converted.as_ref().map(|converted| match converted.committed {
                true => Consequence::LosesOldVolume,
                false => Consequence::KeepsOldVolume,
            })),
            name => {
                let gone = snapshot_in(name).filter(|_| attribute.after.is_none());
                // The one that is restored is used up by that.
                let is_used = |name: &&str| restored.is_some_and(|restored| restored.snapshot == **name);
                found.extend(
                    gone.filter(|name| !is_used(name))
                        .map(|_| Consequence::LosesSnapshot),
                );
            }
        }
    }
    found
}

/// Whether data of a component's volumes goes for good: a snapshot, or what was written since one.
pub(super) fn loses_data<'c>(component: &Lowered, changes: impl Iterator<Item = &'c Change>) -> bool {
    let volume_of = |change: &Change| {
        let mut volumes = component.volumes.iter();
        volumes.find(|volume| address(volume) == change.address)
    };
    let mut found = changes.flat_map(|change| match volume_of(change) {
        Some(volume) => consequences(volume, change),
        None => Vec::new(),
    });
    found.any(Consequence::loses_data)
}

/// What is said of a volume that is made or changed; and how far that can be undone.
pub(super) fn of_wanted(change: &Change, input: &PlanInput<'_>) -> Option<(Vec<String>, Reversibility)> {
    let key = change.key();
    let component = input.compilation.component(&key.0, &key.1)?;
    let mut volumes = component.volumes.iter();
    let volume = volumes.find(|volume| address(volume) == change.address)?;
    volume.lvm.as_ref()?;
    let found = consequences(volume, change);
    let reversibility = found.iter().map(|one| one.reversibility()).max();
    let mut words: Vec<String> = found.iter().map(|one| one.words().to_owned()).collect();
    let host = input
        .observed
        .and_then(|observed| observed.storage.get(&volume.host.value));
    if let Some(host) = host {
        words.extend(takes(component, volume, host));
    }
    Some((words, reversibility.unwrap_or(Reversibility::Reversible)))
}

/// What is said of a volume that the pillar names no longer.
pub(super) fn of_gone(change: &Change, input: &PlanInput<'_>) -> (String, Reversibility) {
    let form = form(change);
    let doomed = doomed(input, &change.key());
    if !doomed.iter().any(|volume| *volume.address == change.address) {
        return (format!("the {form} and its data are kept"), change.reversibility);
    }
    let words = match input.intent.as_ref().is_some_and(takes_data) {
        true => "deleted with all its data and snapshots, as requested".to_owned(),
        false => format!(
            "the {form} and its data are deleted: storage of {} is ephemeral",
            change.environment
        ),
    };
    (words, Reversibility::Final)
}

/// What a volume is, in a word.
fn form(change: &Change) -> &'static str {
    let mut attributes = change.attributes.iter();
    let filesystem = attributes.find(|attribute| attribute.name == FILESYSTEM);
    let word = filesystem.and_then(|attribute| attribute.before.as_ref().or(attribute.after.as_ref()));
    match word.is_some_and(|word| word == Filesystem::Directory.word()) {
        true => "directory",
        false => "volume",
    }
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
    pub address: &'a Address,
    /// The name that its host knows it under: `environment/component/need`.
    pub name: String,
    pub host: &'a str,
    pub path: &'a str,
    /// Its environment does not care for its data; else a person said that it shall go.
    pub ephemeral: bool,
}

/// The volumes that go with a component. Nothing but a person's word that it shall go takes data along: not an update
/// that needs a volume no longer, and not an edit of the pillar by hand.
pub(super) fn doomed<'a>(input: &PlanInput<'a>, key: &Key) -> Vec<Doomed<'a>> {
    let deleted = input.compilation.component(&key.0, &key.1).is_none() && deleted_by_intent(input, key);
    let nodes = input.applied.get(key).filter(|_| deleted);
    let with_data = input.intent.as_ref().is_some_and(takes_data);
    let found = nodes.into_iter().flatten().filter_map(|node| {
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
    found.collect()
}

/// Whether a person asked for a volume to go with its data.
fn takes_data(intent: &Intent) -> bool {
    matches!(intent.sentence, Sentence::DeleteVolume { with_data: true, .. })
}

/// Whether the intent deletes the component, or one that has it for its own use.
fn deleted_by_intent(input: &PlanInput<'_>, key: &Key) -> bool {
    let Some(Intent { sentence, .. }) = &input.intent else {
        return false;
    };
    if let Sentence::DeleteEnvironment { environment } = sentence {
        return *environment == key.0;
    }
    let (Sentence::DeleteComponent {
        environment,
        component: deleted,
    }
    | Sentence::DeleteVolume {
        environment,
        volume: deleted,
        ..
    }) = sentence
    else {
        return false;
    };
    if *environment != key.0 {
        return false;
    }
    let mut passed = BTreeSet::new();
    let mut name = Some(&key.1);
    while let Some(current) = name.filter(|current| passed.insert(*current)) {
        if current == deleted {
            return true;
        }
        let nodes = input.applied.get(&(key.0.clone(), current.clone()));
        name = nodes.into_iter().flatten().find_map(|node| node.owner.as_ref());
    }
    false
}
