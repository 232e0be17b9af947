//! Services in the catalogue: Nomad's own, or Consul's with the rules of the mesh.

use super::{ConsulSeen, Difference, Layer, Look, NomadSeen, Object, Verdict};
use crate::compose::Key;
use crate::kinds::job;
use crate::lowered::{Group, Mesh};
use crate::profile::Profile;
use std::collections::BTreeSet;

pub fn verdicts(look: &Look<'_>) -> Vec<Object> {
    // How many instances there should be is how many run.
    let Some(Ok(nomad)) = &look.seen.nomad else {
        return silent_consul(look).into_iter().collect();
    };
    let consul = match &look.seen.consul {
        Some(Err(_)) => return silent_consul(look).into_iter().collect(),
        Some(Ok(consul)) => Some(consul),
        None => None,
    };
    let mut objects = Vec::new();
    for key in look.keys() {
        let Some(component) = look
            .baseline(&key)
            .and_then(|baseline| baseline.components.get(&key))
        else {
            continue;
        };
        for group in component.groups.iter().filter(|group| !group.ports.is_empty()) {
            let place = (key.0.clone(), key.1.clone(), group.name.clone());
            let running = nomad.running.get(&place).copied().unwrap_or_default();
            objects.push(match (component.profile, consul) {
                (Profile::Full, Some(consul)) => in_consul(look, &key, group, running, consul),
                _ => in_nomad(look, &key, group, running, nomad),
            });
            if let Some(consul) = consul {
                objects.extend(intentions(look, &key, group, consul));
            }
        }
    }
    objects
}

fn silent_consul(look: &Look<'_>) -> Option<Object> {
    let Some(Err(silent)) = &look.seen.consul else {
        return None;
    };
    let key = look.platform();
    let mut object = look.object(&key, "engine/consul", Layer::Consul, Verdict::Unreachable);
    object.note = Some(silent.words.clone());
    Some(object)
}

fn in_nomad(look: &Look<'_>, key: &Key, group: &Group, running: u64, nomad: &NomadSeen) -> Object {
    let name = (key.0.clone(), group.service.clone());
    let verdict = match running > 0 && !nomad.services.contains(&name) {
        true => Verdict::Missing,
        false => Verdict::InStep,
    };
    look.object(
        key,
        job::service_address(group).to_string(),
        Layer::Nomad,
        verdict,
    )
}

fn in_consul(look: &Look<'_>, key: &Key, group: &Group, running: u64, consul: &ConsulSeen) -> Object {
    let registered = consul.services.get(&group.service).copied().unwrap_or_default();
    let of = |verdict| {
        look.object(
            key,
            job::service_address(group).to_string(),
            Layer::Consul,
            verdict,
        )
    };
    if registered == running {
        return of(Verdict::InStep);
    }
    let verdict = match registered {
        0 => Verdict::Missing,
        _ => Verdict::Changed,
    };
    let mut object = of(verdict);
    object.attributes = vec![Difference::of("instances", running, registered)];
    object
}

/// Who may call it, where the component says so; a rule for it that the component does not have is somebody's own.
fn intentions(look: &Look<'_>, key: &Key, group: &Group, consul: &ConsulSeen) -> Option<Object> {
    let wanted: Option<&BTreeSet<String>> = group
        .mesh
        .as_ref()
        .filter(|mesh| Mesh::is_called(mesh))
        .map(|mesh| &mesh.callers);
    let real = consul.intentions.get(&group.service);
    let of = |verdict| {
        let object = format!("service-intentions/{}", group.service);
        look.object(key, object, Layer::Consul, verdict)
    };
    let list = |callers: &BTreeSet<String>| callers.iter().cloned().collect::<Vec<_>>();
    Some(match (wanted, real) {
        (None, None) => return None,
        (None, Some(_)) => of(Verdict::Unowned),
        (Some(_), None) => of(Verdict::Missing),
        (Some(wanted), Some(real)) if wanted == real => of(Verdict::InStep),
        (Some(wanted), Some(real)) => {
            let mut object = of(Verdict::Changed);
            object.attributes = vec![Difference::of("callers", list(wanted), list(real))];
            object
        }
    })
}
