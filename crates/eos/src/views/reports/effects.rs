//! What the engines say of a plan, as a person reads it: only what the changes themselves do not tell.

use super::plan::value_words;
use crate::views::text::{hang, printable};
use eos_core::plan::effects::{Effect, EffectAttribute, Engine, Refused, Unasked};
use eos_core::plan::{Action, Change, Plan};
use serde_json::Value;
use std::collections::BTreeMap;

/// What an engine adds to a change, one line for each engine and sentence.
pub fn words_of_engines(plan: &Plan, change: &Change) -> Vec<String> {
    let own = plan.effects.iter().filter(|effect| {
        let place = (&effect.environment, &effect.component);
        place == (&change.environment, &change.component) && effect.change.as_ref() == Some(&change.address)
    });
    let mut lines = Vec::new();
    for effect in own {
        let engine = effect.engine.name();
        let mut say = |words: &str| lines.push(format!("{engine}: {}", printable(words)));
        if let Some(words) = instances(effect, change.action) {
            say(&words);
        }
        if let Some(warning) = &effect.warning {
            say(warning);
        }
        // Which items of a secret are written is what the change itself says.
        for attribute in &effect.attributes {
            if attribute.unknown && effect.engine != Engine::Eos {
                say(&format!(
                    "{} will change; its new value is not known yet",
                    attribute.name
                ));
            }
        }
    }
    lines
}

/// `1 instance starts anew, 2 more`. That what is made starts, and what is deleted stops, goes without saying.
fn instances(effect: &Effect, action: Action) -> Option<String> {
    if action != Action::Change || !effect.object.starts_with("nomad/allocations/") {
        return None;
    }
    let count = |name: &str| {
        let mut all = effect.attributes.iter();
        let found = all.find(|attribute| attribute.name == name);
        found
            .and_then(|attribute| attribute.after.as_ref()?.as_u64())
            .unwrap_or(0)
    };
    let (anew, more, fewer) = (
        count("destructive") + count("migrate"),
        count("place"),
        count("stop"),
    );
    let mut words = Vec::new();
    let one_or_more = |number: u64| if number == 1 { "instance" } else { "instances" };
    match anew {
        0 if more + fewer + count("in_place") > 0 => words.push("no instance restarts".to_owned()),
        0 => {}
        1 => words.push("1 instance restarts".to_owned()),
        number => words.push(format!("{number} instances restart, one after the other")),
    }
    if more > 0 {
        words.push(format!("{more} {} more", one_or_more(more)));
    }
    if fewer > 0 {
        words.push(format!("{fewer} {} fewer", one_or_more(fewer)));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// What is put right on the way, though nothing in the pillar asks for it.
pub fn changed_behind(plan: &Plan, columns: usize) -> String {
    let mut text = String::new();
    for effect in plan.effects.iter().filter(|effect| !follows(effect, plan)) {
        let object = named(effect);
        let engine = effect.engine.name();
        let mut line = |words: &str| {
            let words = format!("changed outside Eos: {object} {words} ({engine})");
            text.push_str(&hang("! ", &printable(&words), columns));
        };
        let mut behind = effect.attributes.iter().filter(|one| one.behind).peekable();
        match (&effect.change, effect.action) {
            (None, Action::Create) => line("is gone; the plan creates it again"),
            (None, Action::Delete) => line("is deleted"),
            (None, Action::Change) if behind.peek().is_none() => line("is corrected"),
            _ => behind.for_each(|attribute| line(&becomes(attribute))),
        }
    }
    text
}

/// `job/hello` rather than `nomad/job/production/hello`: the environment is known.
fn named(effect: &Effect) -> String {
    let job = format!("nomad/job/{}/", effect.environment);
    match effect.object.strip_prefix(&job) {
        Some(name) => format!("job/{name}"),
        None => effect.object.clone(),
    }
}

/// Instances, services and Terraform states change with what they belong to, and are not told of by themselves.
fn follows(effect: &Effect, plan: &Plan) -> bool {
    let kinds = [
        "nomad/allocations/",
        "nomad/service/",
        "consul/service/",
        "terraform/state/",
    ];
    let is_follower = |effect: &Effect| kinds.iter().any(|kind| effect.object.starts_with(kind));
    let leads = |other: &Effect| {
        let same = other.environment == effect.environment && other.component == effect.component;
        same && !is_follower(other)
    };
    is_follower(effect) && (effect.change.is_some() || plan.effects.iter().any(leads))
}

fn becomes(attribute: &EffectAttribute) -> String {
    let value = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), value_words);
    let (name, before) = (&attribute.name, value(&attribute.before));
    match attribute.unknown {
        true => format!("{name} {before} -> not known yet"),
        false => format!("{name} {before} -> {}", value(&attribute.after)),
    }
}

/// What engines refuse, each with its words.
pub fn refused(plan: &Plan, columns: usize) -> String {
    let refused = plan.refused.iter().map(|refused| {
        let Refused {
            engine,
            object,
            words,
            ..
        } = refused;
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = format!("{} refuses {object}: {words}", engine.name());
        hang("! ", &printable(&sentence), columns)
    });
    refused.collect()
}

/// What nobody could say, with why; once for all that have the same reason. That a plan was made without any engine is
/// said elsewhere.
pub fn not_asked(plan: &Plan, columns: usize) -> String {
    let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for Unasked { engine, object, why } in &plan.unasked {
        if *engine != Engine::Engines {
            by_reason.entry((engine.name(), why)).or_default().push(object);
        }
    }
    let mut text = String::new();
    for ((engine, why), objects) in by_reason {
        let words = format!("not previewed: {} ({engine}: {why})", objects.join(", "));
        text.push_str(&hang("? ", &printable(&words), columns));
    }
    text
}
