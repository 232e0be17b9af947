//! One edit of the text: which bytes go, and what comes in their place.

use super::{dotted, nested};
use crate::diagnostic::Diagnostic;
use crate::yaml::{self, Entry, Node, Style, Value, gap, inline, is_inline};
use std::ops::Range;

/// A file and its tree; the root is a map.
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: &'a Node,
    line_break: &'static str,
    /// How many spaces this file indents by.
    step: usize,
}

/// Bytes of the text and what replaces them.
type Edit = (Range<usize>, String);

impl<'a> Document<'a> {
    pub(super) fn new(file: &'a str, text: &'a str, root: &'a Node) -> Self {
        let first_break = text.find('\n').unwrap_or(0);
        let line_break = if text[..first_break].ends_with('\r') {
            "\r\n"
        } else {
            "\n"
        };
        Self {
            file,
            text,
            root,
            line_break,
            step: step(root).unwrap_or(2),
        }
    }

    /// Sets the value at a path, replacing what is there as a whole.
    pub(super) fn set(&self, path: &[&str], value: &Value) -> Result<String, Diagnostic> {
        let found = self.walk(path)?;
        let Some((first_missing, below)) = path[found.len()..].split_first() else {
            return Ok(self.replace(&found, value));
        };
        let value = nested(below, value);
        let map = found.last().map_or(self.root, |entry| &entry.value);
        if map.as_map().is_some_and(|entries| !entries.is_empty()) {
            return Ok(self.insert(map, first_missing, &value));
        }
        let filled = Value::map([(*first_missing, value)]);
        Ok(if found.is_empty() {
            self.fill_root(&filled)
        } else {
            self.replace(&found, &filled)
        })
    }

    /// Removes the entry at a path.
    pub(super) fn remove(&self, path: &[&str]) -> Result<String, Diagnostic> {
        let found = self.walk(path)?;
        let (Some(entry), true) = (found.last(), found.len() == path.len()) else {
            return Err(
                Diagnostic::new(format!("{} has no {}", self.file, dotted(path))).hint("check the name")
            );
        };
        let parent = found.len().checked_sub(2).map(|index| found[index]);
        let map = parent.map_or(self.root, |parent| &parent.value);
        if map.style == Style::Flow {
            return Ok(self.remove_in_braces(map, entry));
        }
        let end = self.inside_end(entry);
        let mut edits = vec![(self.owned_comments(entry)..end, String::new())];
        // Spaces behind the last line break would become part of block text above.
        if self.text[end..].trim_ascii().is_empty() {
            let last_line = self.text.rfind('\n').map_or(end, |at| end.max(at + 1));
            edits.push((last_line..self.text.len(), String::new()));
        }
        if let (Some(parent), Some([_])) = (parent, map.as_map()) {
            let behind_colon = self.behind_colon(parent);
            edits.push((behind_colon..behind_colon, " {}".to_owned()));
        }
        Ok(self.apply(edits))
    }

    /// The entries along a path as far as they are there.
    fn walk(&self, path: &[&str]) -> Result<Vec<&'a Entry>, Diagnostic> {
        let mut found: Vec<&Entry> = Vec::new();
        let mut node = self.root;
        for (index, key) in path.iter().enumerate() {
            match &node.value {
                Value::Map(_) => {}
                Value::Null => break,
                other => {
                    return Err(Diagnostic::new(format!(
                        "{} is {}, so {} cannot be in it",
                        dotted(&path[..index]),
                        other.kind_name(),
                        yaml::shown(key, 60)
                    ))
                    .at(self.file, node.at)
                    .hint("make it a map, or name another key"));
                }
            }
            let Some(entry) = node.entry(key) else { break };
            found.push(entry);
            node = &entry.value;
        }
        Ok(found)
    }

    /// Replaces the value of the last of these entries, which lie in one another.
    fn replace(&self, entries: &[&Entry], value: &Value) -> String {
        let Some((entry, parents)) = entries.split_last() else {
            return self.text.to_owned();
        };
        let old = &entry.value;
        let behind_colon = self.behind_colon(entry);
        let mut maps = parents.iter().map(|parent| &parent.value).chain([self.root]);
        if maps.any(|map| map.style == Style::Flow) {
            let colon = if behind_colon == entry.key_span.end {
                ":"
            } else {
                ""
            };
            return self.apply(vec![if old.span.is_empty() {
                (behind_colon..behind_colon, format!("{colon} {}", inline(value)))
            } else {
                (old.span.clone(), inline(value))
            }]);
        }
        let indent = self.column(entry.key_span.start);
        let (beside, below) = match is_inline(value) {
            true => (format!(" {}", inline(value)), String::new()),
            false => (String::new(), self.block(value, indent + self.step)),
        };
        let starts_below = self.text[behind_colon..old.span.start].contains('\n');
        if starts_below && old.style == Style::Flow && is_inline(value) {
            return self.apply(vec![(old.span.clone(), inline(value))]);
        }
        let edits = if starts_below {
            vec![
                (behind_colon..behind_colon, beside),
                (self.line_start(old.span.start)..self.lines_end(entry), below),
            ]
        } else {
            // A comment behind the value, or behind the `|` of block text, stays beside the key.
            let header = self.text[old.span.start..self.line_end(old.span.start)].trim_end();
            let behind = match old.style {
                Style::Block => old.span.start + header.find(' ').unwrap_or(header.len()),
                Style::Flow => old.span.end,
            };
            let comment = self.text[behind..self.line_end(behind)].trim_end();
            let lines = format!("{beside}{comment}{}{below}", self.line_break);
            vec![(behind_colon..self.lines_end(entry), lines)]
        };
        self.apply(edits)
    }

    /// Puts the first keys into a file that has none.
    fn fill_root(&self, value: &Value) -> String {
        let lines = self.block(value, 0);
        let braces = self.root.span.clone();
        if !braces.is_empty() {
            let end = self.line_end(braces.end);
            let behind = self.text[braces.end..end].trim();
            let comment = if behind.is_empty() {
                String::new()
            } else {
                format!("{behind}{}", self.line_break)
            };
            return self.apply(vec![(braces.start..end, comment + &lines)]);
        }
        self.apply(vec![self.put_lines(self.text.len(), lines)])
    }

    /// Puts a new key into a map that has keys.
    fn insert(&self, map: &Node, key: &str, value: &Value) -> String {
        let entries = map.as_map().unwrap_or_default();
        let sorted = entries.is_sorted_by(|one, other| one.key <= other.key);
        let next = entries.iter().find(|entry| sorted && entry.key.as_str() > key);
        let last = entries.last().expect("the map has keys");
        let added = Value::map([(key, value.clone())]);
        if map.style == Style::Flow {
            let braced = inline(&added);
            let pair = &braced[1..braced.len() - 1];
            let end = last.value.span.end;
            return self.apply(vec![match next {
                Some(next) => (next.key_span.start..next.key_span.start, format!("{pair}, ")),
                None => (end..end, format!(", {pair}")),
            }]);
        }
        let at = next.map_or_else(|| self.lines_end(last), |next| self.owned_comments(next));
        self.apply(vec![
            self.put_lines(at, self.block(&added, self.column(last.key_span.start))),
        ])
    }

    /// Takes an entry and one comma out of braces.
    fn remove_in_braces(&self, map: &Node, entry: &Entry) -> String {
        let entries = map.as_map().unwrap_or_default();
        if entries.len() == 1 {
            return self.apply(vec![(map.span.clone(), "{}".to_owned())]);
        }
        let own = entry.key_span.start..entry.value.span.end;
        let behind = own.end + gap(&self.text[own.end..]);
        if self.text[behind..].starts_with(',') {
            let spaces =
                self.text[behind + 1..].len() - self.text[behind + 1..].trim_start_matches(' ').len();
            let comma = behind..behind + 1 + spaces;
            return self.apply(vec![(own, String::new()), (comma, String::new())]);
        }
        // The last of several: the comma before it goes.
        let before = entries[entries.len() - 2].value.span.end;
        let comma = before + gap(&self.text[before..]);
        if self.text[comma + 1..own.start].trim_start_matches(' ').is_empty() {
            return self.apply(vec![(comma..own.end, String::new())]);
        }
        self.apply(vec![(comma..comma + 1, String::new()), (own, String::new())])
    }

    /// The lines of a map or list with the line breaks of this file.
    fn block(&self, value: &Value, indent: usize) -> String {
        yaml::block(value, indent, self.step).replace('\n', self.line_break)
    }

    /// Puts lines where a line starts; a last line without line break gets one.
    fn put_lines(&self, at: usize, lines: String) -> Edit {
        let missing = !self.text[..at].is_empty() && !self.text[..at].ends_with('\n');
        let line_break = if missing { self.line_break } else { "" };
        (at..at, format!("{line_break}{lines}"))
    }

    /// The text with the edits made.
    fn apply(&self, mut edits: Vec<Edit>) -> String {
        edits.sort_by_key(|(range, _)| range.start);
        let mut edited = String::with_capacity(self.text.len());
        let mut behind = 0;
        for (range, new) in edits {
            edited.push_str(&self.text[behind..range.start]);
            edited.push_str(&new);
            behind = range.end;
        }
        edited.push_str(&self.text[behind..]);
        edited
    }

    /// Where the colon of an entry ends; where its key ends if it has none.
    fn behind_colon(&self, entry: &Entry) -> usize {
        let end = entry.key_span.end;
        let colon = end + gap(&self.text[end..]);
        if self.text[colon..].starts_with(':') {
            colon + 1
        } else {
            end
        }
    }

    /// Where the line of a byte starts.
    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset]
            .rfind('\n')
            .map_or(0, |line_break| line_break + 1)
    }

    /// Where the line behind a byte starts.
    fn line_end(&self, offset: usize) -> usize {
        self.text[offset..]
            .find('\n')
            .map_or(self.text.len(), |line_break| offset + line_break + 1)
    }

    /// How many spaces stand before a byte on its line.
    fn column(&self, offset: usize) -> usize {
        offset - self.line_start(offset)
    }

    /// Where the line behind an entry starts.
    fn lines_end(&self, entry: &Entry) -> usize {
        let end = entry.value.span.end;
        // Block text that keeps its blank lines ends where the next line starts.
        if self.text[..end].ends_with('\n') {
            end
        } else {
            self.line_end(end)
        }
    }

    /// Where the line behind an entry and the comments inside it starts: comment lines that are indented deeper than
    /// its key. Left alone, they could become lines of block text above.
    fn inside_end(&self, entry: &Entry) -> usize {
        let indent = self.column(entry.key_span.start);
        let mut end = self.lines_end(entry);
        let mut next = end;
        while next < self.text.len() {
            let line = &self.text[next..self.line_end(next)];
            next += line.len();
            let content = line.trim_start_matches(' ');
            if content.starts_with('#') && line.len() - content.len() > indent {
                end = next;
            } else if !content.trim_end().is_empty() {
                break;
            }
        }
        end
    }

    /// Where the comment lines start that belong to an entry; without them, where its line starts.
    fn owned_comments(&self, entry: &Entry) -> usize {
        let own = self.line_start(entry.key_span.start);
        let indent = &self.text[own..entry.key_span.start];
        let mut start = own;
        while start > 0 {
            let above = self.line_start(start - 1);
            let line = &self.text[above..start];
            if !line
                .strip_prefix(indent)
                .is_some_and(|content| content.starts_with('#'))
            {
                return start;
            }
            start = above;
        }
        // All lines above are comments: they belong to the file.
        own
    }
}

/// How far the first map inside the root is indented from its key.
fn step<'a>(root: &'a Node) -> Option<usize> {
    let column = |entry: &Entry| entry.key_at.column as usize;
    let block = |node: &'a Node| node.as_map().filter(|_| node.style == Style::Block);
    block(root)?.iter().find_map(|entry| {
        let first = block(&entry.value)?.first()?;
        Some(column(first) - column(entry))
    })
}
