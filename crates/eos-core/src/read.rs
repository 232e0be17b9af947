//! Reading typed things out of a YAML tree: unknown keys and wrong types become diagnostics, all of them.

use crate::diagnostic::{Diagnostic, Position};
use crate::name::{closest, named};
use crate::yaml::{Entry, Node, Value};

/// Gathers what is wrong while one file is read.
pub struct Reader<'a> {
    pub file: &'a str,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a str) -> Self {
        Self {
            file,
            diagnostics: Vec::new(),
        }
    }

    pub fn report(&mut self, at: Position, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(message).at(self.file, at));
    }

    pub fn report_with_hint(&mut self, at: Position, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::new(message).at(self.file, at).hint(hint));
    }

    /// The entries of a map; anything else is reported.
    pub fn map<'n>(&mut self, what: &str, node: &'n Node) -> &'n [Entry] {
        match node.as_map() {
            Some(entries) => entries,
            None => {
                self.report_with_hint(
                    node.at,
                    format!("{what} must be a map, not {}", node.kind_name()),
                    "Write KEY: VALUE, one a line and indented below it; {} is an empty map",
                );
                &[]
            }
        }
    }

    /// As `map`, and every key must be one of `known`.
    pub fn record<'n>(&mut self, what: &str, node: &'n Node, known: &[&str]) -> &'n [Entry] {
        let entries = self.map(what, node);
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let hint = match closest(&entry.key, known.iter().copied()) {
                    Some(meant) => format!("Did you mean {meant}?"),
                    None => format!("Known keys: {}", known.join(", ")),
                };
                self.report_with_hint(
                    entry.key_at,
                    format!("Unknown key {} in {what}", named(&entry.key)),
                    hint,
                );
            }
        }
        entries
    }

    pub fn text(&mut self, what: &str, node: &Node) -> Option<String> {
        let text = node.as_str().map(str::to_owned);
        if text.is_none() {
            self.report_with_hint(
                node.at,
                format!("{what} must be text, not {}", node.kind_name()),
                "Write one value; put it in quotes to make it text",
            );
        }
        text
    }

    pub fn flag(&mut self, what: &str, node: &Node) -> Option<bool> {
        match node.value {
            Value::Bool(flag) => Some(flag),
            _ => {
                self.report(
                    node.at,
                    format!("{what} must be true or false, not {}", node.kind_name()),
                );
                None
            }
        }
    }

    pub fn whole_number(&mut self, what: &str, node: &Node, low: i64, high: i64) -> Option<i64> {
        match node.as_i64() {
            Some(number) if (low..=high).contains(&number) => Some(number),
            Some(number) => {
                self.report(
                    node.at,
                    format!("{what} must be between {low} and {high}, not {number}"),
                );
                None
            }
            None => {
                self.report(
                    node.at,
                    format!("{what} must be a whole number, not {}", node.kind_name()),
                );
                None
            }
        }
    }

    pub fn texts(&mut self, what: &str, node: &Node) -> Vec<String> {
        match node.as_list() {
            Some(items) => items.iter().filter_map(|item| self.text(what, item)).collect(),
            None => {
                self.report_with_hint(
                    node.at,
                    format!("{what} must be a list, not {}", node.kind_name()),
                    "Write it in brackets, with commas: [one, two]",
                );
                Vec::new()
            }
        }
    }
}

/// The value under `key`, if the map has it.
pub fn find<'n>(entries: &'n [Entry], key: &str) -> Option<&'n Node> {
    entries
        .iter()
        .find(|entry| entry.key == key)
        .map(|entry| &entry.value)
}
