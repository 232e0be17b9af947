//! Secrets from a `.env` file. What Docker and a shell would read differently is refused: nobody should have to guess
//! which of them Eos takes after. Nothing is expanded.

use crate::problem::Problem;
use eos_core::diagnostic::{Diagnostic, Position};
use eos_core::option::OptionType;
use eos_core::recipe::{OptionSpec, Recipe};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What a file gives to the secret options of a recipe.
#[derive(Debug, Default)]
pub struct FromFile {
    /// Option -> value.
    pub values: BTreeMap<String, SecretString>,
    pub warnings: Vec<Diagnostic>,
}

pub fn read(path: &Path, recipe: &Recipe) -> Result<FromFile, Problem> {
    let shown = path.display().to_string();
    let unread = |why: String| Problem::usage(format!("{shown} cannot be read: {why}"), "Name a .env file");
    let text = std::fs::read_to_string(path).map_err(|error| unread(error.to_string()))?;
    let mode = std::fs::metadata(path)
        .map_err(|error| unread(error.to_string()))?
        .permissions()
        .mode();
    let mut taken = take(&shown, &text, recipe).map_err(Problem::Usage)?;
    if mode & 0o077 != 0 {
        let words = format!("{shown} can be read by others: its mode is {:04o}", mode & 0o7777);
        let hint = format!("chmod 600 {shown}");
        taken.warnings.insert(0, Diagnostic::new(words).hint(hint));
    }
    Ok(taken)
}

/// The names by which a file may call a secret option: that of the option itself, and those that the recipe's programs
/// know it by.
fn names_of(spec: &OptionSpec, recipe: &Recipe) -> Vec<String> {
    let mut names = vec![spec.name.to_uppercase()];
    let uses = recipe.services.iter().flat_map(|service| &service.secrets);
    for used in uses.filter(|used| used.text.shown() == spec.name) {
        let variable = used.variable.as_str();
        // A variable that names a file holds no secret; the program knows the value itself by the shorter name.
        let of_value = match used.file {
            Some(_) => ["__FILE", "_FILE"]
                .iter()
                .find_map(|end| variable.strip_suffix(end)),
            None => Some(variable),
        };
        names.extend(of_value.map(str::to_owned));
    }
    names
}

fn take(file: &str, text: &str, recipe: &Recipe) -> Result<FromFile, Vec<Diagnostic>> {
    let mut options: BTreeMap<String, &str> = BTreeMap::new();
    for spec in recipe.settable().filter(|spec| spec.kind == OptionType::Secret) {
        let names = names_of(spec, recipe).into_iter();
        options.extend(names.map(|name| (name, spec.name.as_str())));
    }
    let mut taken = FromFile::default();
    let mut by: BTreeMap<&str, &str> = BTreeMap::new();
    let mut unused = Vec::new();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |words: String, hint: &str| {
            let position = Position {
                line: number,
                column: 1,
            };
            Diagnostic::new(words).at(file, position).hint(hint)
        };
        let Some((name, value)) = line.split_once('=').filter(|(name, _)| is_name(name)) else {
            let hint = "Write NAME=value without spaces around the =, a comment, or an empty line";
            found.push(wrong("This line is not NAME=value".to_owned(), hint));
            continue;
        };
        let Some(option) = options.get(name).copied() else {
            unused.push(name);
            continue;
        };
        if let Some(other) = by.insert(option, name).filter(|other| *other != name) {
            let words = format!("{other} and {name} both mean option {option}");
            found.push(wrong(words, "Leave one of them out"));
            continue;
        }
        match value_of(value) {
            Ok(value) => {
                taken.values.insert(option.to_owned(), value.into());
            }
            Err(Unclear { words, hint }) => {
                found.push(wrong(format!("The value of {name} {words}"), hint));
            }
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    if !unused.is_empty() {
        let known: Vec<_> = options.keys().map(String::as_str).collect();
        let hint = match known.is_empty() {
            true => format!("Recipe {} has no secrets", recipe.name),
            false => format!("Secrets of {} are {}", recipe.name, known.join(", ")),
        };
        let words = format!("Not used: {}", unused.join(", "));
        taken.warnings.push(Diagnostic::new(words).hint(hint));
    }
    Ok(taken)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Why a value is refused, without showing it.
struct Unclear {
    words: &'static str,
    hint: &'static str,
}

const QUOTE: &str = "Put the value in single quotes";

fn value_of(text: &str) -> Result<String, Unclear> {
    let (value, rest) = if let Some(quoted) = text.strip_prefix('\'') {
        let (value, rest) = quoted.split_once('\'').ok_or(UNCLOSED)?;
        (value.to_owned(), rest)
    } else if let Some(quoted) = text.strip_prefix('"') {
        double_quoted(quoted)?
    } else {
        plain(text)?
    };
    let next = rest.trim_start_matches([' ', '\t']);
    match next.is_empty() || (next.len() < rest.len() && next.starts_with('#')) {
        true => Ok(value),
        false => Err(Unclear {
            words: "has text after its end",
            hint: "Put a value with spaces in quotes; only a comment may follow it, after a space",
        }),
    }
}

const UNCLOSED: Unclear = Unclear {
    words: "has a quote that does not close on its line",
    hint: "Keep a value on one line; put a quote between quotes of the other kind",
};

fn double_quoted(text: &str) -> Result<(String, &str), Unclear> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match characters.next() {
                Some((_, escaped @ ('"' | '\\' | '$'))) => value.push(escaped),
                _ => {
                    return Err(Unclear {
                        words: "has a backslash, which Docker and a shell read differently there",
                        hint: QUOTE,
                    });
                }
            },
            '$' | '`' => return Err(EXPANDED),
            other => value.push(other),
        }
    }
    Err(UNCLOSED)
}

const EXPANDED: Unclear = Unclear {
    words: "has a $ or a `, which a shell would expand",
    hint: QUOTE,
};

/// Without quotes: up to the first space.
fn plain(text: &str) -> Result<(String, &str), Unclear> {
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    if value.contains(['$', '`']) {
        return Err(EXPANDED);
    }
    let at_start = value.starts_with(['~', '#']) || value.contains(":~");
    if at_start || value.contains(['\'', '"', '\\', ';', '&', '|', '<', '>', '(', ')']) {
        return Err(Unclear {
            words: "has a character that is special in a shell",
            hint: QUOTE,
        });
    }
    Ok((value.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    const RECIPE: &str = "recipe: mine
summary: s
version: '1'
options:
  port: {type: port, default: 80, help: h}
  admin_password: {type: secret, generate: 24, help: h}
  key: {type: secret, help: h}
services:
  mine:
    program: [mine]
    secrets:
      APP_PASSWORD__FILE: {file: admin_password}
      APP_KEY: key
      APP_URL: {text: 'x://{{ key }}@y'}
";

    /// Values by option, and warnings.
    type Taken = (Vec<(String, String)>, Vec<String>);

    fn taken(text: &str) -> Result<Taken, Vec<String>> {
        let recipe = Recipe::parse("recipe.yaml", RECIPE.as_bytes()).unwrap();
        let taken = take(".env", text, &recipe).map_err(|found| {
            let said = |found: &Diagnostic| {
                let line = found.at.as_ref().map_or(0, |at| at.position.line);
                format!("{line}: {}", found.message)
            };
            found.iter().map(said).collect::<Vec<_>>()
        })?;
        let values = taken.values.iter();
        let values = values.map(|(option, value)| (option.clone(), value.expose_secret().to_owned()));
        let warnings = taken.warnings.iter().map(|found| found.message.clone());
        Ok((values.collect(), warnings.collect()))
    }

    #[test]
    fn a_secret_is_known_by_the_names_its_program_has_for_it() {
        for name in ["APP_PASSWORD", "ADMIN_PASSWORD"] {
            let (values, warnings) = taken(&format!("{name}=x7\n")).unwrap();
            assert_eq!(values, [("admin_password".to_owned(), "x7".to_owned())]);
            assert!(warnings.is_empty());
        }
        // A text with more in it than the secret is not the secret, and no other option is taken.
        let (values, warnings) = taken("APP_URL=x\nPORT=81\nAPP_PASSWORD__FILE=/x\nAPP_KEY=k\n").unwrap();
        assert_eq!(values, [("key".to_owned(), "k".to_owned())]);
        assert_eq!(warnings, ["Not used: APP_URL, PORT, APP_PASSWORD__FILE"]);
    }

    #[test]
    fn values_are_read_as_docker_and_a_shell_both_do() {
        for (line, value) in [
            ("KEY=plain", "plain"),
            ("export KEY=plain  # a comment", "plain"),
            ("KEY=a#b=c*d", "a#b=c*d"),
            ("KEY='a $b \\ \"c\" # d'", "a $b \\ \"c\" # d"),
            ("KEY=\"it's \\\"5\\\" \\$ \\\\\" # a comment", "it's \"5\" $ \\"),
            ("# KEY=one\n\nKEY=one\r\nKEY=two\r\n", "two"),
            ("KEY=", ""),
        ] {
            let (values, _) = taken(line).unwrap();
            assert_eq!(values, [("key".to_owned(), value.to_owned())], "{line}");
        }
    }

    #[test]
    fn what_they_read_differently_is_refused_by_line_and_not_shown() {
        for (line, words) in [
            (
                "\nKEY=canary$x",
                "2: The value of KEY has a $ or a `, which a shell would expand",
            ),
            (
                "KEY=\"canary$x\"",
                "1: The value of KEY has a $ or a `, which a shell would expand",
            ),
            ("KEY=canary x", "1: The value of KEY has text after its end"),
            ("KEY='canary'x", "1: The value of KEY has text after its end"),
            ("KEY='canary'#x", "1: The value of KEY has text after its end"),
            (
                "KEY='canary",
                "1: The value of KEY has a quote that does not close on its line",
            ),
            (
                "KEY=canary'x'",
                "1: The value of KEY has a character that is special in a shell",
            ),
            (
                "KEY=~/canary",
                "1: The value of KEY has a character that is special in a shell",
            ),
            (
                "KEY=\"canary\\n\"",
                "1: The value of KEY has a backslash, which Docker and a shell read differently there",
            ),
            ("KEY = canary", "1: This line is not NAME=value"),
            ("canary", "1: This line is not NAME=value"),
            ("APP_KEY=a\nKEY=canary", "2: APP_KEY and KEY both mean option key"),
        ] {
            let found = taken(line).unwrap_err();
            assert_eq!(found, [words], "{line}");
            assert!(!found[0].contains("canary"));
        }
    }
}
