//! What a plain scalar means: to YAML 1.2, to Salt's loader, and to Eos, which takes only what both read alike.

use super::Value;
use regex::Regex;
use std::sync::LazyLock;

/// Numbers of the YAML 1.2 core schema.
static CORE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        "[-+]?[0-9]+",
        "0o[0-7]+",
        "0x[0-9a-fA-F]+",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
        r"[-+]?\.(?:inf|Inf|INF)",
        r"\.(?:nan|NaN|NAN)",
    ])
});

/// Numbers as Salt's loader resolves them: YAML 1.1 with binary, octal, base 60 and `_` between digits.
static SALT_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        "[-+]?0b[0-1_]+",
        "[-+]?0[0-7_]+",
        "[-+]?(?:0|[1-9][0-9_]*)",
        "[-+]?0x[0-9a-fA-F_]+",
        "[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
        r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?",
        r"\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
        r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*",
        r"[-+]?\.(?:inf|Inf|INF)",
        r"\.(?:nan|NaN|NAN)",
    ])
});

/// Whole numbers that both read alike. A leading zero is left out: it says octal to one reader and to people.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| pattern(&["[-+]?(?:0|[1-9][0-9]*)"]));

/// Numbers with a point that both read alike: an exponent needs its sign, a sign needs a digit before the point.
static POINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?",
        r"\.[0-9]+(?:[eE][-+][0-9]+)?",
    ])
});

fn pattern(alternatives: &[&str]) -> Regex {
    Regex::new(&format!("^(?:{})$", alternatives.join("|"))).expect("the patterns of this module are valid")
}

/// The value of a plain scalar, or why it is refused: a clause that follows "`text` is refused: ".
pub(super) fn resolve(plain: &str) -> Result<Value, String> {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Err("Salt reads it as true".to_owned()),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Err("Salt reads it as false".to_owned()),
        "=" | "<<" => return Err("Salt gives it a meaning of its own".to_owned()),
        _ => {}
    }
    if !plain.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return Ok(Value::String(plain.to_owned()));
    }
    if WHOLE.is_match(plain) {
        return whole(plain, 10);
    }
    if let Some(digits) = plain.strip_prefix("0x")
        && CORE_NUMBER.is_match(plain)
    {
        return whole(digits, 16);
    }
    if POINT.is_match(plain) {
        let number: f64 = plain.parse().map_err(|_| "it is not a number".to_owned())?;
        return if number.is_finite() {
            Ok(Value::Float(number))
        } else {
            Err(TOO_LARGE.to_owned())
        };
    }
    match (CORE_NUMBER.is_match(plain), SALT_NUMBER.is_match(plain)) {
        (false, false) => Ok(Value::String(plain.to_owned())),
        (true, true) if plain.contains(['i', 'I', 'n', 'N']) => {
            Err("it is a number that JSON cannot hold".to_owned())
        }
        (true, true) => Err("its leading zero means octal to some readers".to_owned()),
        (true, false) => Err("YAML 1.2 reads a number and Salt reads text".to_owned()),
        (false, true) => Err("Salt reads a number and YAML 1.2 reads text".to_owned()),
    }
}

const TOO_LARGE: &str = "the number is too large";

fn whole(digits: &str, radix: u32) -> Result<Value, String> {
    i64::from_str_radix(digits, radix)
        .map(Value::Integer)
        .map_err(|_| TOO_LARGE.to_owned())
}
