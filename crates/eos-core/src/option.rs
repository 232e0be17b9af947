//! Options: their types, and how a value given as words or in the pillar becomes a checked one.

use crate::diagnostic::Position;
use crate::image::Reference;
use crate::name::{self, Sort, quoted};
use crate::recipe::OptionSpec;
use crate::runtime;
use crate::template::Template;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// What the pillar holds in place of a secret value.
pub const HIDDEN: &str = "***";

/// The longest text an option may hold, in bytes: Linux gives a task no variable of 128 KiB or more.
pub const TEXT_LIMIT: usize = 64 << 10;

/// Terraform and Nomad keep text in normal form C: any other would come out changed.
const NORMAL: icu_normalizer::ComposingNormalizerBorrowed<'static> =
    icu_normalizer::ComposingNormalizerBorrowed::new_nfc();

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionType {
    String,
    Integer,
    Flag,
    Port,
    Size,
    Duration,
    Path,
    Domain,
    /// The name of a container image, with its digest.
    Image,
    Choice(Vec<String>),
    /// A list of values of one type.
    List(Box<OptionType>),
    /// The name of a component, where a recipe uses one. Recipes cannot write it: it comes with `uses`.
    Component,
    Secret,
}

impl OptionType {
    pub const WORDS: &'static [&'static str] = &[
        "string", "integer", "flag", "port", "size", "duration", "path", "domain", "image", "choice", "list",
        "secret",
    ];

    /// The type that a recipe names; `of` is what a list is made of.
    pub fn from_word(word: &str, choices: Vec<String>, of: &str) -> Option<Self> {
        Some(match word {
            "string" => Self::String,
            "integer" => Self::Integer,
            "flag" => Self::Flag,
            "port" => Self::Port,
            "size" => Self::Size,
            "duration" => Self::Duration,
            "path" => Self::Path,
            "domain" => Self::Domain,
            "image" => Self::Image,
            "choice" => Self::Choice(choices),
            "list" if !["list", "secret", "image"].contains(&of) => {
                Self::List(Box::new(Self::from_word(of, choices, "string")?))
            }
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
            Self::Duration => "duration",
            Self::Path => "path",
            Self::Domain => "domain",
            Self::Image => "image",
            Self::Choice(_) => "choice",
            Self::List(_) => "list",
            Self::Component => "component",
            Self::Secret => "secret",
        }
    }

    /// What stands for a value on a command line.
    pub fn value_name(&self) -> &'static str {
        match self {
            Self::String => "TEXT",
            Self::Integer => "NUMBER",
            Self::Flag => "BOOLEAN",
            Self::Port => "PORT",
            Self::Size => "SIZE",
            Self::Duration => "DURATION",
            Self::Path => "PATH",
            Self::Domain => "DOMAIN",
            Self::Image => "IMAGE",
            Self::List(_) => "LIST",
            Self::Component => "COMPONENT",
            Self::Choice(_) => "CHOICE",
            Self::Secret => "SECRET",
        }
    }

    /// Whether a value goes along from one environment to the next: what a component does, not where it is.
    pub fn is_promoted(&self) -> bool {
        match self {
            Self::List(of) => of.is_promoted(),
            _ => !matches!(
                self,
                Self::Port | Self::Path | Self::Domain | Self::Component | Self::Secret
            ),
        }
    }

    /// A value as a person typed it; the items of a list are separated by commas.
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
            Self::List(of) => {
                let items = words.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(|item| of.from_words(item)).collect()
            }
            // Programs that get it as it stands know the unit in capitals.
            Self::Size => match words.strip_suffix(['k', 'm', 'g', 't']) {
                Some(number) => {
                    self.check(format!("{number}{}", words[number.len()..].to_uppercase()).into())
                }
                None => self.check(Value::from(words)),
            },
            // Its digest is found before the pillar has it.
            Self::Image => words.parse().map(|image: Reference| image.to_string().into()),
            _ => self.check(Value::from(words)),
        }
    }

    /// A value as the pillar or a recipe's default has it, in the one form that templates see.
    pub fn check(&self, value: Value) -> Result<Value, String> {
        let wanted = match self {
            Self::Integer | Self::Port if !value.is_i64() => "a whole number",
            Self::Flag if !value.is_boolean() => "true or false",
            Self::List(_) if !value.is_array() => "a list",
            Self::Integer | Self::Port | Self::Flag | Self::List(_) => return self.check_content(value),
            _ if !value.is_string() => "text",
            _ => return self.check_content(value),
        };
        Err(match value {
            Value::String(text) => format!("{} is not {wanted}", quoted(&text)),
            Value::Array(_) => format!("a list is not {wanted}"),
            Value::Object(_) => format!("a map is not {wanted}"),
            other => format!("{other} is not {wanted}"),
        })
    }

    fn check_content(&self, value: Value) -> Result<Value, String> {
        let text = value.as_str().unwrap_or_default();
        if text.contains('\0') {
            return Err("it contains a NUL character, which no engine can carry".to_owned());
        }
        if text.len() > TEXT_LIMIT {
            return Err(format!(
                "it is {} bytes long, and a task takes at most {TEXT_LIMIT}",
                text.len()
            ));
        }
        if !NORMAL.is_normalized(text) {
            return Err(format!(
                "{} is not in Unicode normal form C, into which Terraform would change it",
                quoted(text)
            ));
        }
        if runtime::has_mark(text) {
            return Err("it contains a noncharacter, which Eos reserves for its own marks".to_owned());
        }
        match self {
            Self::Port if !value.as_i64().is_some_and(|port| (1..=65535).contains(&port)) => {
                Err(format!("{value} is not a port between 1 and 65535"))
            }
            Self::Path if !is_absolute(text) => Err(format!(
                "{} is not an absolute path without . and ..",
                quoted(text)
            )),
            Self::Size => bytes(text).map(|_| value.clone()),
            Self::Duration => milliseconds(text).map(|length| Value::from(go_duration(length))),
            Self::Domain => domain(text).map(Value::from),
            Self::Image => match text.parse::<Reference>()?.digest {
                Some(_) => Ok(value),
                None => Err(format!(
                    "{} has no digest, so that the name may mean another image tomorrow; a command finds the digest",
                    quoted(text)
                )),
            },
            Self::Component => match name::problem(Sort::Component, text) {
                Some(problem) => Err(problem),
                None => Ok(value),
            },
            Self::Choice(choices) if !choices.iter().any(|choice| choice == text) => {
                Err(format!("{} is not one of {}", quoted(text), choices.join(", ")))
            }
            Self::List(of) => match value {
                Value::Array(items) => items.into_iter().map(|item| of.check(item)).collect(),
                other => Ok(other),
            },
            _ => Ok(value),
        }
    }

    /// How much a value is, where a type has a measure: for bounds.
    pub fn measure(&self, value: &Value) -> Option<u64> {
        match self {
            Self::Integer => value.as_u64(),
            Self::Size => value.as_str().and_then(|text| bytes(text).ok()),
            Self::Duration => value.as_str().and_then(|text| milliseconds(text).ok()),
            _ => None,
        }
    }
}

impl OptionSpec {
    /// The value, if the recipe's own rules allow it: type, pattern, bounds.
    pub fn check(&self, value: Value) -> Result<Value, String> {
        if self.is_optional() && value.is_null() {
            return Ok(value);
        }
        let value = self.kind.check(value)?;
        if let Some(pattern) = &self.pattern {
            let items = value
                .as_array()
                .map_or(std::slice::from_ref(&value), Vec::as_slice);
            for text in items.iter().filter_map(Value::as_str) {
                if !pattern.is_match(text) {
                    let shape = self.shown_pattern().unwrap_or_default();
                    return Err(format!("{} does not match {shape}", quoted(text)));
                }
            }
        }
        if let (Some(min), true) = (self.min, value.as_i64().is_some_and(i64::is_negative)) {
            return Err(format!("{value} is less than {}", self.shown_bound(min)));
        }
        if let Some(measure) = self.kind.measure(&value) {
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if let Some(min) = self.min.filter(|min| measure < *min) {
                return Err(format!("{shown} is less than {}", self.shown_bound(min)));
            }
            if let Some(max) = self.max.filter(|max| measure > *max) {
                return Err(format!("{shown} is more than {}", self.shown_bound(max)));
            }
        }
        Ok(value)
    }

    pub fn shown_bound(&self, bound: u64) -> String {
        match self.kind {
            OptionType::Size => human_size(bound),
            OptionType::Duration => go_duration(bound),
            _ => bound.to_string(),
        }
    }

    /// The pattern as the recipe has it.
    pub fn shown_pattern(&self) -> Option<&str> {
        let whole = self.pattern.as_ref()?.as_str();
        whole.strip_prefix("^(?:")?.strip_suffix(")$")
    }

    /// A person may leave it out, and then there is none.
    pub fn is_optional(&self) -> bool {
        self.default.as_ref().and_then(Template::literal) == Some(&Value::Null)
    }
}

/// Whether a path is absolute, says what it means, and is not longer than Linux takes.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
        && path.len() < 4096
        && path.split('/').all(|part| part.len() <= 255)
        && !path.chars().any(char::is_control)
        && path
            .split('/')
            .skip(1)
            .all(|part| !matches!(part, "" | "." | ".."))
}

/// A duration as people write it (500ms, 90s, 5m, 1h30m, 2d), in milliseconds.
pub fn milliseconds(text: &str) -> Result<u64, String> {
    let refuse = || format!("{} is not a duration such as 90s, 5m, 1h30m or 2d", quoted(text));
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u64 = rest[..digits].parse().map_err(|_| refuse())?;
        rest = &rest[digits..];
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let unit = match &rest[..letters] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(refuse()),
        };
        rest = &rest[letters..];
        total = number
            .checked_mul(unit)
            .and_then(|part| total.checked_add(part))
            .filter(|total| *total <= 100 * 366 * 86_400_000)
            .ok_or_else(refuse)?;
    }
    if text.is_empty() { Err(refuse()) } else { Ok(total) }
}

/// A duration as all engines read it: they know hours, but no days.
fn go_duration(milliseconds: u64) -> String {
    let mut out = String::new();
    let mut rest = milliseconds;
    for (unit, length) in [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
        if rest >= length {
            out.push_str(&format!("{}{unit}", rest / length));
            rest %= length;
        }
    }
    if out.is_empty() { "0s".to_owned() } else { out }
}

/// A host name in lower case. Letters outside of ASCII are refused: look-alikes are how people are deceived.
pub fn domain(text: &str) -> Result<String, String> {
    let lower = text.to_ascii_lowercase();
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match lower.len() <= 253 && lower.split('.').all(label) {
        true => Ok(lower),
        false => Err(format!(
            "{} is not a domain name in letters a to z, digits, hyphens and dots",
            quoted(text)
        )),
    }
}

/// A size as people write it (5G, 1.5T, 100GiB, 256mb), in bytes; units are powers of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let refuse = || format!("{} is not a size such as 512M, 5G or 1.5T", quoted(text));
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "ki" | "kib" => 1,
        "m" | "mb" | "mi" | "mib" => 2,
        "g" | "gb" | "gi" | "gib" => 3,
        "t" | "tb" | "ti" | "tib" => 4,
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

/// What is possible at all of the figures that every recipe has. Nomad gives no instance less than 10 MiB.
pub const REPLICAS: RangeInclusive<u32> = 1..=1000;
pub const CPU: RangeInclusive<u32> = 1..=1_000_000;
pub const MEMORY: RangeInclusive<u32> = 10..=10_000_000;

/// Options of instances, whose value the environment's table gives where nobody else does.
pub fn is_figure(option: &str) -> bool {
    matches!(option, "replicas" | "cpu" | "memory")
}

/// Options that every recipe has. Where there is no default, the environment's table gives the value.
pub static BUILT_IN: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    let option = |name: &str, kind, help: &str| OptionSpec {
        name: name.to_owned(),
        kind,
        default: None,
        generate: None,
        not_rotated: None,
        help: help.to_owned(),
        when: None,
        pattern: None,
        min: None,
        max: None,
        promote: false,
        at: Position { line: 0, column: 0 },
    };
    let figure = |name: &str, bounds: RangeInclusive<u32>, help: &str| OptionSpec {
        min: Some((*bounds.start()).into()),
        max: Some((*bounds.end()).into()),
        ..option(name, OptionType::Integer, help)
    };
    vec![
        figure("replicas", REPLICAS, "How many instances run"),
        figure("cpu", CPU, "Processor share of an instance, in MHz"),
        figure("memory", MEMORY, "Memory of an instance, in MiB"),
        OptionSpec {
            default: Some(Template::constant("dc1")),
            ..option(
                "datacenter",
                OptionType::String,
                "Datacenter the instances run in",
            )
        },
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
        assert_eq!(bytes("10g"), Ok(10 << 30));
        assert_eq!(bytes("256mb"), Ok(256 << 20));
        assert_eq!(bytes("16GB"), Ok(16 << 30));
        assert_eq!(bytes("512Mi"), Ok(512 << 20));
        assert_eq!(OptionType::Size.from_words("1.5t"), Ok("1.5T".into()));
        assert_eq!(OptionType::Size.from_words("100GiB"), Ok("100GiB".into()));
        for bad in ["", "G", "g", "5X", "5gx", "5 gb", "-1G", "1e400G", "0"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
        assert_eq!(human_size(5 << 30), "5 GiB");
        assert_eq!(human_size(3 << 29), "1.5 GiB");
    }

    #[test]
    fn values_have_one_form() {
        let check = |kind: OptionType, words: &str| kind.from_words(words).unwrap();
        assert_eq!(check(OptionType::Duration, "2d"), "48h");
        assert_eq!(check(OptionType::Duration, "90s"), "1m30s");
        assert_eq!(check(OptionType::Domain, "Wiki.Example.org"), "wiki.example.org");
        let list = OptionType::List(Box::new(OptionType::Integer));
        assert_eq!(check(list, "1, 2,,3"), serde_json::json!([1, 2, 3]));
    }

    #[test]
    fn an_image_of_the_pillar_has_its_digest() {
        let typed = OptionType::Image.from_words("caddy").unwrap();
        assert_eq!(typed, "caddy:latest");
        assert!(
            OptionType::Image
                .check(typed)
                .unwrap_err()
                .contains("has no digest")
        );
        let pinned = Value::from(format!("caddy:2@sha256:{}", "0".repeat(64)));
        assert_eq!(OptionType::Image.check(pinned.clone()), Ok(pinned));
        assert!(OptionType::Image.from_words("Caddy").is_err());
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
            (OptionType::String, "a\u{FDD0}b"),
            (OptionType::Duration, ""),
            (OptionType::Duration, "5"),
            (OptionType::Duration, "5x"),
            (OptionType::Duration, "99999999999999999999s"),
            (OptionType::Domain, "a..b"),
            (OptionType::Domain, "-a.b"),
            (OptionType::Domain, "раypal.com"),
            (OptionType::Domain, "a b.com"),
            (OptionType::List(Box::new(OptionType::Port)), "80,x"),
        ] {
            assert!(kind.from_words(bad).is_err(), "{kind:?} {bad:?}");
        }
    }
}
