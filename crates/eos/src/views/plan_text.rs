//! A plan as a person reads it: the summary first, then what cannot be taken back, then one row a change, by layer.

use super::text::{hang, printable};
use anstyle::{AnsiColor, Style};
use eos_core::node::Layer;
use eos_core::option::human_size;
use eos_core::plan::{Action, AttributeChange, Change, Plan};
use serde_json::Value;
use std::fmt::Write;

pub const GREEN: Style = AnsiColor::Green.on_default();
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
pub const RED: Style = AnsiColor::Red.on_default();
pub const BOLD: Style = Style::new().bold();

pub fn plan_text(plan: &Plan, columns: usize) -> String {
    let mut text = String::new();
    let counts = [Action::Create, Action::Change, Action::Delete].map(|action| plan.count(action));
    let [create, change, delete] = counts;
    let summary = format!(
        "{}: {create} to create, {change} to change, {delete} to delete",
        subject(plan)
    );
    for line in hang("", &summary, columns).lines() {
        let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
    }
    text.push_str(&no_return(plan, columns));
    if !plan.observed {
        text.push_str(&hang(
            "",
            "made without the engines: a preview, which cannot be applied",
            columns,
        ));
    }
    text.push('\n');
    let width = Layer::ALL
        .iter()
        .map(|layer| layer.name().len())
        .max()
        .unwrap_or(0);
    for file in plan.pillar.keys() {
        row(&mut text, "pillar", width, Action::Change, file, columns);
    }
    for layer in Layer::ALL {
        let mut name = layer.name();
        for change in plan.changes.iter().filter(|change| change.layer == layer) {
            row(&mut text, name, width, change.action, &words(change), columns);
            name = "";
            if change.action == Action::Change {
                attributes(&mut text, change, width, columns);
            }
        }
    }
    text
}

/// `grafana in production`, or as many components as there are; a host is in no environment.
pub fn subject(plan: &Plan) -> String {
    if let Some(host) = plan.host() {
        return format!("host {host}");
    }
    match plan.components.as_slice() {
        [] => plan.environment.clone(),
        names if names.len() <= 3 => format!("{} in {}", names.join(", "), plan.environment),
        names => format!("{} components in {}", names.len(), plan.environment),
    }
}

fn no_return(plan: &Plan, columns: usize) -> String {
    let points: Vec<String> = plan
        .points_of_no_return()
        .map(|change| match &change.note {
            Some(note) => format!("{} ({note})", change.address),
            None => change.address.clone(),
        })
        .collect();
    match points.as_slice() {
        [] => hang("", "no point of no return", columns),
        [point] => hang("! ", &format!("point of no return: {point}"), columns),
        points => hang(
            "! ",
            &format!("{} points of no return: {}", points.len(), points.join(", ")),
            columns,
        ),
    }
}

fn row(text: &mut String, layer: &str, width: usize, action: Action, words: &str, columns: usize) {
    let (glyph, style) = match action {
        Action::Create => ('+', GREEN),
        Action::Change => ('~', YELLOW),
        Action::Delete => ('-', RED),
    };
    let first = format!("  {layer:<width$}  {glyph} ");
    let lines = hang(&first, words, columns);
    // The glyph is the only thing coloured; it stands once, at the end of the prefix.
    text.push_str(&lines.replacen(&first, &format!("  {layer:<width$}  {style}{glyph}{style:#} "), 1));
}

fn words(change: &Change) -> String {
    let summary = printable(&change.summary);
    match &change.note {
        Some(note) => format!("{summary} ({note})"),
        None => summary,
    }
}

fn attributes(text: &mut String, change: &Change, width: usize, columns: usize) {
    for attribute in &change.attributes {
        let first = " ".repeat(width + 8);
        text.push_str(&hang(&first, &attribute_words(attribute), columns));
    }
}

/// `count 1 -> 3 (option replicas, pillar/infrastructure/production.sls:5)`
fn attribute_words(attribute: &AttributeChange) -> String {
    let name = attribute.name.strip_prefix("group.").unwrap_or(&attribute.name);
    let value = |value: &Option<Value>| match value {
        Some(value) => attribute_value(&attribute.name, value),
        None => "nothing".to_owned(),
    };
    let from = attribute
        .from
        .as_ref()
        .map_or_else(String::new, |from| format!(" ({from})"));
    format!(
        "{name} {} -> {}{from}",
        value(&attribute.before),
        value(&attribute.after)
    )
}

/// The value of an attribute with its unit.
pub fn attribute_value(name: &str, value: &Value) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    match (last, value.as_u64()) {
        ("size", Some(bytes)) => human_size(bytes),
        ("memory", Some(mebibytes)) => human_size(mebibytes << 20),
        ("cpu", Some(megahertz)) => format!("{megahertz} MHz"),
        _ => value_words(value),
    }
}

pub fn value_words(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Array(items) => items.iter().map(value_words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
