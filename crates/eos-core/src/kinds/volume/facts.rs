//! What a minion is told of volumes: their slices, the digest that a step names, and the states for people.

use crate::canonical::canonical_digest;
use crate::lowered::{Lowered, Lvm, Volume};
use crate::pillar::{Converted, Restored};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The part of a component's SLS names that is about its volumes.
pub(super) const PIECE: &str = "volumes";

/// Host -> the piece that makes the component's volumes there, and the volumes.
pub fn pieces(component: &Lowered) -> BTreeMap<&str, (String, Vec<&Volume>)> {
    let mut hosts: BTreeMap<&str, (String, Vec<&Volume>)> = BTreeMap::new();
    for volume in &component.volumes {
        hosts.entry(&volume.host.value).or_default().1.push(volume);
    }
    let several = hosts.len() > 1;
    for (host, (piece, _)) in &mut hosts {
        *piece = match several {
            true => format!("{PIECE}-{host}"),
            false => PIECE.to_owned(),
        };
    }
    hosts
}

/// What a step names the component's volumes on one host by: the digest of their slices there.
pub fn digest(component: &Lowered, host: &str) -> String {
    canonical_digest(&Value::Object(slices(component, host)))
}

/// Name -> facts of the component's volumes on one host.
fn slices(component: &Lowered, host: &str) -> Map<String, Value> {
    let there = component
        .volumes
        .iter()
        .filter(|volume| volume.host.value == host);
    let slices = there.map(|volume| (id(component, volume), facts(component, volume)));
    slices.collect()
}

pub(super) fn id(component: &Lowered, volume: &Volume) -> String {
    volume.id(&component.environment, &component.component)
}

/// Salt takes a number in quotes for a name, and finds no such user.
fn account(name: &str) -> Value {
    name.parse::<u32>().map_or_else(|_| name.into(), Value::from)
}

pub(super) fn facts(component: &Lowered, volume: &Volume) -> Value {
    let mut facts = json!({
        "path": volume.path.value,
        "user": volume.user,
        "group": volume.group,
        "mode": volume.mode,
        "durability": volume.durability.value.word(),
        "risk": component.risk,
    });
    if let Some(lvm) = &volume.lvm {
        facts["alert"] = lvm.alert.value.into();
        for (name, value) in storage_facts(volume, lvm) {
            facts[name] = value;
        }
    }
    facts
}

/// What both the slice and the state say of a volume on LVM.
fn storage_facts(volume: &Volume, lvm: &Lvm) -> Vec<(&'static str, Value)> {
    let mut facts = vec![
        ("volume", volume.name.as_str().into()),
        ("volume_group", lvm.group.value.as_str().into()),
        ("devices", json!(lvm.devices.value)),
        ("size", volume.size.value.into()),
        ("filesystem", volume.filesystem.value.word().into()),
    ];
    let compression = lvm.compression.as_ref();
    facts.extend(compression.map(|word| ("compression", word.value.as_str().into())));
    facts.extend(lvm.shrink_from.map(|size| ("shrink_from", size.into())));
    if !lvm.snapshots.is_empty() {
        facts.push(("snapshots", json!(lvm.snapshots)));
    }
    if let Some(Restored { snapshot, when }) = &lvm.restored {
        facts.push(("restore", json!({"snapshot": snapshot, "when": when})));
    }
    if let Some(Converted {
        from,
        when,
        committed,
    }) = &lvm.converted
    {
        let conversion = json!({"from": from.word(), "when": when, "commit": committed});
        facts.push(("conversion", conversion));
    }
    facts
}

pub(super) fn state(component: &Lowered, volume: &Volume) -> Value {
    let owner = [
        json!({"user": account(&volume.user)}),
        json!({"group": account(&volume.group)}),
        json!({"mode": volume.mode}),
    ];
    let mut arguments = vec![json!({"name": volume.path.value})];
    arguments.extend(owner);
    let Some(lvm) = &volume.lvm else {
        arguments.push(json!({"makedirs": true}));
        return json!({"file.directory": arguments});
    };
    arguments.push(json!({"volume_id": id(component, volume)}));
    arguments.extend(
        storage_facts(volume, lvm)
            .into_iter()
            .map(|(name, value)| json!({name: value})),
    );
    json!({"eos_storage.mounted": arguments})
}
