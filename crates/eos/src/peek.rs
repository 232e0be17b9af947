//! What must be known of the command line before it can be parsed: the flags of `create` and `update` depend on
//! the recipe, and an error must be shown in the form that was asked for.

use crate::args::own_flags;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Peek {
    pub verb: Option<String>,
    /// The first word after the verb: a recipe for `create`, a component for `update`.
    pub subject: Option<String>,
    pub environment: Option<String>,
    pub estate: Option<PathBuf>,
    pub color: Option<String>,
    pub json: bool,
    /// `update` with the newest recipe: its options are the flags.
    pub upgrade: bool,
}

pub fn peek(words: &[OsString]) -> Peek {
    let own = own_flags();
    let mut peek = Peek::default();
    let mut words = words
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    // A word after an unknown flag may be its value, and is the subject only if nothing better comes.
    let mut after_unknown_flag = false;
    let mut doubtful = None;
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let (flag, value) = split(&word);
        let takes_value = own.iter().find(|own| own.is(flag)).map(|own| own.takes_value);
        if takes_value == Some(true) {
            let value = value.map(str::to_owned).or_else(|| words.next());
            match flag {
                "--estate" => peek.estate = value.map(PathBuf::from),
                "--environment" | "-e" => peek.environment = value,
                "--color" => peek.color = value,
                _ => {}
            }
        } else if takes_value == Some(false) {
            peek.json |= flag == "--json";
            peek.upgrade |= flag == "--upgrade";
        } else if word.starts_with('-') && word.len() > 1 {
            after_unknown_flag = value.is_none();
            continue;
        } else if peek.verb.is_none() {
            peek.verb = Some(word);
        } else if peek.subject.is_none() {
            match after_unknown_flag {
                true => doubtful = doubtful.or(Some(word)),
                false => peek.subject = Some(word),
            }
        }
        after_unknown_flag = false;
    }
    peek.subject = peek.subject.or(doubtful);
    peek
}

/// `--flag=value` and `-evalue` in two.
fn split(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((flag, value)) if word.starts_with('-') => (flag, Some(value)),
        _ => match word.strip_prefix("-e").filter(|value| !value.is_empty()) {
            Some(value) => ("-e", Some(value)),
            None => (word, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        peek(&words).subject
    }

    #[test]
    fn the_subject_is_found_wherever_it_stands() {
        for line in [
            "eos create grafana --port 3000",
            "eos --estate x -e staging create grafana",
            "eos create --yes grafana",
            "eos create --keep --no-wait -y grafana",
            "eos create --plan --out plan.json grafana",
            "eos create --env-file .env --color never grafana",
            "eos create --name web grafana",
            "eos create --port 3000 grafana",
            "eos create --port=3000 grafana",
            "eos create --sso grafana",
            "eos create --admin-password - grafana",
        ] {
            assert_eq!(subject(line).as_deref(), Some("grafana"), "{line}");
        }
        assert_eq!(subject("eos create"), None);
        assert_eq!(subject("eos create -- grafana"), None);
    }

    #[test]
    fn what_holds_everywhere_is_seen_in_every_form() {
        for line in [
            "eos list --json -e staging --estate=/x",
            "eos -estaging --json --estate /x list",
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let seen = peek(&words);
            assert!(seen.json, "{line}");
            assert_eq!(seen.environment.as_deref(), Some("staging"), "{line}");
            assert_eq!(seen.estate, Some(PathBuf::from("/x")), "{line}");
            assert_eq!(seen.verb.as_deref(), Some("list"), "{line}");
        }
    }
}
