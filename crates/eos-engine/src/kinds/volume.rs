//! Volumes: made, kept or removed by Salt, then read back from the host itself.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::kinds::volume::{Kept, Made, Standing, Unmade, Which};
use eos_core::lowered::{Lvm, Volume, instance_name};
use eos_core::option::human_size;
use eos_core::plan::Step;
use serde_json::Value;

use crate::error::{EngineError, ErrorKind, Layer};
use crate::steps::{Context, Progress, Verified, plural, run_step};
use crate::storage::{exists, mounted, seen_at};

/// Less than this of a volume may be too little for its filesystem to take.
const FILESYSTEM_SLACK: u64 = 4 << 20;

pub(super) async fn make(
    context: &Context<'_>,
    step: &Step,
    made: &Made,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let Made { minion, paths, .. } = made;
    run_step(context, step, progress).await?;
    let seen = seen_at(context.engines, minion, paths).await?;
    for path in paths {
        if !exists(&seen, path) {
            let words = format!("Salt reported success, but {path} is not there");
            return Err(failed(&format!("volume on {minion}"), words));
        }
    }
    let component = context.compilation.component(&step.environment, &step.component);
    let volumes = component.into_iter().flat_map(|component| &component.volumes);
    let mut words = Vec::new();
    for volume in volumes.filter(|volume| volume.host.value == *minion) {
        let seen = seen.get(&volume.path.value).unwrap_or(&Value::Null);
        let other = volume.lvm.as_ref().and_then(|lvm| misfit(volume, lvm, seen));
        if let Some(why) = other.or_else(|| other_owner(volume, seen)) {
            let object = format!("volume {} on {minion}", volume.name);
            return Err(failed(&object, format!("Salt reported success, but {why}")));
        }
        if volume.lvm.is_some() {
            let size = seen.get("mounted").map_or(0, |mounted| number(mounted, "size"));
            let filesystem = volume.filesystem.value.title();
            words.push(format!("{} {filesystem} mounted", human_size(size)));
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
    Ok(Verified::new(words, seen))
}

/// In what the owner or the mode of a volume's directory is not the wanted one. A host tells both by number and by name.
fn other_owner(volume: &Volume, seen: &Value) -> Option<String> {
    let text = |key: &str| seen.get(key).and_then(Value::as_str).unwrap_or_default();
    let (user_name, group_name) = text("names").split_once(':').unwrap_or_default();
    let is = |wanted: &str, number: &str, name: &str| match wanted.parse::<u32>() {
        Ok(_) => wanted == number,
        Err(_) => wanted == name,
    };
    let octal = |mode: &str| u32::from_str_radix(mode, 8).ok();
    let (user, group, mode) = (text("user"), text("group"), text("mode"));
    let fits = is(&volume.user, user, user_name)
        && is(&volume.group, group, group_name)
        && octal(mode).is_some_and(|mode| octal(&volume.mode) == Some(mode));
    (!fits).then(|| format!("{} belongs to {user}:{group} with mode {mode}", volume.path.value))
}

/// In what the volume that its host tells of is not the wanted one.
fn misfit(volume: &Volume, lvm: &Lvm, seen: &Value) -> Option<String> {
    let mounted = seen.get("mounted").unwrap_or(&Value::Null);
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
    let restored = mounted.get("restored").and_then(Value::as_str);
    if let Some(wanted) = &lvm.restored
        && restored != Some(&wanted.when)
    {
        return Some(format!("snapshot {} is not restored", wanted.snapshot));
    }
    let kind = |compression: &str| compression.split(':').next().map(str::to_owned);
    let wanted = lvm.compression.as_ref().and_then(|wanted| kind(&wanted.value));
    let found = mounted.get("compression").and_then(Value::as_str);
    if wanted.as_deref() != found {
        return Some(format!("it has compression {}", found.unwrap_or("none")));
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

/// What the pillar names no longer is left as it was: all that was there when it was planned.
pub(super) async fn prove_kept(context: &Context<'_>, proof: &Kept) -> Result<Verified, EngineError> {
    let Kept { minion, paths, there } = proof;
    let seen = seen_at(context.engines, minion, paths).await?;
    let words = kept(paths, there, &seen).map_err(|why| failed(&format!("volume on {minion}"), why))?;
    let words = format!("{minion}: {words}");
    Ok(Verified::new(words, seen))
}

fn kept(paths: &[String], there: &Standing, seen: &Value) -> Result<String, String> {
    let said = paths.iter().map(|path| match there.get(path) {
        None => Ok(format!("{path} was gone already")),
        Some(_) if !exists(seen, path) => Err(format!("{path} was there before, and is gone")),
        Some(uuid) if *uuid != mounted(seen, path) => {
            Err(format!("{path} had another filesystem mounted before"))
        }
        Some(_) => Ok(format!("{path} stays as it was")),
    });
    Ok(said.collect::<Result<Vec<_>, _>>()?.join(", "))
}

fn failed(object: &str, words: String) -> EngineError {
    EngineError::new(Layer::Salt, ErrorKind::Failed, object, words)
}

pub(super) async fn unmake(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match unmade.which {
        Which::WithData(_) => remove(context, step, unmade, progress).await,
        Which::IfEmpty {} => remove_unused(context, step, unmade, progress).await,
    }
}

async fn remove(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let Unmade { minion, volumes, .. } = unmade;
    run_step(context, step, progress).await?;
    let paths: Vec<&String> = volumes.values().collect();
    let seen = seen_at(context.engines, minion, &paths).await?;
    if let Some((name, path)) = volumes.iter().find(|(_, path)| exists(&seen, path)) {
        let words = format!("Salt reported success, but {path} is still there");
        return Err(failed(&format!("volume {name} on {minion}"), words));
    }
    unregistered(context, step, minion, volumes).await?;
    let count = plural(volumes.len(), "volume", "volumes");
    let words = format!("{minion}: {count} gone with all data, read back");
    Ok(Verified::new(words, seen))
}

/// Another minion can answer in the name of this one; Nomad says whether tasks could still be given the volumes there.
async fn unregistered(
    context: &Context<'_>,
    step: &Step,
    minion: &str,
    volumes: &BTreeMap<String, String>,
) -> Result<(), EngineError> {
    let nomad = &context.engines.nomad;
    let nodes = nomad.nodes().await?;
    let node = nodes.iter().find(|node| node.name == minion).map(|node| &node.id);
    let instance = instance_name(&step.environment, &step.component);
    let needs = volumes.keys().filter_map(|name| name.rsplit('/').next());
    let names: BTreeSet<String> = needs.map(|need| format!("{instance}-{need}")).collect();
    // Its namespace may be gone with its last component.
    let registered = nomad.volumes("*").await?;
    let left = registered.iter().find(|one| {
        one.namespace == step.environment && Some(&one.node_id) == node && names.contains(&one.name)
    });
    left.map_or(Ok(()), |one| {
        let object = format!("volume {} on {minion}", one.name);
        let words = "Salt reported success, but it is still registered";
        Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words))
    })
}

/// What is not empty was used after all, and is kept and named.
async fn remove_unused(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let Unmade { minion, volumes, .. } = unmade;
    let record = run_step(context, step, progress).await?;
    let paths: Vec<&String> = volumes.values().collect();
    let seen = seen_at(context.engines, minion, &paths).await?;
    let (kept, gone): (Vec<_>, Vec<_>) = volumes.iter().partition(|(_, path)| exists(&seen, path));
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
    Ok(Verified::new(words, seen))
}

#[cfg(test)]
mod tests {
    use eos_core::catalog::Catalog;
    use eos_core::compile::{Compilation, compile};
    use eos_core::pillar::{Pillar, PillarFiles};
    use eos_core::profile::Profile;

    use serde_json::json;

    use super::*;

    const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 10.0.0.1, roles: [client, control]}\n";
    const MIB: u64 = 1 << 20;

    /// What is said of a volume of 399 MiB, with these further settings, when its host tells this of it.
    fn said(settings: &str, told: Value) -> Option<String> {
        let compiled = compiled(settings);
        let volume = &compiled.component("production", "files").unwrap().volumes[0];
        let mut all = json!({
            "volume": "files", "volume_group": "vg", "filesystem": "ext4", "snapshots": [], "old": false,
            "size": 400 * MIB, "filesystem_size": 400 * MIB, "extent": 4 * MIB,
        });
        match (all.as_object_mut(), told) {
            (Some(all), Value::Object(told)) => all.extend(told),
            (_, told) => all = told,
        }
        let seen = json!({"mounted": all});
        misfit(volume, volume.lvm.as_ref().unwrap(), &seen)
    }

    /// An estate with one volume of 399 MiB, with these further settings.
    fn compiled(settings: &str) -> Compilation {
        let production = format!(
            "#!yaml\nvolumes:\n  files: {{host: control, volume_group: vg, size: 399M, filesystem: ext4{settings}}}\n"
        );
        let file = |name: &str, text: &str| (format!("pillar/infrastructure/{name}.sls"), text.into());
        let files: PillarFiles = [file("common", COMMON), file("production", &production)].into();
        let pillar = Pillar::read(&files).unwrap();
        compile(&pillar, &Catalog::load(&[]).unwrap(), Profile::Solo).unwrap()
    }

    #[test]
    fn an_owner_or_a_mode_that_its_host_tells_otherwise_is_not_taken_for_done() {
        let compiled = compiled(", owner: \"472:www-data\", mode: \"0750\"");
        let volume = &compiled.component("production", "files").unwrap().volumes[0];
        let wanted =
            json!({"exists": true, "user": "472", "group": "33", "mode": "0750", "names": "472:www-data"});
        assert_eq!(other_owner(volume, &wanted), None);
        for (key, told) in [
            ("user", "0"),
            ("names", "472:other"),
            ("mode", "0755"),
            ("mode", ""),
        ] {
            let mut seen = wanted.clone();
            seen[key] = told.into();
            assert!(other_owner(volume, &seen).is_some(), "{key} {told}");
        }
        assert!(other_owner(volume, &Value::Null).is_some());
    }

    #[test]
    fn what_was_there_and_is_gone_was_not_kept() {
        let path = "/srv/files".to_owned();
        let paths = [path.clone()];
        let seen = |exists: bool, uuid: Value| json!({"/srv/files": {"exists": exists, "mounted": uuid}});
        let volume = json!({"uuid": "one"});
        let on_lvm = Standing::from([(path.clone(), Some("one".to_owned()))]);
        let directory = Standing::from([(path, None)]);
        assert!(kept(&paths, &on_lvm, &seen(true, volume.clone())).is_ok());
        assert!(kept(&paths, &on_lvm, &seen(false, Value::Null)).is_err());
        assert!(
            kept(&paths, &on_lvm, &seen(true, Value::Null)).is_err(),
            "its mount point alone is not it"
        );
        assert!(kept(&paths, &on_lvm, &seen(true, json!({"uuid": "two"}))).is_err());
        assert!(kept(&paths, &directory, &seen(true, Value::Null)).is_ok());
        assert!(kept(&paths, &directory, &json!({})).is_err());
        let gone = kept(&paths, &Standing::new(), &seen(false, Value::Null)).unwrap();
        assert_eq!(gone, "/srv/files was gone already");
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
                ", restored: {snapshot: before, when: \"2026-11-17T01:00:00Z\"}",
                json!({"restored": "2026-11-16T01:00:00Z"}),
                Some("snapshot before is not restored"),
            ),
            (
                ", restored: {snapshot: before, when: \"2026-11-17T01:00:00Z\"}",
                json!({"restored": "2026-11-17T01:00:00Z"}),
                None,
            ),
            (
                "",
                json!({"compression": "zstd"}),
                Some("it has compression zstd"),
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
