//! What Salt says: the results of its own test run, read into effects on directories and files of a minion.

use super::{Effect, EffectAttribute, Engine, Of};
use crate::plan::Action;
use serde_json::Value;

/// What a test run on a minion would change; a result of null is Salt's word for that.
pub fn effects(of: Of<'_>, minion: &str, answer: &Value) -> Vec<Effect> {
    let states = answer["states"].as_array().into_iter().flatten();
    let would = states.filter(|state| state["result"].is_null());
    let changes = would.flat_map(|state| state["changes"].as_object().into_iter().flatten());
    changes
        .filter(|(path, _)| path.starts_with('/'))
        .map(|(path, change)| effect(of, minion, path, change))
        .collect()
}

fn effect(of: Of<'_>, minion: &str, path: &str, change: &Value) -> Effect {
    let kinds = ["directory", "file"].map(|kind| (kind, change.get(kind).and_then(Value::as_str)));
    let (kind, action) = match kinds {
        [(kind, Some(word)), _] | [_, (kind, Some(word))] => (
            kind,
            match word {
                "new" => Action::Create,
                "removed" | "absent" => Action::Delete,
                _ => Action::Change,
            },
        ),
        // Of a directory that is there Salt names what becomes of it, and nothing else.
        _ => ("directory", Action::Change),
    };
    let named = ["user", "group", "mode"].into_iter().filter_map(|name| {
        let after = change.get(name)?;
        Some(EffectAttribute::new(name, None, Some(after.clone())))
    });
    let attributes = named.collect();
    of.effect(
        Engine::Salt,
        format!("salt/{kind}/{minion}:{path}"),
        action,
        attributes,
    )
}
