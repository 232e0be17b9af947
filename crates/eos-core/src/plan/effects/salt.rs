//! What Salt says: the results of its own test run, read into effects on directories and files of a minion.

use super::{Effect, EffectAttribute, Engine, Of};
use crate::plan::Action;
use serde_json::Value;

/// What a test run on a minion would change; a result of null is Salt's word for that.
pub fn effects(of: Of<'_>, minion: &str, answer: &Value) -> Vec<Effect> {
    changes(answer)
        .filter(|(path, _)| path.starts_with('/'))
        .map(|(path, change)| effect(of, minion, path, change))
        .collect()
}

/// What would change among the rules in the directory of a monitor: the component's own, and strays that go on the way.
pub fn rules(of: Of<'_>, minion: &str, directory: &str, answer: &Value) -> Vec<Effect> {
    let mut effects = Vec::new();
    let file = |name: &str, action| {
        let object = format!("salt/file/{minion}:{directory}/{name}");
        of.effect(Engine::Salt, object, action, Vec::new())
    };
    for (what, change) in changes(answer) {
        match what.as_str() {
            "rules" => {
                let action = match change["old"].is_null() {
                    true => Action::Create,
                    false => Action::Change,
                };
                effects.push(file(&format!("{}.json", of.component), action));
            }
            "removed" => {
                let strays = change.as_array().into_iter().flatten().filter_map(Value::as_str);
                effects.extend(strays.map(|name| file(name, Action::Delete)));
            }
            _ => {}
        }
    }
    effects
}

fn changes(answer: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let states = answer["states"].as_array().into_iter().flatten();
    let would = states.filter(|state| state["result"].is_null());
    would.flat_map(|state| state["changes"].as_object().into_iter().flatten())
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
