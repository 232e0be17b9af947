//! Reading: the events of the YAML parser, checked and put together into a tree.

use super::print::{quote, shown};
use super::text::{advance, counted, decode, gap, position};
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
    parse_within(file, text, NODE_LIMIT)
}

/// Reads a document of at most so many values and keys.
pub(super) fn parse_within(file: &str, text: &[u8], node_limit: usize) -> Result<Node, Vec<Diagnostic>> {
    let text = decode(file, text).map_err(|diagnostic| vec![diagnostic])?;
    let mut reader = Reader {
        file,
        text,
        open: Vec::new(),
        root: None,
        nodes_left: node_limit,
        read_to: 0,
        diagnostics: Vec::new(),
    };
    reader.read();
    match reader.root {
        Some(root) if reader.diagnostics.is_empty() => Ok(root),
        _ => Err(reader.diagnostics),
    }
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
    Map {
        entries: Vec<Entry>,
        seen: HashMap<String, Position>,
        key: Option<Key>,
    },
}

struct Key {
    text: String,
    at: Position,
    span: Range<usize>,
}

/// Whether double-quoted text escapes a character as JSON does it, in two halves: Salt refuses that.
fn has_surrogate_escape(quoted: &str) -> bool {
    let mut rest = quoted;
    while let Some(backslash) = rest.find('\\') {
        let escape = &rest.as_bytes()[backslash + 1..];
        if let [b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..] = escape {
            return true;
        }
        let escaped = rest[backslash + 1..].chars().next().map_or(0, char::len_utf8);
        rest = &rest[backslash + 1 + escaped..];
    }
    false
}

/// Whether a colon follows that touches the next mark of a flow collection: Salt does not take it for the end of a key.
fn has_tight_colon(behind: &str) -> bool {
    matches!(
        behind.as_bytes(),
        [b':', b',' | b'?' | b'[' | b']' | b'{' | b'}', ..]
    )
}

struct Reader<'text> {
    file: &'text str,
    text: &'text str,
    open: Vec<Open>,
    root: Option<Node>,
    nodes_left: usize,
    /// Where the last scalar ended.
    read_to: usize,
    diagnostics: Vec<Diagnostic>,
}

/// The file is not read further: what comes next could not be told right.
struct Stop;

impl<'text> Reader<'text> {
    fn read(&mut self) {
        let options = granit_parser::options! {
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
                    if documents > 1 {
                        self.second_document(&span)
                    } else {
                        Ok(())
                    }
                }
                Ok((event, span)) => self.event(event, &span),
                Err(error) => self.syntax(&error),
            };
            if step.is_err() || self.diagnostics.len() >= DIAGNOSTIC_LIMIT {
                return;
            }
        }
        self.gap_before(self.text.len());
        if documents == 0 {
            self.root = Some(Node::made(Value::Null));
        }
    }

    fn event(&mut self, event: Event<'text>, span: &Span) -> Result<(), Stop> {
        if event.is_node() {
            let Some(nodes_left) = self.nodes_left.checked_sub(1) else {
                return self.stop("the file holds too many values", place(&span.start), "split it");
            };
            self.nodes_left = nodes_left;
        }
        if let Some(tag) = span.tag_span() {
            self.refuse(
                "tags are not used here",
                place(&tag.start),
                "leave the tag out; quotes make text",
            );
        }
        match event {
            Event::Scalar(text, style, ..) => self.scalar(&text, style, span),
            Event::SequenceStart(style, ..) => self.collection(span, style, Content::List(Vec::new())),
            Event::MappingStart(style, ..) => {
                let content = Content::Map {
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    key: None,
                };
                self.collection(span, style, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Anchor(..) => {
                self.refuse(
                    "anchors are not used here",
                    place(&span.start),
                    "leave the anchor out",
                );
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
        let bytes = self.bytes(span);
        let at = place(&span.start);
        self.gap_before(bytes.start);
        self.read_to = bytes.end.max(self.read_to);
        if let Some((message, hint)) = self.misread(text, style, &bytes) {
            self.refuse(message, at, hint);
        }
        let value = match style {
            ScalarStyle::Plain if bytes.is_empty() => Ok(Value::Null),
            ScalarStyle::Plain => scalar::resolve(text),
            _ => Ok(Value::String(text.to_owned())),
        };
        if self.expects_key() {
            return self.key(
                text,
                value,
                Key {
                    text: text.to_owned(),
                    at,
                    span: bytes,
                },
            );
        }
        let value = value.unwrap_or_else(|why| {
            self.refuse(
                format!("the value is not the same to every reader: {why}"),
                at,
                "put it in quotes to make it text, or write it the plain way",
            );
            Value::Null
        });
        let node = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                // The parser places it behind its header, and ends it behind the blank lines below it.
                let (start, at) = self.value_start();
                let header = self.text[start..].lines().next().unwrap_or_default();
                let kept = header.split('#').next().unwrap_or_default().contains('+');
                let content = &self.text[start.min(bytes.end)..bytes.end];
                // Without its blank lines, or with them and without the indentation of the line behind them.
                let own = if kept {
                    content.trim_end_matches(' ')
                } else {
                    content.trim_end_matches([' ', '\r', '\n'])
                };
                Node {
                    value,
                    at,
                    span: start..start + own.len(),
                    style: Style::Block,
                }
            }
            _ if bytes.is_empty() => {
                let (behind, at) = self.indicator_end();
                Node {
                    value,
                    at,
                    span: behind..behind,
                    style: Style::Flow,
                }
            }
            _ => Node {
                value,
                at,
                span: bytes,
                style: Style::Flow,
            },
        };
        self.node(node);
        Ok(())
    }

    /// What is wrong with the way a scalar is written: another reader would take it for something else.
    fn misread(
        &self,
        text: &str,
        style: ScalarStyle,
        bytes: &Range<usize>,
    ) -> Option<(&'static str, &'static str)> {
        let source = &self.text[bytes.clone()];
        let in_flow = self.open.last().is_some_and(|open| open.style == Style::Flow);
        match style {
            _ if text.contains('\0') => Some(("text holds a NUL character", "no engine takes it: remove it")),
            ScalarStyle::DoubleQuoted if has_surrogate_escape(source) => Some((
                "a character is escaped as a pair of surrogates",
                "write the character itself, or \\U with eight digits",
            )),
            ScalarStyle::Plain if source.contains('\t') => Some((
                "a tab stands in text without quotes",
                "put the text in double quotes, the tab as \\t",
            )),
            ScalarStyle::Plain if in_flow && source.starts_with([':', '?']) => Some((
                "text in brackets begins with a mark of YAML",
                "put the text in quotes",
            )),
            ScalarStyle::Plain
                if in_flow && (source.contains(":?") || has_tight_colon(&self.text[bytes.end..])) =>
            {
                Some((
                    "a colon in brackets is not followed by a space",
                    "put a space behind the colon of a key, and text with a colon in quotes",
                ))
            }
            ScalarStyle::Literal | ScalarStyle::Folded => self.misread_block(bytes),
            _ => None,
        }
    }

    fn misread_block(&self, bytes: &Range<usize>) -> Option<(&'static str, &'static str)> {
        if self.expects_key() {
            return Some(("a key is block text", "write the key and a colon on one line"));
        }
        let (start, _) = self.value_start();
        let source = &self.text[start.min(bytes.end)..bytes.end];
        let content = &source[source.find('\n').unwrap_or(source.len())..];
        if self.open.is_empty() {
            Some(("block text stands alone", "give it a key"))
        } else if content.trim_start_matches([' ', '\r', '\n']).starts_with('\t') {
            Some((
                "block text begins with a tab",
                "indent with spaces, or use double quotes and \\t",
            ))
        } else if bytes.end == self.text.len() && !self.text.ends_with('\n') {
            Some((
                "the file ends in block text without a line break",
                "end the file with a line break",
            ))
        } else {
            None
        }
    }

    /// Refuses what readers differ in between the last scalar and the next: tabs, and the marker `...`.
    fn gap_before(&mut self, start: usize) {
        let mut offset = self.read_to;
        for line in self
            .text
            .get(offset..start)
            .unwrap_or_default()
            .split_inclusive('\n')
        {
            let comment = line
                .match_indices('#')
                .find(|(at, _)| line[..*at].ends_with([' ', '\t']) || *at == 0);
            let content = &line[..comment.map_or(line.len(), |(at, _)| at)];
            if content.starts_with("...") && position(self.text, offset).column == 1 {
                let at = position(self.text, offset);
                return self.refuse("document end markers are not used here", at, "leave the line out");
            }
            if let Some(tab) = content.find('\t') {
                let at = position(self.text, offset + tab);
                return self.refuse("a tab stands outside of text", at, "use spaces");
            }
            offset += line.len();
        }
    }

    fn key(&mut self, plain: &str, value: Result<Value, String>, key: Key) -> Result<(), Stop> {
        let at = key.at;
        let shown = shown(plain, 60);
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
        if self.is_explicit(&key) || self.is_broken(&key) {
            return self.stop(
                "a key and its colon are not on one line, or a `?` stands before it",
                at,
                "write the key and the colon on one line",
            );
        }
        // What is read can be written: quotes and escapes may make a key longer.
        if key.span.len() > KEY_LIMIT || quote(&key.text).len() > KEY_LIMIT {
            return self.stop(
                format!("a key is longer than {KEY_LIMIT} bytes in quotes"),
                at,
                "shorten the key: Salt cannot read it",
            );
        }
        let Some(Open {
            content: Content::Map {
                seen, key: pending, ..
            },
            ..
        }) = self.open.last_mut()
        else {
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
        let (start, at) = match (&content, style) {
            // The parser places a list that is not indented behind its first dash.
            (Content::List(_), Style::Block) => self.value_start(),
            _ => (self.bytes(span).start, at),
        };
        self.open.push(Open {
            at,
            start,
            style,
            content,
        });
        Ok(())
    }

    fn close(&mut self, span: &Span) -> Result<(), Stop> {
        let end = self.bytes(span).end;
        let Some(Open {
            at,
            start,
            style,
            content,
        }) = self.open.pop()
        else {
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
        self.node(Node {
            value,
            at,
            span: start..end,
            style,
        });
        Ok(())
    }

    fn node(&mut self, node: Node) {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(nodes)) => nodes.push(node),
            Some(Content::Map { entries, key, .. }) => {
                let Key { text, at, span } = key.take().expect("a value follows its key");
                entries.push(Entry {
                    key: text,
                    key_at: at,
                    key_span: span,
                    value: node,
                });
            }
        }
    }

    /// Whether a key that is being read is written behind a question mark.
    fn is_explicit(&self, key: &Key) -> bool {
        let Some(Open {
            start,
            content: Content::Map { entries, .. },
            ..
        }) = self.open.last()
        else {
            return false;
        };
        let before = entries.last().map_or(*start, |entry| entry.value.span.end);
        let before = self.text.get(before..key.span.start).unwrap_or_default();
        let before = &before[gap(before)..];
        let before = before.strip_prefix([',', '{']).unwrap_or(before);
        before[gap(before)..].starts_with('?')
    }

    /// Whether a key or what is between it and its colon goes over a line break.
    fn is_broken(&self, key: &Key) -> bool {
        let behind = &self.text[key.span.end..];
        let colon = gap(behind);
        let between = if behind[colon..].starts_with(':') {
            &behind[..colon]
        } else {
            ""
        };
        between.contains('\n') || self.text[key.span.clone()].contains('\n')
    }

    /// Where the colon or dash before the value that is being read ends; without one, where the text before ends.
    fn indicator_end(&self) -> (usize, Position) {
        let (before, at, indicator) = match self.open.last() {
            None => return (0, Position { line: 1, column: 1 }),
            Some(Open {
                content: Content::Map { key, .. },
                ..
            }) => {
                let key = key.as_ref().expect("a value follows its key");
                (key.span.end, advance(key.at, &self.text[key.span.clone()]), ':')
            }
            Some(Open {
                at,
                start,
                content: Content::List(nodes),
                ..
            }) => match nodes.last() {
                None => (*start, *at, '-'),
                Some(node) => (
                    node.span.end,
                    advance(node.at, &self.text[node.span.clone()]),
                    '-',
                ),
            },
        };
        let found = before + gap(&self.text[before..]);
        if !self.text[found..].starts_with(indicator) {
            return (before, at);
        }
        (found + 1, advance(at, &self.text[before..=found]))
    }

    /// Where the value begins that is being read, if that is not where the parser says.
    fn value_start(&self) -> (usize, Position) {
        let (behind, at) = self.indicator_end();
        let start = behind + gap(&self.text[behind..]);
        (start, advance(at, &self.text[behind..start]))
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Map { key: None, .. },
                ..
            })
        )
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
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if line[spaces..].starts_with('\t') {
            let at = counted(at.line as usize, spaces + 1);
            return self.stop("a tab stands in the indentation", at, "indent with spaces");
        }
        let hint = if ["{{", "{%", "{#"].iter().any(|jinja| line.contains(jinja)) {
            JINJA
        } else if at.column as usize > KEY_LIMIT {
            "a key is shorter than this; check quotes and brackets here and on the lines above"
        } else {
            "check indentation, quotes and brackets here and on the lines above"
        };
        self.stop(format!("the file is not YAML: {}", error.info()), at, hint)
    }

    fn second_document(&mut self, span: &Span) -> Result<(), Stop> {
        self.stop(
            "a second document begins",
            place(&span.start),
            "keep one document in a file: remove the ---",
        )
    }

    fn too_deep(&mut self, at: Position) -> Result<(), Stop> {
        self.stop(
            format!("values are nested more than {DEPTH_LIMIT} levels deep"),
            at,
            "nest less deeply",
        )
    }

    fn refuse(&mut self, message: impl Into<String>, at: Position, hint: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::new(message).at(self.file, at).hint(hint));
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

const JINJA: &str =
    "put text with braces in quotes; Jinja is not evaluated in a pillar file: write the value itself";
