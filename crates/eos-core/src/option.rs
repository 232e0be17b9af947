//! Options: their types, and how a value given as words or in the pillar becomes a checked one.

use crate::diagnostic::Position;
use crate::name::quoted;
use crate::recipe::OptionSpec;
use crate::template::Template;
use serde_json::Value;
use std::sync::LazyLock;

/// What the pillar holds in place of a secret value.
pub const HIDDEN: &str = "***";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionType {
    String,
    Integer,
    Flag,
    Port,
    Size,
    Path,
    Choice(Vec<String>),
    Secret,
}

impl OptionType {
    pub const WORDS: &'static [&'static str] = &[
        "string", "integer", "flag", "port", "size", "path", "choice", "secret",
    ];

    pub fn from_word(word: &str, choices: Vec<String>) -> Option<Self> {
        Some(match word {
            "string" => Self::String,
            "integer" => Self::Integer,
            "flag" => Self::Flag,
            "port" => Self::Port,
            "size" => Self::Size,
            "path" => Self::Path,
            "choice" if !choices.is_empty() => Self::Choice(choices),
            "secret" => Self::Secret,
            _ => return None,
        })
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Flag => "flag",
            Self::Port => "port",
            Self::Size => "size",
            Self::Path => "path",
            Self::Choice(_) => "choice",
            Self::Secret => "secret",
        }
    }

    /// A value as a person typed it.
    pub fn from_words(&self, words: &str) -> Result<Value, String> {
        match self {
            Self::Integer | Self::Port => match words.parse::<i64>() {
                Ok(number) => self.check(Value::from(number)),
                Err(_) => Err(format!("{} is not a whole number", quoted(words))),
            },
            Self::Flag => match words {
                "true" | "yes" | "on" => Ok(Value::Bool(true)),
                "false" | "no" | "off" => Ok(Value::Bool(false)),
                _ => Err(format!("{} is neither true nor false", quoted(words))),
            },
            _ => self.check(Value::from(words)),
        }
    }

    /// A value as the pillar or a recipe's default has it.
    pub fn check(&self, value: Value) -> Result<Value, String> {
        let wanted = match self {
            Self::String | Self::Size | Self::Path | Self::Choice(_) | Self::Secret if !value.is_string() => {
                "text"
            }
            Self::Integer | Self::Port if !value.is_i64() => "a whole number",
            Self::Flag if !value.is_boolean() => "true or false",
            _ => return self.check_content(value),
        };
        let shown = value.as_str().map_or_else(|| value.to_string(), quoted);
        Err(format!("{shown} is not {wanted}"))
    }

    fn check_content(&self, value: Value) -> Result<Value, String> {
        let text = value.as_str().unwrap_or_default();
        if text.contains('\0') {
            return Err("it contains a NUL character, which no engine can carry".to_owned());
        }
        match self {
            Self::Port if !value.as_i64().is_some_and(|port| (1..=65535).contains(&port)) => {
                Err(format!("{value} is not a port between 1 and 65535"))
            }
            Self::Path if !absolute(text) => Err(format!(
                "{} is not an absolute path without . and ..",
                quoted(text)
            )),
            Self::Size => bytes(text).map(|_| value.clone()),
            Self::Choice(choices) if !choices.iter().any(|choice| choice == text) => {
                Err(format!("{} is not one of {}", quoted(text), choices.join(", ")))
            }
            _ => Ok(value),
        }
    }
}

fn absolute(path: &str) -> bool {
    path.starts_with('/')
        && !path.chars().any(char::is_control)
        && path
            .split('/')
            .skip(1)
            .all(|part| !matches!(part, "" | "." | ".."))
}

/// A size as people write it (5G, 1.5T, 100GiB), in bytes; units are powers of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let refuse = || format!("{} is not a size such as 512M, 5G or 1.5T", quoted(text));
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "KiB" | "k" => 1,
        "M" | "MiB" => 2,
        "G" | "GiB" => 3,
        "T" | "TiB" => 4,
        _ => return Err(refuse()),
    };
    let number: f64 = digits.parse().map_err(|_| refuse())?;
    let size = number * 1024f64.powi(unit);
    if size.is_finite() && (1.0..1e18).contains(&size) {
        Ok(size as u64)
    } else {
        Err(refuse())
    }
}

/// A size as Eos writes it.
pub fn human_size(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    if size.fract() == 0.0 {
        format!("{size} {unit}")
    } else {
        format!("{size:.1} {unit}")
    }
}

/// Options that every recipe has. Where there is no default, the environment's table gives the value.
pub static BUILT_IN: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    let option = |name: &str, kind, default: Option<&str>, help: &str| OptionSpec {
        name: name.to_owned(),
        kind,
        default: default.map(Template::constant),
        generate: None,
        help: help.to_owned(),
        at: Position { line: 0, column: 0 },
    };
    vec![
        option("replicas", OptionType::Integer, None, "How many instances run"),
        option(
            "cpu",
            OptionType::Integer,
            None,
            "Processor share of an instance, in MHz",
        ),
        option(
            "memory",
            OptionType::Integer,
            None,
            "Memory of an instance, in MiB",
        ),
        option(
            "datacenter",
            OptionType::String,
            Some("dc1"),
            "Datacenter the instances run in",
        ),
    ]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(bytes("5G"), Ok(5 << 30));
        assert_eq!(bytes("1.5T"), Ok(3 << 39));
        assert_eq!(bytes("100GiB"), Ok(100 << 30));
        for bad in ["", "G", "5X", "-1G", "1e400G", "0"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
        assert_eq!(human_size(5 << 30), "5 GiB");
        assert_eq!(human_size(3 << 29), "1.5 GiB");
    }

    #[test]
    fn values_are_checked_by_type() {
        assert_eq!(OptionType::Port.from_words("3000"), Ok(Value::from(3000)));
        for (kind, bad) in [
            (OptionType::Port, "0"),
            (OptionType::Port, "65536"),
            (OptionType::Integer, "x"),
            (OptionType::Path, "opt/x"),
            (OptionType::Path, "/opt/../etc"),
            (OptionType::Path, "/opt/\n"),
            (OptionType::Flag, "maybe"),
            (OptionType::Choice(vec!["a".into()]), "b"),
            (OptionType::String, "a\0b"),
        ] {
            assert!(kind.from_words(bad).is_err(), "{kind:?} {bad:?}");
        }
    }
}
