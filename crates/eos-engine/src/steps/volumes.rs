//! Volumes as steps: made, kept or removed by Salt, then read back from the host itself.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::lowered::Volume;
use eos_core::option::human_size;
use eos_core::plan::Step;
use serde::Serialize;
use serde_json::{Value, json};

use super::{CALL, Context, Verified, plural, run_step};
use crate::error::{EngineError, ErrorKind, Layer};

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
    let on_lvm = component.into_iter().flat_map(|component| &component.volumes);
    let mut words = Vec::new();
    for volume in on_lvm.filter(|volume| volume.host.value == minion && volume.lvm.is_some()) {
        words.push(mounted(volume, seen.get(&volume.path.value))?);
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
fn mounted(volume: &Volume, seen: Option<&Value>) -> Result<String, EngineError> {
    let mounted = seen.and_then(|seen| seen.get("mounted")).unwrap_or(&Value::Null);
    let text = |key: &str| mounted.get(key).and_then(Value::as_str).unwrap_or("none");
    let size = mounted.get("size").and_then(Value::as_u64).unwrap_or_default();
    let Some(lvm) = &volume.lvm else {
        return Ok(String::new());
    };
    let snapshots: BTreeSet<&str> = mounted
        .get("snapshots")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let wanted = (
        volume.name.as_str(),
        lvm.group.value.as_str(),
        volume.filesystem.value.word(),
    );
    let missing = lvm
        .snapshots
        .keys()
        .find(|name| !snapshots.contains(name.as_str()));
    let strange = snapshots.iter().find(|name| !lvm.snapshots.contains_key(**name));
    let is_committed = lvm
        .converted
        .as_ref()
        .is_some_and(|converted| converted.committed);
    let is_kept = is_committed && mounted.get("old") == Some(&Value::Bool(true));
    let there = (text("volume"), text("volume_group"), text("filesystem"));
    let wrong = match (mounted.is_null(), missing) {
        (true, _) => Some(format!("nothing is mounted at {}", volume.path.value)),
        _ if there != wanted => {
            let (name, group, filesystem) = there;
            Some(format!("{name} of {group} is mounted, with {filesystem}"))
        }
        _ if size < volume.size.value => Some(format!("it has {}", human_size(size))),
        (_, Some(snapshot)) => Some(format!("snapshot {snapshot} is not there")),
        _ if strange.is_some() => strange.map(|name| format!("snapshot {name} is still there")),
        _ if is_kept => Some("what it was before its conversion is still there".to_owned()),
        _ => None,
    };
    match wrong {
        Some(why) => Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            format!("volume {} on {}", volume.name, volume.host.value),
            format!("Salt reported success, but {why}"),
        )),
        None => Ok(format!(
            "{} {} mounted",
            human_size(size),
            volume.filesystem.value.title()
        )),
    }
}

/// What the pillar names no longer is left as it was.
pub(super) async fn verify_kept(
    context: &Context<'_>,
    minion: &str,
    paths: &[String],
) -> Result<Verified, EngineError> {
    let seen = observe_volumes(context, minion, paths).await?;
    let words = paths.iter().map(|path| match exists(&seen, path) {
        Some(true) => format!("{path} is left as it was"),
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
        words: format!("{minion}: {count} with all data gone, read back"),
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
        .call(minion, "eos.observe", json!({"volumes": paths}), CALL)
        .await?;
    Ok(seen.get_mut("volumes").map(Value::take).unwrap_or_default())
}

fn exists(seen: &Value, path: &str) -> Option<bool> {
    seen.get(path)?.get("exists")?.as_bool()
}
