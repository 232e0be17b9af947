//! HCL as `terraform fmt` writes it: one small tree, one printer, every literal escaped in one place.

use super::ROOM;
use std::borrow::Cow;
use std::fmt::Write;

/// The contents of a file or a block.
#[derive(Default)]
pub struct Body<'a> {
    items: Vec<Item<'a>>,
}

enum Item<'a> {
    Attribute(Attribute<'a>),
    /// What stands before the brace, and what stands in it.
    Block(String, Body<'a>),
    Blank,
}

type Attribute<'a> = (Cow<'a, str>, Expression<'a>);

pub enum Expression<'a> {
    /// A literal text.
    Text(Cow<'a, str>),
    Number(i64),
    Bool(bool),
    /// HCL as it stands: a reference or a call.
    Raw(Cow<'a, str>),
    List(Vec<Expression<'a>>),
    /// Keys are attribute names, one a line.
    Map(Vec<(Cow<'a, str>, Expression<'a>)>),
}

impl<'a> From<&'a str> for Expression<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Expression<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Expression<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Expression<'_> {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

pub fn raw<'a>(text: impl Into<Cow<'a, str>>) -> Expression<'a> {
    Expression::Raw(text.into())
}

impl<'a> Body<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn attribute(mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Expression<'a>>) -> Self {
        self.items.push(Item::Attribute((name.into(), value.into())));
        self
    }

    /// A block, set off from what precedes it by an empty line.
    pub fn block(mut self, kind: &str, labels: &[&str], body: Body<'a>) -> Self {
        if !matches!(self.items.last(), None | Some(Item::Blank)) {
            self.items.push(Item::Blank);
        }
        let mut head = kind.to_owned();
        for label in labels {
            head.push(' ');
            quote(&mut head, label);
        }
        self.items.push(Item::Block(head, body));
        self
    }

    pub fn print(&self) -> String {
        let mut out = String::with_capacity(ROOM);
        self.write(&mut out, 0);
        // A compilation keeps what is printed here: no room is left at its end.
        out.shrink_to_fit();
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        let mut width = None;
        for (index, item) in self.items.iter().enumerate() {
            match item {
                Item::Blank => {}
                Item::Attribute(attribute) => {
                    let run = self.items[index..].iter().map_while(|item| match item {
                        Item::Attribute(attribute) => Some(attribute),
                        _ => None,
                    });
                    write_attribute(out, depth, attribute, run, &mut width);
                }
                Item::Block(head, body) => {
                    indent(out, depth);
                    out.push_str(head);
                    if body.items.is_empty() {
                        out.push_str(" {}");
                    } else {
                        out.push_str(" {\n");
                        body.write(out, depth + 1);
                        indent(out, depth);
                        out.push('}');
                    }
                }
            }
            if !matches!(item, Item::Attribute(_)) {
                width = None;
            }
            out.push('\n');
        }
    }
}

/// Writes one attribute. `run` are the attributes from this one on; `width` is that of the names in the run of one-line
/// attributes it belongs to, whose `=` stand below each other, once the first of them has been written.
fn write_attribute<'b, 'a: 'b>(
    out: &mut String,
    depth: usize,
    (name, value): &Attribute<'a>,
    run: impl Iterator<Item = &'b Attribute<'a>>,
    width: &mut Option<usize>,
) {
    indent(out, depth);
    out.push_str(name);
    if value.is_one_line() {
        let one_line = run.take_while(|(_, value)| value.is_one_line());
        let width = *width.get_or_insert_with(|| one_line.map(|(name, _)| name.len()).max().unwrap_or(0));
        out.extend(std::iter::repeat_n(
            ' ',
            width.saturating_sub(name.chars().count()),
        ));
    } else {
        *width = None;
    }
    out.push_str(" = ");
    value.write(out, depth);
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

impl Expression<'_> {
    fn is_one_line(&self) -> bool {
        !matches!(self, Self::Map(entries) if !entries.is_empty())
    }

    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Self::Text(text) => quote(out, text),
            Self::Number(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Raw(text) => out.push_str(text),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    item.write(out, depth);
                }
                out.push(']');
            }
            Self::Map(entries) if entries.is_empty() => out.push_str("{}"),
            Self::Map(entries) => {
                out.push_str("{\n");
                let mut width = None;
                for (index, entry) in entries.iter().enumerate() {
                    write_attribute(out, depth + 1, entry, entries[index..].iter(), &mut width);
                    out.push('\n');
                }
                indent(out, depth);
                out.push('}');
            }
        }
    }
}

/// Writes a literal in double quotes that no reader of HCL evaluates.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'$' | b'%');
    if text.bytes().all(is_plain) {
        out.push_str(text);
    } else {
        escape(out, text);
    }
    out.push('"');
}

fn escape(out: &mut String, text: &str) {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if rest.peek() == Some(&'{') => {
                out.push(c);
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_terraform_fmt_does() {
        let body = Body::new()
            .attribute("a", 1)
            .attribute("long", "x${y}\n")
            .attribute(
                "m",
                Expression::Map(vec![("k".into(), raw("var.k")), ("key".into(), true.into())]),
            )
            .attribute("z", Expression::List(vec!["p".into()]))
            .block("empty", &[], Body::new())
            .block("b", &["l"], Body::new().attribute("c", false));
        assert_eq!(
            body.print(),
            "a    = 1\nlong = \"x$${y}\\n\"\nm = {\n  k   = var.k\n  key = true\n}\nz = [\"p\"]\n\nempty {}\n\nb \"l\" {\n  c = false\n}\n"
        );
    }
}
