//! The secrets of a component, taken out of what its tasks wrote before anybody sees or keeps it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};

use crate::engines::Engines;
use crate::error::EngineError;
use crate::secrets::reveal;

/// What is shorter would take away half the words around it, and is no secret.
const SHORTEST: usize = 4;
/// What is shorter of a value in base64 stands in ordinary words too.
const SHORTEST_PIECE: usize = 6;
const MASK: &str = "***";

/// Values that are shown as `***`.
pub struct Hidden {
    /// The longest first, so that one value within another leaves nothing of it.
    values: Vec<SecretString>,
    forms: Vec<SecretString>,
}

impl Hidden {
    /// All that the component has, the versions before it, and what these operations have waiting for it or overwrote.
    pub async fn of(
        engines: &Engines,
        environment: &str,
        component: &str,
        operations: &[&str],
    ) -> Result<Self, EngineError> {
        let found = reveal(engines, environment, component, None, Some(operations)).await?;
        Ok(Self::new(found.into_values().collect()))
    }

    fn new(mut values: Vec<SecretString>) -> Self {
        values.retain(|value| value.expose_secret().len() >= SHORTEST);
        let longest = |value: &SecretString| std::cmp::Reverse(value.expose_secret().len());
        let mut forms: Vec<SecretString> = values.iter().flat_map(forms).collect();
        values.sort_by_key(longest);
        forms.sort_by_key(longest);
        Self { values, forms }
    }

    /// The text without the values. What is to be cut into lines is given whole: a value may have several.
    pub fn mask(&self, text: &str) -> String {
        let plain = self.forms.iter().fold(text.to_owned(), |text, form| {
            text.replace(form.expose_secret(), MASK)
        });
        self.values
            .iter()
            .fold(plain, |text, value| without_encoded(&text, value))
    }
}

/// A value as it is, as JSON has it, each of its lines, and in base64.
fn forms(value: &SecretString) -> Vec<SecretString> {
    let plain = value.expose_secret();
    let quoted = serde_json::Value::from(plain).to_string();
    let mut forms = vec![plain.to_owned(), quoted[1..quoted.len() - 1].to_owned()];
    forms.extend(plain.lines().map(|line| line.trim().to_owned()));
    forms.retain(|form| form.len() >= SHORTEST);
    forms.extend(in_base64(plain.as_bytes()));
    forms.into_iter().map(SecretString::from).collect()
}

/// The value by itself, and as the middle of something longer, such as `user:password`: the digits that are the value's
/// alone, wherever it begins.
fn in_base64(value: &[u8]) -> Vec<String> {
    let mut forms = vec![STANDARD.encode(value), URL_SAFE.encode(value)];
    for before in 0..3 {
        let bytes = [&[0; 2][..before], value].concat();
        let bytes = bytes.as_slice();
        let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for digits in [STANDARD_NO_PAD.encode(bytes), URL_SAFE_NO_PAD.encode(bytes)] {
            forms.extend(digits.get(first..end).map(str::to_owned));
        }
    }
    forms.retain(|form| form.len() >= SHORTEST_PIECE);
    forms
}

/// The text without the value where some of its bytes, or all, are percent-encoded as in an address.
fn without_encoded(text: &str, value: &SecretString) -> String {
    let value = value.expose_secret().as_bytes();
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match encoded_length(rest.as_bytes(), value) {
            Some(length) => {
                kept.push_str(MASK);
                rest = &rest[length..];
            }
            None => {
                kept.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    kept
}

/// How many bytes of the text are the value at its beginning.
fn encoded_length(text: &[u8], value: &[u8]) -> Option<usize> {
    let mut length = 0;
    for byte in value {
        length += match text.get(length..)? {
            [b'%', high, low, ..] if hexadecimal(*high, *low) == Some(*byte) => 3,
            [b'+', ..] if *byte == b' ' => 1,
            [found, ..] if found == byte => 1,
            _ => return None,
        };
    }
    Some(length)
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |letter: u8| char::from(letter).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[&str], text: &str) -> String {
        Hidden::new(values.iter().copied().map(SecretString::from).collect()).mask(text)
    }

    #[test]
    fn a_value_is_hidden_wherever_it_stands() {
        assert_eq!(mask(&["hunter22"], "pw=hunter22;hunter22\n"), "pw=***;***\n");
        assert_eq!(mask(&["abcd", "abcdefgh"], "abcdefgh abcd"), "*** ***");
        assert_eq!(mask(&["a\"bcd"], r#"{"pw":"a\"bcd"}"#), r#"{"pw":"***"}"#);
    }

    #[test]
    fn a_value_of_several_lines_is_hidden_whole_and_line_by_line() {
        let key = "-----BEGIN-----\nq83vEjRWeJA=\n-----END-----\n";
        assert_eq!(mask(&[key], key), "***");
        assert_eq!(mask(&[key], "  q83vEjRWeJA=\n"), "  ***\n");
    }

    #[test]
    fn a_value_is_hidden_as_an_address_has_it() {
        let value = "p@ss w/rd%41é";
        for text in [
            "p%40ss%20w%2Frd%2541%C3%A9",
            "p%40ss+w%2frd%2541%c3%a9",
            "p@ss%20w/rd%2541é",
            "p@ss w/rd%41é",
        ] {
            let url = format!("postgres://web:{text}@db/é");
            assert_eq!(mask(&[value], &url), "postgres://web:***@db/é");
        }
        assert_eq!(mask(&["hunter22"], "100%\n%zz hunter2"), "100%\n%zz hunter2");
    }

    #[test]
    fn a_value_is_hidden_in_base64() {
        let value = "hunter22-??>>";
        for text in [
            value,
            "web:hunter22-??>>",
            "ab:hunter22-??>>x",
            "a:hunter22-??>>yz",
        ] {
            for engine in [STANDARD, URL_SAFE] {
                let encoded = engine.encode(text);
                let masked = mask(&[value], &format!("Authorization: Basic {encoded}\n"));
                assert!(masked.contains(MASK), "{text}: {masked}");
                let left = masked.replace(MASK, "").len();
                assert!(left <= "Authorization: Basic \n".len() + 10, "{text}: {masked}");
            }
        }
        assert_eq!(mask(&[value], &STANDARD.encode(value)), MASK);
    }

    #[test]
    fn what_is_too_short_to_be_a_secret_stays() {
        assert_eq!(mask(&["a", "yes", ""], "a yes"), "a yes");
    }
}
