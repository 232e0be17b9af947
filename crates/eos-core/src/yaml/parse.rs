//! Reading: the events of the YAML parser, checked and put together into a tree.

use super::{DEPTH_LIMIT, Entry, KEY_LIMIT, NODE_LIMIT, Node, Style, Value, scalar};
use crate::diagnostic::{Diagnostic, Position};
use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StructureStyle};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::ops::Range;

/// After so many diagnostics the rest of the file is not looked at.
const DIAGNOSTIC_LIMIT: usize = 50;

/// Reads one YAML document. An empty file is `Null`. All that is wrong is told at once, up to a limit.
pub fn parse(file: &str, text: &[u8]) -> Result<Node, Vec<Diagnostic>> {
    let text = decode(file, text).map_err(|diagnostic| vec![diagnostic])?;
    let mut reader = Reader { file, text, open: Vec::new(), root: None, nodes: 0, diagnostics: Vec::new() };
    reader.read();
    match reader.root {
        Some(root) if reader.diagnostics.is_empty() => Ok(root),
        _ => Err(reader.diagnostics),
    }
}

/// The text of the file, if it holds only characters that every reader takes for the same thing.
fn decode<'text>(file: &str, bytes: &'text [u8]) -> Result<&'text str, Diagnostic> {
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
            _ => Diagnostic::new(format!("the file holds the character U+{:04X}", char as u32)).hint(format!(
                "remove it, or write it in double quotes as {}",
                super::print::escape(char)
            )),
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
fn position(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    counted(line, before[line_start..].chars().count() + 1)
}

fn counted(line: usize, column: usize) -> Position {
    let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: narrow(line), column: narrow(column) }
}

fn place(marker: &Marker) -> Position {
    counted(marker.line(), marker.col() + 1)
}

/// A collection whose end has not been read.
struct Open {
    at: Position,
    start: usize,
    style: Style,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<String, Position>, key: Option<Key> },
}

struct Key {
    text: String,
    at: Position,
    span: Range<usize>,
}

struct Reader<'text> {
    file: &'text str,
    text: &'text str,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    diagnostics: Vec<Diagnostic>,
}

/// The file is not read further: what comes next could not be told right.
struct Stop;

impl<'text> Reader<'text> {
    fn read(&mut self) {
        let options = granit_parser::options! {
            strict_indentation: true,
            disallow_directives: true,
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            emit_comments: false,
            flow_nesting_limit: DEPTH_LIMIT + 1,
            block_nesting_limit: DEPTH_LIMIT + 1,
        };
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(self.text, options) {
            let step = match event {
                Ok((Event::DocumentStart(..), span)) => {
                    documents += 1;
                    if documents > 1 { self.second_document(&span) } else { Ok(()) }
                }
                Ok((event, span)) => self.event(event, &span),
                Err(error) => self.syntax(&error),
            };
            if step.is_err() || self.diagnostics.len() >= DIAGNOSTIC_LIMIT {
                return;
            }
        }
        if documents == 0 {
            self.root = Some(Node::made(Value::Null));
        }
    }

    fn event(&mut self, event: Event<'text>, span: &Span) -> Result<(), Stop> {
        if event.is_node() {
            self.nodes += 1;
            if self.nodes > NODE_LIMIT {
                return self.stop(
                    format!("the file holds more than {NODE_LIMIT} values"),
                    place(&span.start),
                    "split it",
                );
            }
        }
        if let Some(tag) = span.tag_span() {
            self.refuse("tags are not used here", place(&tag.start), "leave the tag out; quotes make text");
        }
        match event {
            Event::Scalar(text, style, ..) => self.scalar(&text, style, span),
            Event::SequenceStart(style, ..) => self.collection(span, style, Content::List(Vec::new())),
            Event::MappingStart(style, ..) => {
                let content = Content::Map { entries: Vec::new(), seen: HashMap::new(), key: None };
                self.collection(span, style, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Anchor(..) => {
                self.refuse("anchors are not used here", place(&span.start), "leave the anchor out");
                Ok(())
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => self.stop(
                "aliases are not used here",
                place(&span.start),
                "write the value itself; put text that begins with * in quotes",
            ),
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: &Span) -> Result<(), Stop> {
        let at = place(&span.start);
        let bytes = self.bytes(span);
        if text.contains('\0') {
            self.refuse("text holds a NUL character", at, "no engine takes it: remove it");
        }
        let value = match style {
            ScalarStyle::Plain => scalar::resolve(text),
            _ => Ok(Value::String(text.to_owned())),
        };
        if self.expects_key() {
            return self.key(text, value, Key { text: text.to_owned(), at, span: bytes });
        }
        let value = value.unwrap_or_else(|why| {
            self.refuse(
                format!("the value is not the same to every reader: {why}"),
                at,
                "put it in quotes to make it text, or write it the plain way",
            );
            Value::Null
        });
        let style = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
            _ => Style::Flow,
        };
        self.node(Node { value, at, span: bytes, style });
        Ok(())
    }

    fn key(&mut self, plain: &str, value: Result<Value, String>, key: Key) -> Result<(), Stop> {
        let at = key.at;
        let shown: String = plain.chars().take(60).collect();
        match value {
            _ if plain == "<<" && self.text[key.span.clone()].starts_with('<') => {
                self.refuse("merge keys are not used here", at, "write the keys themselves")
            }
            Ok(Value::String(_)) => {}
            Ok(Value::Null) => self.refuse("a key is missing", at, "write the key as text before the colon"),
            Ok(other) => self.refuse(
                format!("the key `{shown}` is {}, not text", other.kind_name()),
                at,
                format!("put it in quotes: \"{shown}\""),
            ),
            Err(why) => self.refuse(
                format!("the key `{shown}` is not the same to every reader: {why}"),
                at,
                format!("put it in quotes: \"{shown}\""),
            ),
        }
        if key.span.len() > KEY_LIMIT {
            return self.stop(
                format!("a key is longer than {KEY_LIMIT} bytes"),
                at,
                "shorten the key: Salt cannot read it",
            );
        }
        let Some(Open { content: Content::Map { seen, key: pending, .. }, .. }) = self.open.last_mut() else {
            unreachable!("a key is expected only in a map");
        };
        let first = match seen.entry(key.text.clone()) {
            Slot::Occupied(slot) => Some(*slot.get()),
            Slot::Vacant(slot) => {
                slot.insert(at);
                None
            }
        };
        *pending = Some(key);
        if let Some(first) = first {
            self.refuse(
                format!("the key `{shown}` stands twice in one map"),
                at,
                format!("remove one of them; the first stands on line {}", first.line),
            );
        }
        Ok(())
    }

    fn collection(&mut self, span: &Span, style: StructureStyle, content: Content) -> Result<(), Stop> {
        let at = place(&span.start);
        if self.expects_key() {
            let start = self.bytes(span).start;
            let jinja = self.text[..start].ends_with('{') && self.text[start..].starts_with('{');
            return self.stop(
                "a key is not text but a map or a list",
                at,
                if jinja { JINJA } else { "write the key as text" },
            );
        }
        if self.open.len() >= DEPTH_LIMIT {
            return self.too_deep(at);
        }
        let style = match style {
            StructureStyle::Block => Style::Block,
            StructureStyle::Flow => Style::Flow,
        };
        let start = self.bytes(span).start;
        self.open.push(Open { at, start, style, content });
        Ok(())
    }

    fn close(&mut self, span: &Span) -> Result<(), Stop> {
        let end = self.bytes(span).end;
        let Some(Open { at, start, style, content }) = self.open.pop() else {
            unreachable!("the parser ends only what it began");
        };
        let (value, last) = match content {
            Content::List(nodes) => {
                let last = nodes.last().map(|node| node.span.end);
                (Value::List(nodes), last)
            }
            Content::Map { entries, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end);
                (Value::Map(entries), last)
            }
        };
        let end = match style {
            Style::Flow => end,
            Style::Block => last.unwrap_or(start),
        };
        self.node(Node { value, at, span: start..end, style });
        Ok(())
    }

    fn node(&mut self, node: Node) {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(nodes)) => nodes.push(node),
            Some(Content::Map { entries, key, .. }) => {
                let Key { text, at, span } = key.take().expect("a value follows its key");
                entries.push(Entry { key: text, key_at: at, key_span: span, value: node });
            }
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Map { key: None, .. }, .. }))
    }

    fn bytes(&self, span: &Span) -> Range<usize> {
        span.byte_range().expect("a parser of text knows the bytes")
    }

    fn syntax(&mut self, error: &ScanError) -> Result<(), Stop> {
        let at = place(error.marker());
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => return self.too_deep(at),
            ErrorKind::DirectiveDisallowed => {
                return self.stop("directives (%) are not used here", at, "leave the line out");
            }
            _ => {}
        }
        let line = self.text.lines().nth(at.line as usize - 1).unwrap_or_default();
        let indentation = line.len() - line.trim_start().len();
        let hint = if line[..indentation].contains('\t') {
            return self.stop("a tab stands in the indentation", at, "indent with spaces");
        } else if ["{{", "{%", "{#"].iter().any(|jinja| line.contains(jinja)) {
            JINJA
        } else {
            "check indentation, quotes and brackets here and on the lines above"
        };
        self.stop(format!("the file is not YAML: {}", error.info()), at, hint)
    }

    fn second_document(&mut self, span: &Span) -> Result<(), Stop> {
        self.stop("a second document begins", place(&span.start), "keep one document in a file: remove the ---")
    }

    fn too_deep(&mut self, at: Position) -> Result<(), Stop> {
        self.stop(format!("values are nested more than {DEPTH_LIMIT} levels deep"), at, "nest less deeply")
    }

    fn refuse(&mut self, message: impl Into<String>, at: Position, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(message).at(self.file, at).hint(hint));
    }

    fn stop(
        &mut self,
        message: impl Into<String>,
        at: Position,
        hint: impl Into<String>,
    ) -> Result<(), Stop> {
        self.refuse(message, at, hint);
        Err(Stop)
    }
}

const JINJA: &str = "put text with braces in quotes; Jinja is not evaluated in a pillar file: write the value itself";
