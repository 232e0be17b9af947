//! YAML as Eos reads and writes it: one document as a tree of values, each with its place in the file.
//!
//! Only what Salt's YAML loader and YAML 1.2 read alike is accepted, so that a file means the same to both.

mod parse;
mod print;
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the test asks Salt itself"
)]
mod salt_agreement;
mod scalar;
#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "a test takes the time of reading")]
mod tests;
mod text;

pub use parse::parse;
pub(crate) use print::{block, check, inline, is_inline, shown};
pub use print::{print, quote};
pub(crate) use text::gap;

use crate::diagnostic::Position;
use std::collections::HashMap;
use std::ops::Range;

/// Nesting deeper than this is refused when read.
pub const DEPTH_LIMIT: usize = 64;
/// A document with more values and keys than this is refused when read.
pub const NODE_LIMIT: usize = 1_000_000;
/// A key with its quotes is at most so many bytes long: Salt's loader looks no further for the colon.
pub const KEY_LIMIT: usize = 1000;

/// What a node says. Maps compare without regard to the order of their keys.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A value and where it stands. Nodes compare by value: the place is not part of it.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    /// Where the value begins. A value that is left out (`key:`) is placed behind its colon.
    pub at: Position,
    /// The bytes of the value in the file, without the comments and line break after it.
    pub span: Range<usize>,
    pub(crate) style: Style,
}

/// One key of a map with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub key_at: Position,
    /// The bytes of the key in the file, with its quotes.
    pub key_span: Range<usize>,
    pub value: Node,
}

/// How a node is written in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// On lines of its own, told by indentation: block maps, block lists, `|` and `>` text.
    Block,
    /// In brackets or braces, in quotes, or plain.
    Flow,
}

impl Value {
    /// A map of keys and values in the given order.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| Entry::made(key, value))
                .collect(),
        )
    }

    pub fn list(values: impl IntoIterator<Item = Value>) -> Self {
        Value::List(values.into_iter().map(Node::made).collect())
    }

    /// The kind in words, with its article: for messages.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::String(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::String(value) => value.as_str().into(),
            Value::List(nodes) => nodes.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()));
                serde_json::Value::Object(entries.collect())
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Integer(value)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Integer(one), Value::Integer(other)) => one == other,
            (Value::Float(one), Value::Float(other)) => one == other,
            (Value::String(one), Value::String(other)) => one == other,
            (Value::List(one), Value::List(other)) => one == other,
            (Value::Map(one), Value::Map(other)) => {
                let other_by_key: HashMap<&str, &Node> = other
                    .iter()
                    .map(|entry| (entry.key.as_str(), &entry.value))
                    .collect();
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|entry| other_by_key.get(entry.key.as_str()) == Some(&&entry.value))
            }
            _ => false,
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Node {
    /// A node that was made rather than read: it has no place in a file.
    pub fn made(value: Value) -> Self {
        Self {
            value,
            at: Position { line: 1, column: 1 },
            span: 0..0,
            style: Style::Flow,
        }
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, if this is a map that has it: for the place of the key itself.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }

    /// Follows keys through nested maps.
    pub fn path(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// The kind in words, with its article: for messages.
    pub fn kind_name(&self) -> &'static str {
        self.value.kind_name()
    }

    pub fn to_json(&self) -> serde_json::Value {
        self.value.to_json()
    }
}

impl Entry {
    /// An entry that was made rather than read: it has no place in a file.
    pub fn made(key: impl Into<String>, value: Value) -> Self {
        let value = Node::made(value);
        Self {
            key: key.into(),
            key_at: value.at,
            key_span: 0..0,
            value,
        }
    }
}
