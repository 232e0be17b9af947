//! What a person sees of a volume: its line in a plan, and its attributes with their sources.

use crate::lowered::{Durability, Lvm, Volume};
use crate::node::{Attribute, attributes};
use crate::option::human_size;
use crate::pillar::{Converted, Restored};
use std::collections::BTreeMap;

/// Before the name of a snapshot, in the name of its attribute.
const SNAPSHOT: &str = "snapshot.";
pub(super) const RESTORED: &str = "restored";
pub(super) const CONVERTED: &str = "converted";
pub(super) const SIZE: &str = "size";
pub(super) const DURABILITY: &str = "durability";
pub(super) const FILESYSTEM: &str = "filesystem";

/// How many copies there are where an environment asks for more than Eos keeps.
pub(super) fn copies(volume: &Volume) -> Option<&'static str> {
    match volume.durability.value {
        Durability::Redundant => Some("one copy"),
        Durability::Ephemeral | Durability::Persistent => None,
    }
}

/// The snapshot that an attribute is about.
pub(super) fn snapshot_in(attribute: &str) -> Option<&str> {
    attribute.strip_prefix(SNAPSHOT)
}

pub(super) fn summary(volume: &Volume) -> String {
    let (host, name, path) = (&volume.host.value, &volume.name, &volume.path.value);
    let size = human_size(volume.size.value);
    let copies = copies(volume).map_or_else(String::new, |copies| format!(", {copies}"));
    match &volume.lvm {
        None => {
            format!("{host}  volume {name}  directory {path} (size {size} not enforced{copies})")
        }
        Some(lvm) => {
            let (filesystem, group) = (volume.filesystem.value.title(), &lvm.group.value);
            let compressed = lvm.compression.as_ref();
            let compressed = compressed.map_or_else(String::new, |word| format!(" ({})", word.value));
            format!("{host}  volume {name}  {size} {filesystem}{compressed} on {group}, {path}{copies}")
        }
    }
}

pub(super) fn all_attributes(volume: &Volume) -> BTreeMap<String, Attribute> {
    let declared = || volume.declared.clone();
    let mut list = attributes([
        ("host", Attribute::of(&volume.host, volume.host.value.as_str())),
        ("path", Attribute::of(&volume.path, volume.path.value.as_str())),
        (SIZE, Attribute::of(&volume.size, volume.size.value)),
        (
            FILESYSTEM,
            Attribute::of(&volume.filesystem, volume.filesystem.value.word()),
        ),
        (
            DURABILITY,
            Attribute::of(&volume.durability, volume.durability.value.word()),
        ),
        (
            "owner",
            Attribute::new(format!("{}:{}", volume.user, volume.group), declared()),
        ),
        ("mode", Attribute::new(volume.mode.as_str(), declared())),
    ]);
    if let Some(lvm) = &volume.lvm {
        list.extend(lvm_attributes(volume, lvm));
    }
    list
}

fn lvm_attributes(volume: &Volume, lvm: &Lvm) -> BTreeMap<String, Attribute> {
    let declared = || volume.declared.clone();
    let mut list = attributes([
        (
            "volume_group",
            Attribute::of(&lvm.group, lvm.group.value.as_str()),
        ),
        ("devices", Attribute::of(&lvm.devices, lvm.devices.value.clone())),
        ("alert", Attribute::of(&lvm.alert, lvm.alert.value)),
    ]);
    if let Some(compression) = &lvm.compression {
        let word = Attribute::of(compression, compression.value.as_str());
        list.insert("compression".to_owned(), word);
    }
    for (snapshot, room) in &lvm.snapshots {
        list.insert(format!("{SNAPSHOT}{snapshot}"), Attribute::new(*room, declared()));
    }
    if let Some(Restored { snapshot, when }) = &lvm.restored {
        let restored = Attribute::new(format!("{snapshot}, {when}"), declared());
        list.insert(RESTORED.to_owned(), restored);
    }
    if let Some(Converted {
        from,
        when,
        committed,
    }) = &lvm.converted
    {
        let kept = if *committed { "committed" } else { "old one kept" };
        let words = format!("from {}, {when}, {kept}", from.word());
        list.insert(CONVERTED.to_owned(), Attribute::new(words, declared()));
    }
    list
}
