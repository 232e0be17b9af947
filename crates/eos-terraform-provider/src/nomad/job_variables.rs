//! Owns how `hcl2 { vars }` reaches Nomad: as the text of a variables file, with every value quoted so that
//! the job sees exactly what Terraform held.

use std::collections::BTreeMap;
use std::fmt::Write;

/// How a job declares a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Declared {
    /// string, number, bool or no type: the value is taken as it stands.
    Plain,
    /// list, map, object, ...: the value is an HCL expression.
    Expression,
}

/// The text of a variables file. `declared` says which values are expressions.
pub fn file<'a>(
    values: impl IntoIterator<Item = (&'a String, &'a String)>,
    declared: &BTreeMap<String, Declared>,
) -> String {
    let mut text = String::new();
    for (name, value) in values {
        let value = match declared.get(name) {
            Some(Declared::Expression) => value.clone(),
            Some(Declared::Plain) | None => quote(value),
        };
        writeln!(text, "{name} = {value}").expect("writing to memory does not fail");
    }
    text
}

/// An HCL string. `$` and `%` before `{` are written as code points: unlike doubling, that is right after
/// any other `$` and `%` too.
fn quote(value: &str) -> String {
    let mut quoted = String::from("\"");
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '$' if characters.peek() == Some(&'{') => quoted.push_str("\\u0024"),
            '%' if characters.peek() == Some(&'{') => quoted.push_str("\\u0025"),
            control if control.is_control() => {
                write!(quoted, "\\u{:04x}", u32::from(control)).expect("writing to memory does not fail");
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a name can stand at the start of a line of a variables file.
pub fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// The variables that a job declares, by its `variable` and `variables` blocks.
pub fn declared(jobspec: &str) -> BTreeMap<String, Declared> {
    let tokens = tokens(jobspec);
    let mut found = BTreeMap::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at..] {
            [
                Token::Word("variable"),
                Token::Word(name) | Token::Text(name),
                Token::Open,
                body @ ..,
            ] if depth == 0 => {
                found.insert((*name).to_owned(), declared_type(body));
            }
            [Token::Word("variables"), Token::Open, body @ ..] if depth == 0 => found.extend(defaults(body)),
            _ => {}
        }
        match tokens[at] {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    found
}

fn declared_type(body: &[Token<'_>]) -> Declared {
    let mut depth = 0_usize;
    for (at, token) in body.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close if depth == 0 => break,
            Token::Close => depth -= 1,
            Token::Word("type") if depth == 0 && body.get(at + 1) == Some(&Token::Equals) => {
                return match body.get(at + 2) {
                    Some(Token::Word("string" | "number" | "bool")) => Declared::Plain,
                    _ => Declared::Expression,
                };
            }
            _ => {}
        }
    }
    Declared::Plain
}

/// The variables of a `variables` block, which gives defaults without types.
fn defaults(body: &[Token<'_>]) -> BTreeMap<String, Declared> {
    let mut found = BTreeMap::new();
    let mut depth = 0_usize;
    for (at, token) in body.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close if depth == 0 => break,
            Token::Close => depth -= 1,
            Token::Word(name) if depth == 0 && body.get(at + 1) == Some(&Token::Equals) => {
                let plain = matches!(body.get(at + 2), Some(Token::Text(_) | Token::Word(_)));
                let declared = if plain {
                    Declared::Plain
                } else {
                    Declared::Expression
                };
                found.insert((*name).to_owned(), declared);
            }
            _ => {}
        }
    }
    found
}

/// As much of HCL's tokens as is needed to find blocks and attributes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    Open,
    Close,
    Equals,
    Other,
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if first == '#' || rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = heredoc(rest) {
            tokens.push(Token::Other);
            length
        } else if first == '"' {
            let length = quoted(rest);
            tokens.push(Token::Text(rest[..length].trim_matches('"')));
            length
        } else if first.is_alphanumeric() || first == '_' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..length]));
            length
        } else {
            tokens.push(match first {
                '{' => Token::Open,
                '}' => Token::Close,
                '=' => Token::Equals,
                _ => Token::Other,
            });
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of a quoted string, with the strings that its `${...}` may hold.
fn quoted(source: &str) -> usize {
    // One entry for each string and each brace that is open; true: a string.
    let mut in_text = vec![true];
    let mut characters = source.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        let text = in_text.last().copied().unwrap_or(true);
        match character {
            '\\' if text => {
                characters.next();
            }
            '$' | '%' if text && characters.peek().is_some_and(|(_, next)| *next == '{') => {
                // `$${` is text; the brace is then no interpolation.
                let escaped = source[..at].ends_with(character);
                characters.next();
                if !escaped {
                    in_text.push(false);
                }
            }
            '{' if !text => in_text.push(false),
            '}' if !text => {
                in_text.pop();
            }
            '"' if text => {
                in_text.pop();
                if in_text.is_empty() {
                    return at + 1;
                }
            }
            '"' => in_text.push(true),
            _ => {}
        }
    }
    source.len()
}

/// The length of a heredoc (`<<EOF`, `<<-EOF`), if one starts here.
fn heredoc(source: &str) -> Option<usize> {
    let head = source.strip_prefix("<<")?;
    let head = head.strip_prefix('-').unwrap_or(head);
    let line = head.lines().next()?;
    let marker = line.trim_end();
    if !is_name(marker) {
        return None;
    }
    let mut length = source.len() - head.len() + line.len();
    for line in source[length..].split_inclusive('\n') {
        length += line.len();
        if line.trim() == marker {
            return Some(length);
        }
    }
    Some(source.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting() {
        for (value, quoted) in [
            ("plain", r#""plain""#),
            ("", r#""""#),
            ("say \"hi\"", r#""say \"hi\"""#),
            ("a\\b", r#""a\\b""#),
            ("two\nlines\r\t", r#""two\nlines\u000d\u0009""#),
            ("${var.x}", r#""\u0024{var.x}""#),
            ("$${x}", r#""$\u0024{x}""#),
            ("%{ if true }", r#""\u0025{ if true }""#),
            ("100% of $5", r#""100% of $5""#),
            ("ünïcode", r#""ünïcode""#),
        ] {
            assert_eq!(quote(value), quoted, "{value}");
        }
    }

    #[test]
    fn a_line_for_each_variable() {
        let values = BTreeMap::from([
            ("image".to_owned(), "a:1".to_owned()),
            ("zones".to_owned(), "[\"a\", \"b\"]".to_owned()),
        ]);
        let declared = BTreeMap::from([("zones".to_owned(), Declared::Expression)]);
        assert_eq!(
            file(&values, &declared),
            "image = \"a:1\"\nzones = [\"a\", \"b\"]\n"
        );
    }

    #[test]
    fn declarations_are_found_and_nothing_else() {
        let jobspec = r#"
            # variable "comment" {}
            variable "image" {
              type        = string
              description = "a } brace and \" a quote"
            }
            variable zones { type = list(string) }
            variable "options" {
              default = { type = "number" }
              type = object({ a = string })
            }
            variable "untyped" { default = "${upper("}")}" }
            /* variable "block" {} */
            job "web" {
              variable "inside" {}
              template {
                data = <<-EOF
                variable "heredoc" {}
                EOF
              }
            }
            variables {
              port  = 80
              hosts = ["a"]
            }
            variable "last" { type = number }
        "#;
        let expected = BTreeMap::from([
            ("image".to_owned(), Declared::Plain),
            ("zones".to_owned(), Declared::Expression),
            ("options".to_owned(), Declared::Expression),
            ("untyped".to_owned(), Declared::Plain),
            ("port".to_owned(), Declared::Plain),
            ("hosts".to_owned(), Declared::Expression),
            ("last".to_owned(), Declared::Plain),
        ]);
        assert_eq!(declared(jobspec), expected);
    }

    #[test]
    fn names_that_can_be_variables() {
        assert!(is_name("image_tag-2"));
        for name in ["", "2nd", "a b", "a=\"x\"\nb"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
