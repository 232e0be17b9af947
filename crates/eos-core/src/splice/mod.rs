//! Editing a pillar file as text: one entry changes, every other line stays as the person wrote it.
//!
//! The rules:
//!
//! - The file starts with `#!yaml`. Salt renders such a file as YAML and nothing else, so `{{` in quotes is text.
//! - A new key goes to its sorted place if the keys beside it are sorted, else to the end.
//! - Setting a map over a map edits only the keys that differ. Any other value is replaced as a whole; comments
//!   inside it go with it, comments beside its key and between its key and itself stay.
//! - Comment lines directly above a key, indented like it, belong to it: they go when the key is removed, and a new
//!   key is put above them. Comment lines below it that are indented deeper are inside it and go as well. Comment
//!   lines at the very top belong to the file.
//! - Removing the last key of a map leaves `{}`, so the map itself stays and can be filled again.
//! - What is written in braces is edited in braces; an empty `{}` is filled as lines.
//! - The edited text is read again, and given out only if it says what was intended.

mod edit;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Diagnostic, Position};
use crate::yaml::{self, Entry, Node, Value};
use edit::Document;

const TOP: Position = Position { line: 1, column: 1 };

/// Creates or replaces the value at a path of keys; missing parents are created.
pub fn set(file: &str, text: &str, path: &[&str], value: &Value) -> Result<String, Diagnostic> {
    named(file, path)?;
    let root = read(file, text)?;
    yaml::check(&nested(path, value)).map_err(|mut found| {
        found.message = format!("{} cannot be written to {file}: {}", dotted(path), found.message);
        found
    })?;
    let mut intended = root.value.clone();
    set_in_tree(&mut intended, path, value);
    let edited = set_in_text(file, text, &root, path, value)?;
    verify(file, edited, &intended, path)
}

/// Removes the entry at a path of keys. It must be there.
pub fn remove(file: &str, text: &str, path: &[&str]) -> Result<String, Diagnostic> {
    named(file, path)?;
    let root = read(file, text)?;
    let mut intended = root.value.clone();
    remove_in_tree(&mut intended, path);
    let edited = Document::new(file, text, &root).remove(path)?;
    verify(file, edited, &intended, path)
}

fn named(file: &str, path: &[&str]) -> Result<(), Diagnostic> {
    match path {
        [] => Err(Diagnostic::new(format!("no key of {file} is named")).hint("name the key to edit")),
        _ => Ok(()),
    }
}

/// The tree of a file that may be edited.
fn read(file: &str, text: &str) -> Result<Node, Diagnostic> {
    let first = text.lines().next().unwrap_or_default();
    if first != "#!yaml" {
        return Err(Diagnostic::new(format!("{file} does not start with #!yaml"))
            .at(file, TOP)
            .hint(
                "make #!yaml the first line and write values in place of Jinja: Eos edits plain YAML only",
            ));
    }
    let mut root = yaml::parse(file, text.as_bytes()).map_err(first_of)?;
    match root.value {
        Value::Map(_) => {}
        Value::Null => root.value = Value::Map(Vec::new()),
        _ => {
            return Err(
                Diagnostic::new(format!("{file} holds {}, not a map", root.kind_name()))
                    .at(file, root.at)
                    .hint("write keys and values"),
            );
        }
    }
    Ok(root)
}

fn first_of(mut diagnostics: Vec<Diagnostic>) -> Diagnostic {
    diagnostics.swap_remove(0)
}

/// Sets a value key by key, so that what stays the same keeps its lines.
fn set_in_text(
    file: &str,
    text: &str,
    root: &Node,
    path: &[&str],
    value: &Value,
) -> Result<String, Diagnostic> {
    let (had, wanted) = match (root.path(path).map(|node| &node.value), value) {
        (Some(had), wanted) if had == wanted => return Ok(text.to_owned()),
        (Some(Value::Map(had)), Value::Map(wanted)) if !had.is_empty() && !wanted.is_empty() => (had, wanted),
        _ => return Document::new(file, text, root).set(path, value),
    };
    let below = |key| path.iter().copied().chain([key]).collect::<Vec<&str>>();
    let had_value = |key: &str| {
        had.iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
    };
    let mut text = text.to_owned();
    // What is new goes in before the rest goes out: the map is never empty in between.
    for Entry { key, value, .. } in wanted {
        if had_value(key) != Some(value) {
            text = set_in_text(file, &text, &read(file, &text)?, &below(key), &value.value)?;
        }
    }
    for Entry { key, .. } in had {
        if wanted.iter().all(|entry| entry.key != *key) {
            text = Document::new(file, &text, &read(file, &text)?).remove(&below(key))?;
        }
    }
    Ok(text)
}

/// Gives out an edited text only if it says what was intended.
fn verify(file: &str, edited: String, intended: &Value, path: &[&str]) -> Result<String, Diagnostic> {
    let refused = |why: &str| {
        Diagnostic::new(format!(
            "{file} was not changed: {} could not be edited, {why}",
            dotted(path)
        ))
        .at(file, TOP)
        .hint("make the change by hand")
    };
    match read(file, &edited) {
        Ok(root) if root.value == *intended => Ok(edited),
        Ok(_) => Err(refused("since other values would have changed as well")),
        Err(diagnostic) => Err(refused(&format!("since then {}", diagnostic.message))),
    }
}

fn set_in_tree(tree: &mut Value, path: &[&str], value: &Value) {
    let Some((key, rest)) = path.split_first() else {
        *tree = value.clone();
        return;
    };
    if !matches!(tree, Value::Map(_)) {
        *tree = Value::Map(Vec::new());
    }
    let Value::Map(entries) = tree else {
        unreachable!("made a map above")
    };
    let index = entries
        .iter()
        .position(|entry| entry.key == *key)
        .unwrap_or_else(|| {
            entries.push(Entry::made(*key, Value::Null));
            entries.len() - 1
        });
    set_in_tree(&mut entries[index].value.value, rest, value);
}

fn remove_in_tree(tree: &mut Value, path: &[&str]) {
    let (Value::Map(entries), Some((key, rest))) = (tree, path.split_first()) else {
        return;
    };
    if rest.is_empty() {
        entries.retain(|entry| entry.key != *key);
    } else if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *key) {
        remove_in_tree(&mut entry.value.value, rest);
    }
}

/// A value in maps of one key each.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |value, key| Value::map([(*key, value)]))
}

/// A path of keys as a person writes it.
fn dotted(path: &[&str]) -> String {
    let shown: Vec<String> = path.iter().map(|key| yaml::shown(key, 60)).collect();
    shown.join(".")
}
