//! What Salt made on hosts: directories of volumes, and files of alert rules.

use super::{Difference, Layer, Look, Object, StateRun, Verdict};
use crate::address::Address;
use crate::compose::Key;
use crate::kinds;
use crate::node::{Node, Writer};
use serde_json::Value;

pub fn verdicts(look: &Look<'_>) -> Vec<Object> {
    let mut objects = Vec::new();
    for (minion, answer) in &look.seen.minions {
        let inspection = match answer {
            Ok(inspection) => inspection,
            Err(silent) => {
                objects.push(unreachable(look, minion, &silent.words));
                continue;
            }
        };
        if let Some(trouble) = &inspection.error {
            let words = format!("{}: {}", trouble.layer, trouble.words);
            objects.push(unreachable(look, minion, &words));
        }
        for state in &inspection.states {
            objects.extend(differing(look, minion, state));
        }
    }
    let changed: Vec<String> = objects.iter().map(|object| object.object.clone()).collect();
    objects.extend(in_step(look, &changed));
    objects
}

/// On the control minion it is Terraform's states that are not to be had.
fn unreachable(look: &Look<'_>, minion: &str, words: &str) -> Object {
    let layer = match look.seen.control.as_deref() == Some(minion) {
        true => Layer::Terraform,
        false => Layer::Host,
    };
    let object = format!("minion/{minion}");
    let mut object = look.object(&look.platform(), object, layer, Verdict::Unreachable);
    object.note = words.lines().next().map(str::to_owned);
    object
}

fn differing(look: &Look<'_>, minion: &str, state: &StateRun) -> Option<Object> {
    let mut parts = state.part.splitn(3, '/');
    let key = (parts.next()?.to_owned(), parts.next()?.to_owned());
    if key.0 != look.environment || !look.looks_at(&key.1) {
        return None;
    }
    let address = address(look, &key, state, minion)?;
    let mut object = look.object(&key, address.to_string(), Layer::Host, Verdict::Changed);
    object.place = Some(format!("{minion}:{}", state.name));
    // What was never applied there is the pillar's to say, not a change of somebody's.
    if look.is_ahead(&key) {
        object.verdict = Verdict::PillarAhead;
        return Some(object);
    }
    let (verdict, attributes) = attributes(&state.changes);
    object.verdict = verdict;
    object.attributes = attributes;
    if state.result == Some(false) {
        object.note = Some(state.comment.clone());
    }
    Some(object)
}

/// The node that a state of a minion makes; nothing of a kind that this program does not know.
fn address(look: &Look<'_>, key: &Key, state: &StateRun, minion: &str) -> Option<Address> {
    let is_it = |node: &Node| {
        let kind = kinds::of(node.address.kind).filter(|_| node.address.kind.word() == state.kind);
        let part = kind.and_then(|kind| kind.part(node));
        node.text("host") == Some(minion) && part.as_ref() == Some(&state.part)
    };
    let known = [look.baseline(key), Some(look.wanted)].into_iter().flatten();
    let mut nodes = known.flat_map(|compilation| compilation.nodes(key));
    nodes.find(is_it).map(|node| node.address)
}

/// What Salt would do: `{"/path": {"mode": {"old": "0777", "new": "0750"}}}`.
fn attributes(changes: &Value) -> (Verdict, Vec<Difference>) {
    let mut found = Vec::new();
    let mut is_new = false;
    let flat = changes.as_object().into_iter().flatten();
    for (name, change) in flat {
        match change {
            Value::Object(fields) if name.starts_with('/') => {
                for (field, value) in fields {
                    match (field.as_str(), value.as_str()) {
                        ("directory", Some("new")) => is_new = true,
                        _ => found.push(sides(field, value)),
                    }
                }
            }
            // Of rules: what was there before, and what will be.
            other if other.get("old").is_some_and(Value::is_null) => is_new = true,
            other => found.push(sides(name, other)),
        }
    }
    match is_new {
        true => (Verdict::Missing, Vec::new()),
        false => (Verdict::Changed, found),
    }
}

fn sides(name: &str, value: &Value) -> Difference {
    match (value.get("old"), value.get("new")) {
        (Some(old), Some(new)) => Difference::of(name, new.clone(), old.clone()),
        _ => Difference::named(name),
    }
}

/// Volumes and rules of hosts that answered and had nothing to say of them.
fn in_step(look: &Look<'_>, changed: &[String]) -> Vec<Object> {
    let mut objects = Vec::new();
    for key in look.keys() {
        let Some(baseline) = look.baseline(&key) else {
            continue;
        };
        for node in baseline.nodes(&key) {
            let answered = node
                .text("host")
                .is_some_and(|host| matches!(look.seen.minions.get(host), Some(Ok(_))));
            let address = node.address.to_string();
            if node.writer == Writer::Salt && answered && !changed.contains(&address) {
                objects.push(look.object(&key, address, Layer::Host, Verdict::InStep));
            }
        }
    }
    objects
}
