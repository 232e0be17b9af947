//! Volumes as steps: made, kept or removed by Salt, then read back from the host itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::lowered::{Lvm, Volume};
use eos_core::option::human_size;
use eos_core::plan::Step;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Context, Verified, plural, run_step};
use crate::error::{EngineError, ErrorKind, Layer};

/// A host whose disks are all at work takes its time to tell of them.
const OBSERVE: Duration = Duration::from_secs(60);
/// Less than this of a volume may be too little for its filesystem to take.
const FILESYSTEM_SLACK: u64 = 4 << 20;

pub(super) async fn make(
    context: &Context<'_>,
    step: &Step,
    minion: &str,
    paths: &[String],
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    run_step(context, step, progress).await?;
    let seen = observe_volumes(context, minion, paths).await?;
    for path in paths {
        if exists(&seen, path) != Some(true) {
            let words = format!("Salt reported success, but {path} is not there");
            return Err(EngineError::new(
                Layer::Salt,
                ErrorKind::Failed,
                format!("volume on {minion}"),
                words,
            ));
        }
    }
    let component = context.compilation.component(&step.environment, &step.component);
    let volumes = component.into_iter().flat_map(|component| &component.volumes);
    let mut words = Vec::new();
    for volume in volumes.filter(|volume| volume.host.value == minion) {
        if let Some(lvm) = &volume.lvm {
            words.push(mounted(volume, lvm, seen.get(&volume.path.value))?);
        }
    }
    let directories = paths.len() - words.len();
    if directories > 0 {
        words.push(format!(
            "{} there",
            plural(directories, "directory", "directories")
        ));
    }
    let words = format!("{minion}: {}, read back", words.join(", "));
    Ok(Verified { words, seen })
}

/// What is mounted is the wanted volume, as large and with the filesystem that was asked for; else what it is.
fn mounted(volume: &Volume, lvm: &Lvm, seen: Option<&Value>) -> Result<String, EngineError> {
    let mounted = seen.and_then(|seen| seen.get("mounted")).unwrap_or(&Value::Null);
    if let Some(why) = misfit(volume, lvm, mounted) {
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            format!("volume {} on {}", volume.name, volume.host.value),
            format!("Salt reported success, but {why}"),
        ));
    }
    let (size, filesystem) = (number(mounted, "size"), volume.filesystem.value.title());
    Ok(format!("{} {filesystem} mounted", human_size(size)))
}

/// In what the volume that its host tells of is not the wanted one.
fn misfit(volume: &Volume, lvm: &Lvm, mounted: &Value) -> Option<String> {
    if mounted.is_null() {
        return Some(format!("nothing is mounted at {}", volume.path.value));
    }
    let text = |key: &str| mounted.get(key).and_then(Value::as_str).unwrap_or("none");
    let (name, group, filesystem) = (text("volume"), text("volume_group"), text("filesystem"));
    if (name, group, filesystem) != (&volume.name, &lvm.group.value, volume.filesystem.value.word()) {
        return Some(format!("{name} of {group} is mounted, with {filesystem}"));
    }
    let (size, filled) = (number(mounted, "size"), number(mounted, "filesystem_size"));
    let in_extents = |size: u64| size.next_multiple_of(number(mounted, "extent").max(1));
    let shrinks = lvm.shrink_from.is_some_and(|before| size <= in_extents(before));
    if size < volume.size.value || shrinks && size > in_extents(volume.size.value) {
        return Some(format!("it has {}", human_size(size)));
    }
    if filled + FILESYSTEM_SLACK < volume.size.value {
        return Some(format!("its filesystem has {}", human_size(filled)));
    }
    let snapshots = mounted.get("snapshots").and_then(Value::as_array);
    let snapshots: BTreeSet<&str> = snapshots
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(name) = lvm
        .snapshots
        .keys()
        .find(|name| !snapshots.contains(name.as_str()))
    {
        return Some(format!("snapshot {name} is not there"));
    }
    if let Some(name) = snapshots.iter().find(|name| !lvm.snapshots.contains_key(**name)) {
        return Some(format!("snapshot {name} is still there"));
    }
    let is_committed = lvm
        .converted
        .as_ref()
        .is_some_and(|converted| converted.committed);
    (is_committed && mounted.get("old") == Some(&Value::Bool(true)))
        .then(|| "the old volume of its conversion is still there".to_owned())
}

fn number(mounted: &Value, key: &str) -> u64 {
    mounted.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// What the pillar names no longer is left as it was.
pub(super) async fn verify_kept(
    context: &Context<'_>,
    minion: &str,
    paths: &[String],
) -> Result<Verified, EngineError> {
    let seen = observe_volumes(context, minion, paths).await?;
    let words = paths.iter().map(|path| match exists(&seen, path) {
        Some(true) => format!("{path} stays as it was"),
        _ => format!("{path} was gone already"),
    });
    let words = format!("{minion}: {}", words.collect::<Vec<_>>().join(", "));
    Ok(Verified { words, seen })
}

pub(super) async fn remove(
    context: &Context<'_>,
    step: &Step,
    minion: &str,
    volumes: &BTreeMap<String, String>,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    run_step(context, step, progress).await?;
    let paths: Vec<&String> = volumes.values().collect();
    let seen = observe_volumes(context, minion, &paths).await?;
    if let Some((name, path)) = volumes
        .iter()
        .find(|(_, path)| exists(&seen, path) != Some(false))
    {
        let words = format!("Salt reported success, but {path} is still there");
        let object = format!("volume {name} on {minion}");
        return Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words));
    }
    let count = plural(volumes.len(), "volume", "volumes");
    Ok(Verified {
        words: format!("{minion}: {count} gone with all data, read back"),
        seen,
    })
}

/// What is not empty was used after all, and is kept and named.
pub(super) async fn remove_unused(
    context: &Context<'_>,
    step: &Step,
    minion: &str,
    volumes: &BTreeMap<String, String>,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let paths: Vec<&String> = volumes.values().collect();
    let seen = observe_volumes(context, minion, &paths).await?;
    let (kept, gone): (Vec<_>, Vec<_>) = volumes
        .iter()
        .partition(|(_, path)| exists(&seen, path) != Some(false));
    let mut words = match gone.len() {
        0 => format!("{minion}: nothing removed"),
        count => format!(
            "{minion}: {} removed, made here and never used",
            plural(count, "volume", "volumes")
        ),
    };
    for (name, path) in kept {
        let why = record.pointer("/result/kept").and_then(|kept| kept.get(name));
        let why = why.and_then(Value::as_str).unwrap_or("it is not empty");
        words.push_str(&format!("; {path} is kept: {why}"));
    }
    Ok(Verified { words, seen })
}

/// Path -> what the minion sees there.
async fn observe_volumes<T: Serialize>(
    context: &Context<'_>,
    minion: &str,
    paths: &[T],
) -> Result<Value, EngineError> {
    let salt = &context.engines.salt;
    let mut seen = salt
        .call(minion, "eos.observe", json!({"volumes": paths}), OBSERVE)
        .await?;
    Ok(seen.get_mut("volumes").map(Value::take).unwrap_or_default())
}

fn exists(seen: &Value, path: &str) -> Option<bool> {
    seen.get(path)?.get("exists")?.as_bool()
}

#[cfg(test)]
mod tests {
    use eos_core::catalog::Catalog;
    use eos_core::compile::compile;
    use eos_core::pillar::{Pillar, PillarFiles};
    use eos_core::profile::Profile;

    use super::*;

    const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n";
    const MIB: u64 = 1 << 20;

    /// What is said of a volume of 399 MiB, with these further settings, when its host tells this of it.
    fn said(settings: &str, told: Value) -> Option<String> {
        let production = format!(
            "#!yaml\nvolumes:\n  files: {{host: control, volume_group: vg, size: 399M, filesystem: ext4{settings}}}\n"
        );
        let file = |name: &str, text: &str| (format!("pillar/infrastructure/{name}.sls"), text.into());
        let files: PillarFiles = [file("common", COMMON), file("production", &production)].into();
        let pillar = Pillar::read(&files).unwrap();
        let compiled = compile(&pillar, &Catalog::load(&[]).unwrap(), Profile::Solo).unwrap();
        let volume = &compiled.component("production", "files").unwrap().volumes[0];
        let mut all = json!({
            "volume": "files", "volume_group": "vg", "filesystem": "ext4", "snapshots": [], "old": false,
            "size": 400 * MIB, "filesystem_size": 400 * MIB, "extent": 4 * MIB,
        });
        match (all.as_object_mut(), told) {
            (Some(all), Value::Object(told)) => all.extend(told),
            (_, told) => all = told,
        }
        misfit(volume, volume.lvm.as_ref().unwrap(), &all)
    }

    #[test]
    fn a_volume_that_its_host_tells_otherwise_is_not_taken_for_done() {
        let cases = [
            ("", json!({}), None),
            ("", Value::Null, Some("nothing is mounted at /srv/files")),
            (
                "",
                json!({"volume": "other"}),
                Some("other of vg is mounted, with ext4"),
            ),
            (
                "",
                json!({"filesystem": "xfs"}),
                Some("files of vg is mounted, with xfs"),
            ),
            ("", json!({"size": 396 * MIB}), Some("it has 396 MiB")),
            (
                "",
                json!({"filesystem_size": 300 * MIB}),
                Some("its filesystem has 300 MiB"),
            ),
            // It was grown by hand, or its growth was taken back.
            ("", json!({"size": 600 * MIB}), None),
            (", shrink_from: 500M", json!({}), None),
            (
                ", shrink_from: 500M",
                json!({"size": 500 * MIB}),
                Some("it has 500 MiB"),
            ),
            (", shrink_from: 500M", json!({"size": 600 * MIB}), None),
            (
                "",
                json!({"snapshots": ["before"]}),
                Some("snapshot before is still there"),
            ),
            (
                ", snapshots: {before: 40M}",
                json!({}),
                Some("snapshot before is not there"),
            ),
            (
                ", snapshots: {before: 40M}",
                json!({"snapshots": ["before"]}),
                None,
            ),
            (
                ", converted: {from: xfs, when: \"2026-11-17T01:00:00Z\", committed: true}",
                json!({"old": true}),
                Some("the old volume of its conversion is still there"),
            ),
        ];
        for (settings, told, why) in cases {
            assert_eq!(said(settings, told.clone()).as_deref(), why, "{settings} {told}");
        }
    }
}
