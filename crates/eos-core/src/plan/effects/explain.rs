//! Which change of a plan an effect belongs to. What no change explains was changed behind Eos.

use super::{Effect, EffectAttribute, nomad};
use crate::address::{Address, NodeKind};
use crate::kinds::{self, job, namespace, rules, secret};
use crate::plan::{Action, Change};
use std::collections::BTreeMap;

/// Where a job keeps the digest of what its instances run with.
const DIGEST: &str = "Meta.eos_digest";

/// Minion and path -> address of what lies there.
pub type Places = BTreeMap<(String, String), Address>;

/// Gives every effect the change that it belongs to, and marks the attributes that none explains.
pub fn explain(effects: &mut [Effect], changes: &[Change], places: &Places) {
    for effect in effects.iter_mut() {
        let own: Vec<&Change> = changes
            .iter()
            .filter(|change| change.environment == effect.environment && change.component == effect.component)
            .collect();
        let change = change_of(effect, &own, places);
        match effect.object.starts_with("nomad/job/") {
            true => explain_job(effect, change, own.first().copied()),
            false => effect.change = change.map(|change| change.address.clone()),
        }
    }
    follow_jobs(effects);
}

/// `own` are the changes of the effect's component.
fn change_of<'a>(effect: &Effect, own: &[&'a Change], places: &Places) -> Option<&'a Change> {
    let find = |address: &Address| own.iter().copied().find(|change| change.address == *address);
    let component = &effect.component;
    let job = || find(&job::address(component));
    let (engine, object) = effect.object.split_once('/')?;
    let (kind, name) = object.split_once('/')?;
    let last = name.rsplit('/').next().unwrap_or(name);
    match (engine, kind) {
        ("nomad", "namespace") => find(&namespace::address(name)),
        ("nomad", "job" | "allocations") => job(),
        ("nomad", "service") | ("consul", "service" | "config") => {
            let service = last.strip_suffix("-sidecar-proxy").unwrap_or(last);
            find(&NodeKind::Service.at(service)).or_else(job)
        }
        ("nomad", "volume") => {
            let on_a_host = format!("{last}@");
            let is_it = |name: &str| name == last || name.starts_with(&on_a_host);
            let mut volumes = own.iter().copied();
            volumes.find(|change| change.address.kind == NodeKind::Volume && is_it(&change.address.name))
        }
        ("nomad", "variable") | ("vault", "secret") => find(&secret::address(component)),
        ("salt", what) => {
            let (minion, path) = name.split_once(':')?;
            match places.get(&(minion.to_owned(), path.to_owned())) {
                Some(address) => find(address),
                // Files of rules have no place of their own in the graph.
                None if what == "file" => find(&rules::address(component)),
                None => None,
            }
        }
        ("terraform", "resource") => find(&kinds::at_terraform(component, name)?).or_else(job),
        ("terraform", _) => job().or_else(|| own.first().copied()),
        _ => None,
    }
}

/// Of a job that is there already, each attribute has to be explained by itself: somebody may have changed another one.
/// Where the plan changes something `other` of its component, what Eos derives from that changes too.
fn explain_job(effect: &mut Effect, change: Option<&Change>, other: Option<&Change>) {
    // The digest of what an instance runs with: it differs where Eos itself registered something else.
    let ours = effect.attributes.iter().any(|one| one.name == DIGEST);
    let Some(change) = change.or(other.filter(|_| ours)) else {
        effect.attributes.iter_mut().for_each(|one| one.behind = true);
        return;
    };
    let is_of_job = change.address.kind == NodeKind::Job;
    // A job that was there when it was last applied, and is to be made, was removed by somebody.
    if is_of_job && change.action == Action::Change && effect.action == Action::Create {
        return;
    }
    if effect.action == Action::Change && (!is_of_job || change.action == Action::Change) {
        for attribute in &mut effect.attributes {
            attribute.behind = !is_explained(attribute, change, ours);
        }
        if effect.attributes.iter().all(|one| one.behind) && !effect.attributes.is_empty() {
            return;
        }
    }
    effect.change = Some(change.address.clone());
}

fn is_explained(attribute: &EffectAttribute, change: &Change, ours: bool) -> bool {
    if attribute.unknown || attribute.name == nomad::SECRET_VERSION {
        return true;
    }
    match node_attribute(&attribute.name) {
        Some((group, name)) => {
            let names = [
                name.clone(),
                format!("group.{name}"),
                format!("group.{group}.{name}"),
            ];
            change.attributes.iter().any(|one| names.contains(&one.name))
        }
        None => ours,
    }
}

/// The attribute of a job's node that a path of its JSON comes from, and its group; none where several decide.
fn node_attribute(path: &str) -> Option<(&str, String)> {
    let parts: Vec<&str> = path.split('.').collect();
    let name = match parts.as_slice() {
        ["Datacenters", ..] => return Some(("", "datacenter".to_owned())),
        ["TaskGroups", _, "Count"] => "count".to_owned(),
        ["TaskGroups", _, "Update", "HealthyDeadline"] => "start".to_owned(),
        ["TaskGroups", _, "Networks", _, _, label, "Value"] => format!("port.{label}"),
        ["TaskGroups", _, "Networks", _, _, label, "To"] => format!("port.{label}.to"),
        ["TaskGroups", group, "Tasks", task, rest @ ..] if group == task => match rest {
            ["KillTimeout"] => "stop".to_owned(),
            ["Resources", "CPU"] => "cpu".to_owned(),
            ["Resources", "MemoryMB"] => "memory".to_owned(),
            ["Config", name @ ("image" | "command")] => (*name).to_owned(),
            ["Config", "args", index] => format!("arg.{index}"),
            ["Env", name @ ..] => format!("env.{}", name.join(".")),
            _ => return None,
        },
        _ => return None,
    };
    Some((parts[1], name))
}

/// Instances and services of a job come and go for the reason for which the job changes.
fn follow_jobs(effects: &mut [Effect]) {
    let jobs: BTreeMap<(String, String), Option<Address>> = effects
        .iter()
        .filter(|effect| effect.object.starts_with("nomad/job/"))
        .map(|effect| (key(effect), effect.change.clone()))
        .collect();
    let follows = |effect: &Effect| {
        let kinds = ["nomad/allocations/", "nomad/service/", "consul/service/"];
        kinds.iter().any(|kind| effect.object.starts_with(kind))
    };
    for effect in effects.iter_mut().filter(|effect| follows(effect)) {
        match jobs.get(&key(effect)) {
            None => {}
            Some(None) => effect.change = None,
            Some(Some(address)) => {
                effect.change.get_or_insert_with(|| address.clone());
            }
        }
    }
}

fn key(effect: &Effect) -> (String, String) {
    (effect.environment.clone(), effect.component.clone())
}
