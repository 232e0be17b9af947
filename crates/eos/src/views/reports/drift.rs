//! The report of `eos drift`: how much differs, one row an object, and what to do about it.

use super::plan::value_words;
use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{BOLD, GREEN, RED, YELLOW, age, hang, pad, printable, short_operation, width};
use eos_core::drift::{Difference, Drift, Held, Object, Synced, Verdict};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fmt::Write;

/// With less room beside the object than that, what differs stands below it.
const ROOM: usize = 30;
/// So many attributes of one object are told.
const MOST: usize = 8;
/// A longer value says no more to a person than its beginning.
const LONGEST: usize = 60;

pub struct DriftReport<'a> {
    pub drift: &'a Drift,
    /// With objects that are in step.
    pub all: bool,
}

impl DriftReport<'_> {
    fn shown(&self) -> Vec<&Object> {
        let objects = self.drift.objects.iter();
        objects
            .filter(|object| self.all || object.verdict != Verdict::InStep)
            .collect()
    }
}

impl Report for DriftReport<'_> {
    fn text(&self, page: &mut Page) {
        page.data(drift_text(
            self.drift,
            &self.shown(),
            page.columns(),
            Timestamp::now(),
        ));
        if let Some(next) = next_words(self.drift) {
            page.say(&next);
        }
    }

    fn json(&self) -> Message {
        let drift = self.drift;
        let content = json!({
            "environment": drift.environment, "looked_at": drift.objects.len(), "in_step": drift.is_in_step(),
            "objects": value(&self.shown()), "held": value(&drift.held), "synced": value(&drift.synced),
        });
        Message::Document("drift", content)
    }
}

fn drift_text(drift: &Drift, shown: &[&Object], columns: usize, now: Timestamp) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{BOLD}{}{BOLD:#}", summary(drift));
    let names = shown
        .iter()
        .map(|object| width(&object.object))
        .max()
        .unwrap_or(0);
    for object in shown {
        text.push_str(&row(object, names, columns, now));
    }
    for held in &drift.held {
        text.push_str(&hang("  ", &held_words(held), columns));
    }
    if let Some(synced) = &drift.synced {
        text.push_str(&hang("  ", &synced_words(synced, now), columns));
    }
    text
}

fn summary(drift: &Drift) -> String {
    let all = drift.objects.len();
    let count = |wanted: fn(Verdict) -> bool| drift.objects.iter().filter(|one| wanted(one.verdict)).count();
    let differing = count(|verdict| {
        matches!(
            verdict,
            Verdict::Changed | Verdict::Missing | Verdict::Unowned | Verdict::PillarAhead
        )
    });
    let silent = count(|verdict| verdict == Verdict::Unreachable);
    let environment = &drift.environment;
    let differ = match differing {
        0 => format!("{environment}: {all} objects, all in step"),
        1 => format!("{environment}: 1 of {all} objects differs"),
        count => format!("{environment}: {count} of {all} objects differ"),
    };
    match (differing, silent) {
        (_, 0) => differ,
        (0, silent) => format!("{environment}: no object that answered differs, {silent} did not answer"),
        (_, silent) => format!("{differ}, {silent} did not answer"),
    }
}

fn row(object: &Object, names: usize, columns: usize, now: Timestamp) -> String {
    let (glyph, style) = match object.verdict {
        Verdict::InStep => (' ', GREEN),
        Verdict::PillarAhead | Verdict::Changed => ('~', YELLOW),
        Verdict::Missing => ('-', RED),
        Verdict::Unowned => ('+', YELLOW),
        Verdict::Unreachable => ('?', RED),
    };
    let first = format!("  {glyph} ");
    let name = printable(&object.object);
    let words = words(object, now);
    let row = match names + first.len() + 2 + ROOM <= columns {
        true => hang(&format!("{first}{}  ", pad(&name, names)), &words, columns),
        false => format!("{first}{name}\n{}", hang("      ", &words, columns)),
    };
    row.replacen(&first, &format!("  {style}{glyph}{style:#} "), 1)
}

fn words(object: &Object, now: Timestamp) -> String {
    let place = object.place.as_deref();
    let place = match object.verdict {
        Verdict::InStep | Verdict::PillarAhead | Verdict::Unreachable => String::new(),
        _ => match place {
            Some(place) if place.contains(':') => format!(" on {place}"),
            Some(place) => format!(" in {place}"),
            None => format!(" {}", object.layer.words()),
        },
    };
    let mut words = match object.verdict {
        Verdict::InStep => "in step".to_owned(),
        Verdict::PillarAhead => "pillar ahead, not applied".to_owned(),
        Verdict::Changed => format!("changed{place}"),
        Verdict::Missing => format!("missing{place}"),
        Verdict::Unowned => format!("nobody's{place}"),
        Verdict::Unreachable => "unreachable".to_owned(),
    };
    if let Some(note) = &object.note {
        words.push_str(&format!(": {}", printable(note)));
    }
    let told: Vec<String> = object.attributes.iter().take(MOST).map(attribute_words).collect();
    if !told.is_empty() {
        words.push_str(&format!("  {}", told.join(", ")));
    }
    if object.attributes.len() > MOST {
        words.push_str(&format!(" and {} more", object.attributes.len() - MOST));
    }
    if let Some(since) = object.since.as_ref().and_then(|since| since.parse().ok()) {
        words.push_str(&format!("  {} ago", age(since, now)));
    }
    words
}

/// `TaskGroups.hello.Count 1 -> 5`
fn attribute_words(attribute: &Difference) -> String {
    let name = printable(&attribute.name);
    let is_long = |value: &Option<Value>| {
        let text = value.as_ref().map(value_words).unwrap_or_default();
        text.contains('\n') || width(&text) > LONGEST
    };
    if is_long(&attribute.before) || is_long(&attribute.after) {
        return name;
    }
    let side = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), value_words);
    match (&attribute.before, &attribute.after) {
        (None, None) => name,
        (before, after) => format!("{name} {} -> {}", side(before), side(after)),
    }
}

fn held_words(held: &Held) -> String {
    let operation = short_operation(&held.operation);
    match held.is_at_work {
        true => format!(
            "{} is skipped: operation {operation} is changing it",
            held.component
        ),
        false => format!(
            "{} is skipped: operation {operation} was interrupted: eos resume {operation}",
            held.component
        ),
    }
}

/// What the schedule of the control minion last found, whether or not anybody ran Eos.
fn synced_words(synced: &Synced, now: Timestamp) -> String {
    let others: Vec<&str> = synced
        .workspaces
        .iter()
        .filter(|(_, one)| one.verdict != "in step")
        .map(|(name, _)| name.as_str())
        .collect();
    let when = synced
        .when
        .parse()
        .map_or(synced.when.clone(), |when| format!("{} ago", age(when, now)));
    let all = synced.workspaces.len();
    match others.as_slice() {
        [] => format!("Salt's schedule found {all} workspaces in step, {when}"),
        others => format!(
            "Salt's schedule found {} of {all} workspaces not in step, {when}: {}",
            others.len(),
            others.join(", ")
        ),
    }
}

/// What to do about it, if anything.
fn next_words(drift: &Drift) -> Option<String> {
    let has = |wanted: fn(&Object) -> bool| drift.objects.iter().any(wanted);
    let mut next = Vec::new();
    if has(|object| matches!(object.verdict, Verdict::Changed | Verdict::Missing)) {
        next.push("pillar is right: eos reconcile");
    }
    if has(|object| {
        let is_job = object.is_job() && object.component.is_some();
        is_job && matches!(object.verdict, Verdict::Changed | Verdict::Missing)
    }) {
        next.push("reality is right: eos reconcile --adopt");
    }
    if has(|object| object.verdict == Verdict::PillarAhead) {
        next.push("not applied yet: eos apply");
    }
    if has(|object| object.verdict == Verdict::Unowned) {
        next.push("unmanaged: eos discover");
    }
    if has(|object| object.verdict == Verdict::Unreachable) {
        next.push("unreachable: eos doctor");
    }
    (!next.is_empty()).then(|| next.join("   "))
}
