//! The text of a file before YAML: which characters it may hold, and where in it something stands.

use crate::diagnostic::{Diagnostic, Position};

/// The text of the file, if it holds only characters that every reader takes for the same thing.
pub(super) fn decode<'text>(file: &str, bytes: &'text [u8]) -> Result<&'text str, Diagnostic> {
    let (text, invalid) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).expect("checked by the error");
            (valid, true)
        }
    };
    let refused = text.char_indices().find(|&(offset, char)| match char {
        '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' => false,
        '\r' => bytes.get(offset + 1) != Some(&b'\n'),
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => true,
        char => char.is_control(),
    });
    if let Some((offset, char)) = refused {
        let at = position(text, offset);
        return Err(match char {
            '\u{feff}' => Diagnostic::new("the file holds a byte order mark")
                .hint("save the file as UTF-8 without byte order mark"),
            '\r' => Diagnostic::new("a carriage return stands without a line feed")
                .hint("end lines with a line feed, or write \"\\r\" in double quotes"),
            _ => {
                Diagnostic::new(format!("the file holds the character U+{:04X}", char as u32)).hint(format!(
                    "remove it, or write it in double quotes as {}",
                    super::print::escape(char)
                ))
            }
        }
        .at(file, at));
    }
    if invalid {
        return Err(Diagnostic::new("the file is not UTF-8")
            .at(file, position(text, text.len()))
            .hint("save the file as UTF-8"));
    }
    Ok(text)
}

/// The place of a byte; columns count characters.
pub(super) fn position(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    counted(line, before[line_start..].chars().count() + 1)
}

pub(super) fn counted(line: usize, column: usize) -> Position {
    let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Position {
        line: narrow(line),
        column: narrow(column),
    }
}

/// The place behind a piece of text that begins at a place.
pub(super) fn advance(from: Position, text: &str) -> Position {
    match text.rfind('\n') {
        None => counted(from.line as usize, from.column as usize + text.chars().count()),
        Some(newline) => {
            let lines = text.bytes().filter(|&byte| byte == b'\n').count();
            counted(
                from.line as usize + lines,
                text[newline + 1..].chars().count() + 1,
            )
        }
    }
}

/// The length of the white space, line breaks and comments at the start of a text.
pub(crate) fn gap(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if !rest.starts_with('#') {
            return text.len() - rest.len();
        }
        rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
    }
}
