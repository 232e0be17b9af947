//! HCL as `terraform fmt` writes it: one small tree, one printer, every literal escaped in one place.

use std::fmt::Write;

/// The contents of a file or a block.
#[derive(Default)]
pub struct Body {
    items: Vec<Item>,
}

enum Item {
    Attribute(String, Expression),
    Block(String, Vec<String>, Body),
    Blank,
}

#[derive(Clone)]
pub enum Expression {
    /// A literal text.
    Text(String),
    Number(i64),
    Bool(bool),
    /// HCL as it stands: a reference or a call.
    Raw(String),
    List(Vec<Expression>),
    /// Keys are attribute names, one a line.
    Map(Vec<(String, Expression)>),
}

impl From<&str> for Expression {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Expression {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Expression {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

pub fn raw(text: impl Into<String>) -> Expression {
    Expression::Raw(text.into())
}

impl Body {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Expression>) -> Self {
        self.items.push(Item::Attribute(name.into(), value.into()));
        self
    }

    /// A block, set off from what precedes it by an empty line.
    pub fn block(mut self, kind: &str, labels: &[&str], body: Body) -> Self {
        if !matches!(self.items.last(), None | Some(Item::Blank)) {
            self.items.push(Item::Blank);
        }
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self.items.push(Item::Block(kind.to_owned(), labels, body));
        self
    }

    pub fn print(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        for (index, item) in self.items.iter().enumerate() {
            match item {
                Item::Blank => {}
                Item::Attribute(name, value) => {
                    let width = if value.is_one_line() {
                        self.aligned_width(index)
                    } else {
                        name.len()
                    };
                    let _ = write!(out, "{indent}{name:width$} = ");
                    value.write(out, depth);
                }
                Item::Block(kind, labels, body) => {
                    let _ = write!(out, "{indent}{kind}");
                    for label in labels {
                        let _ = write!(out, " {}", quote(label));
                    }
                    if body.items.is_empty() {
                        out.push_str(" {}");
                    } else {
                        out.push_str(" {\n");
                        body.write(out, depth + 1);
                        let _ = write!(out, "{indent}}}");
                    }
                }
            }
            out.push('\n');
        }
    }

    /// Width of the names in the run of one-line attributes round `index`: their `=` stand below each other.
    fn aligned_width(&self, index: usize) -> usize {
        let width = |item: &Item| match item {
            Item::Attribute(name, value) if value.is_one_line() => Some(name.len()),
            _ => None,
        };
        let before = self.items[..index].iter().rev().map_while(width);
        let after = self.items[index..].iter().map_while(width);
        before.chain(after).max().unwrap_or(0)
    }
}

impl Expression {
    fn is_one_line(&self) -> bool {
        !matches!(self, Self::Map(entries) if !entries.is_empty())
    }

    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Self::Text(text) => out.push_str(&quote(text)),
            Self::Number(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Bool(flag) => {
                let _ = write!(out, "{flag}");
            }
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
                let mut body = Body::new();
                for (name, value) in entries {
                    body.items.push(Item::Attribute(name.clone(), value.clone()));
                }
                out.push_str("{\n");
                body.write(out, depth + 1);
                let _ = write!(out, "{}}}", "  ".repeat(depth));
            }
        }
    }
}

/// A literal in double quotes that no reader of HCL evaluates.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
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
    out.push('"');
    out
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
