//! Jobs, namespaces and host volumes in Nomad.

use super::{Compared, Difference, JobSeen, Layer, Look, NomadSeen, Object, Verdict, WorkspaceSeen};
use crate::address::NodeKind;
use crate::compose::Key;
use crate::emit::terraform::PLATFORM;
use crate::kinds::{job, namespace};
use crate::lowered::Lowered;
use crate::plan::effects::nomad::changed;
use std::collections::BTreeMap;

pub fn verdicts(look: &Look<'_>) -> Vec<Object> {
    let nomad = match &look.seen.nomad {
        None => return Vec::new(),
        Some(Ok(nomad)) => nomad,
        Some(Err(silent)) => {
            let key = look.platform();
            let mut object = look.object(&key, "engine/nomad", Layer::Nomad, Verdict::Unreachable);
            object.note = Some(silent.words.clone());
            return vec![object];
        }
    };
    let mut objects = Vec::new();
    for key in look.workspace_keys() {
        if key.1 == PLATFORM {
            objects.push(namespace(look, &key, nomad));
            continue;
        }
        if look.component(&key).is_none_or(Lowered::runs) {
            objects.push(job(look, &key, nomad));
        }
        objects.extend(volumes(look, &key, nomad));
    }
    if look.is_whole() {
        objects.extend(unowned(look, nomad));
    }
    objects
}

fn namespace(look: &Look<'_>, key: &Key, nomad: &NomadSeen) -> Object {
    let verdict = match (nomad.namespaces.contains(&key.0), look.recorded.contains_key(key)) {
        (true, _) => Verdict::InStep,
        (false, true) => Verdict::Missing,
        (false, false) => Verdict::PillarAhead,
    };
    look.object(key, namespace::address(&key.0).to_string(), Layer::Nomad, verdict)
}

/// The jobs that are to be read whole: those that moved since Terraform registered them. Where nobody says what Terraform
/// remembers, there are none: all of them would be read, one by one.
pub fn moved(look: &Look<'_>, nomad: &NomadSeen) -> Vec<Key> {
    let Some(workspaces) = workspaces(look) else {
        return Vec::new();
    };
    let mut keys = look.workspace_keys();
    keys.retain(|key| {
        let job = nomad.jobs.get(key).filter(|job| !job.stop);
        let workspace = workspaces.get(&format!("{}/{}", key.0, key.1));
        let remembered = workspace.and_then(|seen| seen.as_ref()?.job_index());
        job.is_some_and(|job| look.baseline(key).is_some() && Some(job.index) != remembered)
    });
    keys
}

fn workspaces<'l>(look: &'l Look<'_>) -> Option<&'l BTreeMap<String, Option<WorkspaceSeen>>> {
    let control = look.seen.control.as_ref()?;
    let inspection = look.seen.minions.get(control)?.as_ref().ok()?;
    inspection.workspaces.as_ref()
}

fn job(look: &Look<'_>, key: &Key, nomad: &NomadSeen) -> Object {
    let of = |verdict| look.object(key, job::address(&key.1).to_string(), Layer::Nomad, verdict);
    let ahead = look.is_ahead(key);
    let Some(job) = nomad.jobs.get(key) else {
        return match look.recorded.contains_key(key) {
            // What the pillar has no longer, and Nomad neither, is as it should be; what is left of it is its workspace.
            true if !look.wanted.workspaces.contains_key(key) => of(Verdict::InStep),
            true if applied(look, key).is_some_and(Lowered::may_be_forgotten) => Object {
                note: Some("it ended, and Nomad has forgotten it since".to_owned()),
                ..of(Verdict::InStep)
            },
            true => of(Verdict::Missing),
            false => of(Verdict::PillarAhead),
        };
    };
    let mut object = differing(look, key, nomad, job).unwrap_or_else(|| match ahead {
        true => of(Verdict::PillarAhead),
        false => of(Verdict::InStep),
    });
    if object.verdict == Verdict::Changed {
        object.since.clone_from(&job.submitted);
    }
    object
}

/// The component as it was last applied.
fn applied<'l>(look: &'l Look<'_>, key: &Key) -> Option<&'l Lowered> {
    look.baseline(key)?.components.get(key)
}

/// What is not as it was applied.
fn differing(look: &Look<'_>, key: &Key, nomad: &NomadSeen, job: &JobSeen) -> Option<Object> {
    let mut object = look.object(
        key,
        job::address(&key.1).to_string(),
        Layer::Nomad,
        Verdict::Changed,
    );
    if job.stop {
        object.attributes = vec![Difference::of("Stop", false, true)];
        return Some(object);
    }
    if workspaces(look).is_none() {
        let wanted = look.baseline(key)?.workspaces.get(key)?.job_digest.as_str();
        let real = job.meta.get("eos_digest").map(String::as_str).unwrap_or_default();
        object.attributes = vec![Difference::of("Meta.eos_digest", wanted, real)];
        return (wanted != real).then_some(object);
    }
    match nomad.compared.get(key)? {
        Ok(compared) => {
            object.attributes = attributes(compared);
            match object.attributes.is_empty() {
                // Registered anew with all as it was: nothing that a person would call a difference.
                true if look.is_ahead(key) => None,
                true => {
                    object.verdict = Verdict::InStep;
                    object.note = Some("registered again, and the same".to_owned());
                    Some(object)
                }
                false => Some(object),
            }
        }
        Err(silent) => {
            object.verdict = Verdict::Unreachable;
            object.note = Some(silent.words.clone());
            Some(object)
        }
    }
}

/// Nomad was asked what the wanted job would change, so that what it finds before is what runs.
fn attributes(compared: &Compared) -> Vec<Difference> {
    let changed = changed(&compared.diff, &compared.real, &compared.wanted);
    changed
        .into_iter()
        .map(|one| Difference {
            name: one.name,
            before: one.after,
            after: one.before,
        })
        .collect()
}

/// Host volumes that a component had registered and Nomad knows no longer. What is in order is said by their hosts.
fn volumes(look: &Look<'_>, key: &Key, nomad: &NomadSeen) -> Vec<Object> {
    let Some(baseline) = look.baseline(key) else {
        return Vec::new();
    };
    let nodes = baseline.nodes(key);
    let component = baseline.components.get(key);
    let volumes = component.into_iter().flat_map(|component| &component.volumes);
    let addresses = nodes.iter().filter(|node| node.address.kind == NodeKind::Volume);
    volumes
        .zip(addresses)
        .filter(|(volume, _)| {
            let name = (key.0.clone(), volume.name.clone());
            let on = nomad.volumes.get(&name);
            !on.is_some_and(|hosts| hosts.contains(&volume.host.value))
        })
        .map(|(_, node)| look.object(key, node.address.to_string(), Layer::Nomad, Verdict::Missing))
        .collect()
}

/// Jobs in the namespace of the environment that no component has.
fn unowned(look: &Look<'_>, nomad: &NomadSeen) -> Vec<Object> {
    let there = nomad
        .jobs
        .iter()
        .filter(|(key, job)| key.0 == look.environment && !job.stop);
    let strange = there.filter(|(key, _)| {
        !look.wanted.workspaces.contains_key(*key)
            && !look.recorded.contains_key(*key)
            && !look.is_held(&key.1)
    });
    strange
        .map(|(key, job)| {
            let mut object = look.object(
                &look.platform(),
                job::address(&key.1).to_string(),
                Layer::Nomad,
                Verdict::Unowned,
            );
            object.since.clone_from(&job.submitted);
            object
        })
        .collect()
}
