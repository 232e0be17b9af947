//! Writing: values as YAML text that Eos and Salt both read back as the same value.

use super::{DEPTH_LIMIT, Entry, KEY_LIMIT, Value, scalar};
use crate::diagnostic::Diagnostic;
use std::collections::HashSet;

/// A text as one scalar on one line: plain where that is safe in every place, else in double quotes.
pub fn quote(text: &str) -> String {
    if plain(text) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            ' '..='~' => quoted.push(char),
            char if unseen(char) => quoted.push_str(&escape(char)),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text needs no quotes wherever it stands: made of the characters of names, paths and versions, and
/// nothing that any reader takes for another kind of value.
fn plain(text: &str) -> bool {
    let name = |char: char| char.is_ascii_alphanumeric() || "_./-".contains(char);
    text.len() <= 200
        && text.starts_with(|first: char| first.is_ascii_alphanumeric() || "_/".contains(first))
        && text.chars().all(name)
        && !looks_like_date(text)
        && matches!(scalar::resolve(text), Ok(Value::String(_)))
}

/// Salt keeps dates as text; other readers of YAML do not.
fn looks_like_date(text: &str) -> bool {
    text.len() >= 8 && text.as_bytes()[..4].iter().all(u8::is_ascii_digit) && text.as_bytes()[4] == b'-'
}

/// Characters that a reader would refuse or take for a line break, or that a person cannot see.
fn unseen(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// A character as double-quoted text writes it when it cannot stand for itself.
pub(super) fn escape(char: char) -> String {
    match char {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        char if (char as u32) < 0x100 => format!("\\x{:02x}", char as u32),
        char if (char as u32) < 0x1_0000 => format!("\\u{:04x}", char as u32),
        char => format!("\\U{:08x}", char as u32),
    }
}

/// A text as a message shows it: cut short, and with what disturbs a terminal or cannot be seen escaped.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for char in text.chars().take(limit) {
        match unseen(char) {
            true => shown.push_str(&escape(char)),
            false => shown.push(char),
        }
    }
    if text.chars().nth(limit).is_some() {
        shown.push('\u{2026}');
    }
    shown
}

/// A value as block text: the lines of a map or list, or one scalar. Ends with a line feed.
pub fn print(value: &Value) -> Result<String, Diagnostic> {
    check(value)?;
    Ok(if is_inline(value) {
        inline(value) + "\n"
    } else {
        block(value, 0, 2)
    })
}

/// Refuses what no text could say so that it is read back.
pub(crate) fn check(value: &Value) -> Result<(), Diagnostic> {
    check_at_depth(value, 1)
}

/// Whether a value stands on one line even in block text.
pub(crate) fn is_inline(value: &Value) -> bool {
    match value {
        Value::List(nodes) => nodes.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => true,
    }
}

/// The lines of a map or list that is not empty, indented by `indent`; what is below it by `step` more.
pub(crate) fn block(value: &Value, indent: usize, step: usize) -> String {
    let mut lines = String::new();
    write_block(&mut lines, value, indent, step);
    lines
}

/// A value on one line, collections in braces and brackets.
pub(crate) fn inline(value: &Value) -> String {
    let mut text = String::new();
    write_inline(&mut text, value);
    text
}

fn check_at_depth(value: &Value, depth: usize) -> Result<(), Diagnostic> {
    match value {
        Value::Float(number) if !number.is_finite() => {
            Err(Diagnostic::new("a number is infinite or undefined").hint("JSON cannot hold it"))
        }
        Value::String(text) => check_text(text),
        Value::List(_) | Value::Map(_) if depth > DEPTH_LIMIT => Err(Diagnostic::new(format!(
            "values are nested more than {DEPTH_LIMIT} levels deep"
        ))),
        Value::List(nodes) => nodes
            .iter()
            .try_for_each(|node| check_at_depth(&node.value, depth + 1)),
        Value::Map(entries) => {
            let mut seen = HashSet::new();
            for Entry { key, value, .. } in entries {
                check_text(key)?;
                if quote(key).len() > KEY_LIMIT {
                    return Err(Diagnostic::new(format!("a key is longer than {KEY_LIMIT} bytes")));
                }
                if !seen.insert(key) {
                    return Err(Diagnostic::new(format!(
                        "the key `{}` stands twice in one map",
                        shown(key, 60)
                    )));
                }
                check_at_depth(&value.value, depth + 1)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), Diagnostic> {
    if text.contains('\0') {
        return Err(Diagnostic::new("text holds a NUL character").hint("no engine takes it: remove it"));
    }
    Ok(())
}

fn write_block(lines: &mut String, value: &Value, indent: usize, step: usize) {
    match value {
        Value::Map(entries) => {
            for Entry { key, value, .. } in entries {
                indent_by(lines, indent);
                lines.push_str(&quote(key));
                lines.push(':');
                if is_inline(&value.value) {
                    lines.push(' ');
                    write_inline(lines, &value.value);
                    lines.push('\n');
                } else {
                    lines.push('\n');
                    write_block(lines, &value.value, indent + step, step);
                }
            }
        }
        Value::List(nodes) => {
            for node in nodes {
                let start = lines.len();
                if is_inline(&node.value) {
                    indent_by(lines, indent + 2);
                    write_inline(lines, &node.value);
                    lines.push('\n');
                } else {
                    write_block(lines, &node.value, indent + 2, step);
                }
                // The item begins on the line of its dash.
                lines.replace_range(start + indent..start + indent + 1, "-");
            }
        }
        _ => write_inline(lines, value),
    }
}

fn write_inline(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Integer(number) => text.push_str(&number.to_string()),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::String(content) => text.push_str(&quote(content)),
        Value::List(nodes) => {
            text.push('[');
            for (index, node) in nodes.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                write_inline(text, &node.value);
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for (index, Entry { key, value, .. }) in entries.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                text.push_str(&quote(key));
                text.push_str(": ");
                write_inline(text, &value.value);
            }
            text.push('}');
        }
    }
}

fn indent_by(lines: &mut String, indent: usize) {
    lines.extend(std::iter::repeat_n(' ', indent));
}

/// A number with a point, and an exponent with a sign: Salt takes it for text otherwise.
fn float(number: f64) -> String {
    let shortest = format!("{number:?}");
    let Some((mantissa, exponent)) = shortest.split_once('e') else {
        return shortest;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}
