//! The words of a command, for the record: taken once from the parsed command line, with every secret masked.

use crate::args::Everywhere;
use crate::commands::plan_file::PlanOnly;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use eos_core::option::HIDDEN;
use secrecy::SecretString;
use std::any::TypeId;
use std::collections::BTreeSet;
use std::convert::Infallible;

/// The one flag of every command that says what is wanted. It comes last, wherever it was typed.
const ENVIRONMENT: &str = "environment";

/// The words of a parsed command. They say what is wanted, and leave out how it is done and shown (`--yes`, `--json`).
pub fn of(command: &Command, matches: &ArgMatches) -> String {
    let mut left_out = manner();
    let mut words = vec![command.get_name().to_owned()];
    let (mut arguments, mut flags, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let mut handed_on = Vec::new();
    let mut level = Some((command, matches));
    while let Some((command, matches)) = level {
        let mut here = Vec::new();
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            // A flag of several levels has its value at each of them, and is told once.
            if matches.value_source(id) != Some(ValueSource::CommandLine) || !left_out.insert(id.to_owned()) {
                continue;
            }
            let said = Said { arg, matches };
            match arg.is_positional() {
                true if arg.is_last_set() => {
                    handed_on.push("--".to_owned());
                    handed_on.extend(said.each());
                }
                true => arguments.extend(said.values()),
                false if id == ENVIRONMENT => last.extend(said.flag()),
                false => here.push((matches.index_of(id), said.flag())),
            }
        }
        here.sort();
        flags.extend(here.into_iter().flat_map(|(_, words)| words));
        level = matches.subcommand().and_then(|(name, matches)| {
            words.push(name.to_owned());
            Some((command.find_subcommand(name)?, matches))
        });
    }
    words.extend(arguments.into_iter().chain(flags).chain(last).chain(handed_on));
    words.join(" ")
}

/// The flags that say how a command is done and shown.
fn manner() -> BTreeSet<String> {
    let flags = PlanOnly::augment_args(Everywhere::augment_args(Command::new("")));
    let ids = flags.get_arguments().map(|arg| arg.get_id().to_string());
    ids.filter(|id| id != ENVIRONMENT).collect()
}

/// An argument that stands on the command line.
struct Said<'a> {
    arg: &'a Arg,
    matches: &'a ArgMatches,
}

impl Said<'_> {
    /// Its values, one for each time that it was given.
    fn values(&self) -> Vec<String> {
        let id = self.arg.get_id().as_str();
        let between = self.arg.get_value_delimiter().unwrap_or(' ').to_string();
        let occurrences = self.matches.get_raw_occurrences(id).into_iter().flatten();
        let joined = occurrences.map(|values| {
            let values = values.map(|value| value.to_string_lossy().into_owned());
            values.collect::<Vec<_>>().join(&between)
        });
        match is_secret(self.arg) {
            true => joined.map(|_| HIDDEN.to_owned()).collect(),
            false => joined.map(|value| shell_word(&value)).collect(),
        }
    }

    /// Its values, one for each word.
    fn each(&self) -> impl Iterator<Item = String> {
        let values = self.matches.get_raw(self.arg.get_id().as_str());
        let words = values.into_iter().flatten();
        words.map(|value| shell_word(&value.to_string_lossy()))
    }

    /// The flag with its values, as it could be typed again.
    fn flag(&self) -> Vec<String> {
        let name = match (self.arg.get_long(), self.arg.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => return Vec::new(),
        };
        if !self.arg.get_action().takes_values() {
            return vec![name];
        }
        let with = |value: String| match self.arg.is_require_equals_set() || value.starts_with('-') {
            true => format!("{name}={value}"),
            false => format!("{name} {value}"),
        };
        self.values().into_iter().map(with).collect()
    }
}

/// An argument is secret by the type of its value, so that none can be declared without being masked.
fn is_secret(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<SecretString>()
}

/// Reads the value of a secret argument.
#[expect(clippy::unnecessary_wraps, reason = "clap takes parsers that may fail")]
pub fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text))
}

/// A word as a shell would have to be given it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, with_options};
    use crate::peek::peek;
    use clap::CommandFactory;
    use eos_core::catalog::Catalog;
    use std::ffi::OsString;

    /// The words of a line, which a `|` takes apart where a word has a space; `create` and `update` are of this recipe.
    fn words(recipe: &str, line: &[&str]) -> Result<String, clap::Error> {
        let typed: Vec<OsString> = ["eos"].iter().chain(line).map(OsString::from).collect();
        let catalog = Catalog::load(&[]).unwrap();
        let recipe = catalog.find(recipe, None).unwrap();
        let peek = peek(&typed);
        let mut command = Cli::command();
        if matches!(peek.verb.as_deref(), Some("create" | "update"))
            && !line.contains(&"host")
            && !line.contains(&"container")
        {
            command = with_options(command, &peek, recipe).unwrap();
        }
        let matches = command.try_get_matches_from_mut(&typed)?;
        Ok(of(&command, &matches))
    }

    #[test]
    fn every_verb_has_its_words() {
        for (recipe, line, expected) in [
            ("hello", "create hello", "eos create hello"),
            (
                "hello",
                "--yes --estate x create hello --json --keep --no-wait --color never",
                "eos create hello",
            ),
            ("hello", "create hello --plan --out plan.json", "eos create hello"),
            (
                "hello",
                "-e staging create --name=web hello",
                "eos create hello --name web --environment staging",
            ),
            (
                "grafana",
                "create grafana --port=3000 --env-file .env --name boards",
                "eos create grafana --port 3000 --env-file .env --name boards",
            ),
            (
                "hello",
                "update hello --unset greeting --upgrade --unset=replicas -estaging",
                "eos update hello --unset greeting --unset replicas --upgrade --environment staging",
            ),
            ("hello", "delete hello -y", "eos delete hello"),
            (
                "hello",
                "delete --all -e development",
                "eos delete --all --environment development",
            ),
            (
                "hello",
                "create host node2 --role storage,client --address 10.0.0.2 --device=/dev/sdb --device /dev/sdc --plan",
                "eos create host node2 --role storage,client --address 10.0.0.2 --device /dev/sdb --device /dev/sdc",
            ),
            (
                "hello",
                "update host node2 --datacenter dc2",
                "eos update host node2 --datacenter dc2",
            ),
            (
                "hello",
                "create container web --image caddy:2 --port 80:8080 -e staging -- run --port 9",
                "eos create container web --image caddy:2 --port 80:8080 --environment staging -- run --port 9",
            ),
            ("hello", "delete host node2", "eos delete host node2"),
            (
                "hello",
                "exec web --instance 8c1f -e staging -- sh -c it's --json",
                r"eos exec web --instance 8c1f --environment staging -- sh -c 'it'\''s' --json",
            ),
            (
                "hello",
                "create volume data --size 5G --on data-vg --owner 10:20",
                "eos create volume data --size 5G --on data-vg --owner 10:20",
            ),
            (
                "hello",
                "delete volume data --with-data",
                "eos delete volume data --with-data",
            ),
            ("hello", "resize lvm data +50G", "eos resize lvm data +50G"),
            ("hello", "resize lvm data -5G", "eos resize lvm data -5G"),
            (
                "hello",
                "convert filesystem /data btrfs --compression zstd",
                "eos convert filesystem /data btrfs --compression zstd",
            ),
            (
                "hello",
                "convert filesystem /data --commit",
                "eos convert filesystem /data --commit",
            ),
            (
                "hello",
                "snapshot create data before --room 1G",
                "eos snapshot create data before --room 1G",
            ),
            (
                "hello",
                "snapshot restore data before",
                "eos snapshot restore data before",
            ),
            (
                "hello",
                "snapshot delete data before",
                "eos snapshot delete data before",
            ),
            ("hello", "expand storage --auto", "eos expand storage --auto"),
            (
                "hello",
                "promote hello --to production --from staging",
                "eos promote hello --to production --from staging",
            ),
            (
                "hello",
                "rotate secret redis password",
                "eos rotate secret redis password",
            ),
            ("hello", "reconcile hello --adopt", "eos reconcile hello --adopt"),
            ("hello", "drift --watch=5", "eos drift --watch=5"),
            ("hello", "apply plan.json", "eos apply plan.json"),
            ("hello", "rollback 01KA3V9Q2M", "eos rollback 01KA3V9Q2M"),
            ("hello", "undo", "eos undo"),
        ] {
            let line: Vec<_> = line.split(' ').collect();
            assert_eq!(words(recipe, &line).unwrap(), expected, "{line:?}");
        }
    }

    #[test]
    fn words_can_be_typed_again() {
        let odd = "it's $(id) --plan";
        let again = words("hello", &["create", "hello", "--greeting", odd]).unwrap();
        assert_eq!(again, r"eos create hello --greeting 'it'\''s $(id) --plan'");
        let dashed = words("hello", &["create", "hello", "--greeting=--yes"]).unwrap();
        assert_eq!(dashed, "eos create hello --greeting=--yes");
    }

    #[test]
    fn no_spelling_of_a_secret_comes_into_the_words() {
        for (recipe, line) in [
            ("redis", "create redis --password canary"),
            ("redis", "create redis --password=canary"),
            ("redis", "create --password canary redis"),
            (
                "redis",
                "--environment staging create redis --password=canary --yes",
            ),
            ("redis", "update redis --password canary"),
            ("grafana", "create grafana --admin-password=canary --port 3000"),
            ("redis", "rotate secret redis password --to canary"),
            ("redis", "rotate secret --to=canary redis password"),
            ("redis", "rotate secret redis --to canary password"),
        ] {
            let line: Vec<_> = line.split(' ').collect();
            let words = words(recipe, &line).unwrap();
            assert!(
                !words.contains("canary") && words.contains(" ***"),
                "{line:?}: {words}"
            );
        }
        let dashed = words("redis", &["create", "redis", "--password=-canary"]).unwrap();
        assert_eq!(dashed, "eos create redis --password ***");
    }

    #[test]
    fn a_misspelled_secret_is_refused_without_its_value() {
        for line in [
            "create redis --passwor=canary",
            "create redis --pass=canary",
            "create redis --password=canary --password=canary",
            "rotate secret redis password --t=canary",
        ] {
            let line: Vec<_> = line.split(' ').collect();
            let refused = words("redis", &line).unwrap_err();
            let shown = crate::args::wording(&refused, None);
            let shown = format!("{shown:?}");
            assert!(!shown.contains("canary"), "{line:?}: {shown}");
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("3000", "3000"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$x", "'$x'"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
