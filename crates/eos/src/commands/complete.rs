//! `eos complete`: what could stand where the cursor is. The scripts of `eos completions` ask it at every press of a key,
//! so it never complains: what cannot be read is left out.
//!
//! The first line of the answer is `words`, `files` or `directories`. After `words` follows a candidate a line, a tab and
//! what it means; the other two leave it to the shell to find them.

use super::{Ended, Session};
use crate::args::{self, Cli};
use crate::peek::{self, Peek};
use crate::problem::Exit;
use crate::views::reports::plain::Plain;
use crate::views::text::short_operation;
use clap::{Arg, Command, CommandFactory, ValueHint};
use eos_core::address::NodeKind;
use eos_core::catalog::BUILT_IN;
use eos_core::emit::terraform::PLATFORM;
use eos_core::node::Node;
use eos_core::pillar::{Host, Pillar, PillarFiles, environment_file};
use eos_core::recipe::Recipe;
use eos_engine::estate::Estate;
use eos_engine::operation::is_resumable;
use eos_engine::store::{Applied, Operation, Outcome, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

/// How many operations are offered.
const OPERATIONS: u32 = 50;

/// Ended the completions at the cursor, for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The words up to the cursor, the program first; the last one is to be completed
    #[arg(last = true)]
    words: Vec<OsString>,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let words: Vec<String> = args
        .words
        .iter()
        .map(|word| unquoted(&word.to_string_lossy()))
        .collect();
    let answer = match words.split_last() {
        Some((word, before)) => complete(before, word),
        None => Completion::default(),
    };
    session.view.show(&Plain(&answer.to_string()));
    Ok(Exit::Done)
}

/// A word as the program would be given it; bash hands it over as it was typed.
fn unquoted(word: &str) -> String {
    let mut plain = match (word.strip_prefix("~/"), std::env::home_dir()) {
        (Some(_), Some(home)) => format!("{}/", home.display()),
        _ => String::new(),
    };
    let mut letters = word[if plain.is_empty() { 0 } else { 2 }..].chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {}
            '\\' => plain.extend(letters.next()),
            _ => plain.push(letter),
        }
    }
    plain
}

#[derive(Debug, PartialEq, Eq)]
enum Completion {
    Words(Vec<Candidate>),
    Files,
    Directories,
}

#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    word: String,
    help: String,
}

impl Default for Completion {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl std::fmt::Display for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Files => writeln!(f, "files"),
            Self::Directories => writeln!(f, "directories"),
            Self::Words(candidates) => {
                writeln!(f, "words")?;
                // A line is one candidate: one that would take several is none.
                let fits = |candidate: &&Candidate| !candidate.word.contains(char::is_control);
                for Candidate { word, help } in candidates.iter().filter(fits) {
                    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
                    writeln!(f, "{word}\t{help}")?;
                }
                Ok(())
            }
        }
    }
}

fn complete(before: &[String], word: &str) -> Completion {
    let words: Vec<OsString> = before.iter().map(OsString::from).collect();
    let nearby = Nearby::look_around(peek::peek(&words));
    // Without its long form, a help is announced as what it is.
    let plain = || Cli::command().mut_subcommands(|verb| verb.long_about(None));
    let mut root = match nearby.recipe() {
        Some(recipe) => args::with_options(plain(), &nearby.peek, &recipe).unwrap_or_else(|_| plain()),
        None => plain(),
    };
    root.build();
    let place = Place::find(&root, before.get(1..).unwrap_or_default());
    place.complete(word, &nearby)
}

/// Where on the command line the cursor is.
struct Place<'a> {
    root: &'a Command,
    /// The command that the words so far name.
    command: &'a Command,
    /// Words that are no flag, nor the value of one, nor a command.
    subjects: Vec<&'a str>,
    flags: Vec<&'a Arg>,
    /// The flag before the cursor, if it takes the next word as its value.
    awaits: Option<&'a Arg>,
    /// After `--` nothing is a flag.
    flags_ended: bool,
}

impl<'a> Place<'a> {
    fn find(root: &'a Command, words: &'a [String]) -> Self {
        let mut place = Self {
            root,
            command: root,
            subjects: Vec::new(),
            flags: Vec::new(),
            awaits: None,
            flags_ended: false,
        };
        for word in words {
            if place.awaits.take().is_some() {
                continue;
            }
            match word.as_str() {
                "--" => place.flags_ended = true,
                flag if flag.starts_with('-') && flag.len() > 1 && !place.flags_ended => {
                    place.pass_flag(flag)
                }
                word => match place.command.find_subcommand(word) {
                    Some(command) if place.subjects.is_empty() => place.command = command,
                    _ => place.subjects.push(word),
                },
            }
        }
        place
    }

    fn pass_flag(&mut self, word: &str) {
        let (name, value) = word
            .split_once('=')
            .map_or((word, None), |(name, value)| (name, Some(value)));
        let Some(flag) = self.flag(name) else { return };
        self.flags.push(flag);
        if takes_next_word(flag) && value.is_none() {
            self.awaits = Some(flag);
        }
    }

    fn flag(&self, name: &str) -> Option<&'a Arg> {
        self.command
            .get_arguments()
            .find(|arg| match name.strip_prefix("--") {
                Some(long) => arg.get_long() == Some(long),
                None => arg.get_short().is_some_and(|short| name == format!("-{short}")),
            })
    }

    fn complete(&self, word: &str, nearby: &Nearby) -> Completion {
        if let Some(flag) = self.awaits {
            return self.values(flag, nearby);
        }
        if word.starts_with('-') && !self.flags_ended {
            let (name, value) = word
                .split_once('=')
                .map_or((word, false), |(name, _)| (name, true));
            return match self.flag(name).filter(|_| value) {
                Some(flag) => match self.values(flag, nearby) {
                    Completion::Words(values) => Completion::Words(
                        values
                            .into_iter()
                            .map(|value| Candidate {
                                word: format!("{name}={}", value.word),
                                ..value
                            })
                            .collect(),
                    ),
                    paths => paths,
                },
                None => self.all_flags(),
            };
        }
        let positions: Vec<&Arg> = self.command.get_positionals().collect();
        let nouns = match self.subjects.is_empty() {
            true => commands_of(self.command),
            false => Vec::new(),
        };
        if !nouns.is_empty() {
            // `create` takes a recipe, or a noun such as `host`.
            let first = positions.first().map(|position| self.values(position, nearby));
            let words = match first {
                Some(Completion::Words(words)) => words.into_iter().chain(nouns).collect(),
                _ => nouns,
            };
            return Completion::Words(words);
        }
        let several = |arg: &&&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        match positions
            .get(self.subjects.len())
            .or_else(|| positions.last().filter(several))
        {
            // A name of one's own is nothing to choose from.
            Some(position) if !position.is_hide_set() => self.values(position, nearby),
            // Nothing else can come: this is how a person finds out which flags there are.
            _ => self.all_flags(),
        }
    }

    /// Every flag that was not given yet.
    fn all_flags(&self) -> Completion {
        let given = |arg: &Arg| self.flags.iter().any(|flag| flag.get_id() == arg.get_id());
        let flags = self
            .command
            .get_arguments()
            .filter(|arg| !arg.is_hide_set() && !given(arg));
        Completion::Words(
            flags
                .filter_map(|flag| {
                    Some(Candidate {
                        word: format!("--{}", flag.get_long()?),
                        help: flag.get_help().map(ToString::to_string).unwrap_or_default(),
                    })
                })
                .collect(),
        )
    }

    fn values(&self, arg: &Arg, nearby: &Nearby) -> Completion {
        // An option that names a component is one of the recipe's, with an id of its own.
        let names_component = arg.get_value_names().is_some_and(|names| names == ["COMPONENT"]);
        match arg.get_id().as_str() {
            _ if names_component => return Completion::Words(nearby.components()),
            "recipe" => return Completion::Words(nearby.recipes()),
            "component" => return Completion::Words(nearby.components()),
            "host" => return Completion::Words(nearby.hosts()),
            "operation" => return Completion::Words(nearby.operations(self.command.get_name())),
            "address" => return Completion::Words(nearby.addresses()),
            // The secrets of the component before the cursor.
            "names" | "reveal" if ["secret", "read"].contains(&self.command.get_name()) => {
                let secrets = self.subjects.first().map(|component| nearby.secrets(component));
                return Completion::Words(secrets.unwrap_or_default());
            }
            "command" => {
                let named = self
                    .subjects
                    .iter()
                    .try_fold(self.root, |at, word| at.find_subcommand(word));
                return Completion::Words(named.map(commands_of).unwrap_or_default());
            }
            _ => {}
        }
        match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => return Completion::Files,
            ValueHint::DirPath => return Completion::Directories,
            _ => {}
        }
        let values = arg
            .get_possible_values()
            .into_iter()
            .filter(|value| !value.is_hide_set());
        Completion::Words(
            values
                .map(|value| Candidate {
                    word: value.get_name().to_owned(),
                    help: value.get_help().map(ToString::to_string).unwrap_or_default(),
                })
                .collect(),
        )
    }
}

fn takes_next_word(flag: &Arg) -> bool {
    flag.get_action().takes_values() && !flag.is_require_equals_set()
}

fn commands_of(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown
        .map(|command| Candidate {
            word: command.get_name().to_owned(),
            help: command.get_about().map(ToString::to_string).unwrap_or_default(),
        })
        .collect()
}

/// The estate at hand, as far as it can be read, and the built-in recipes in any case.
struct Nearby {
    peek: Peek,
    estate: Option<Estate>,
}

impl Nearby {
    fn look_around(peek: Peek) -> Self {
        // Nothing may disturb the shell of somebody who is typing: the command itself says what is wrong.
        let estate = Estate::open(peek.estate.as_deref()).ok();
        Self { peek, estate }
    }

    /// The texts of all recipes, built in or the estate's own, by name: none is understood before it is needed.
    fn recipe_texts(&self) -> BTreeMap<String, (String, String)> {
        let built_in = BUILT_IN
            .iter()
            .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        let own = self
            .estate
            .as_ref()
            .and_then(|estate| estate.own_recipes().ok())
            .unwrap_or_default();
        let own = own
            .into_iter()
            .filter_map(|(file, text)| Some((file, String::from_utf8(text).ok()?)));
        let named =
            |(file, text): (String, String)| Some((top_line(&text, "recipe")?.to_owned(), (file, text)));
        built_in.chain(own).filter_map(named).collect()
    }

    fn recipes(&self) -> Vec<Candidate> {
        let candidate = |(word, (_, text)): (String, (String, String))| Candidate {
            word,
            help: top_line(&text, "summary").unwrap_or_default().to_owned(),
        };
        self.recipe_texts().into_iter().map(candidate).collect()
    }

    /// The recipe whose options are flags here.
    fn recipe(&self) -> Option<Recipe> {
        let subject = self.peek.subject.as_deref()?;
        let name = match self.peek.verb.as_deref()? {
            "create" => subject.to_owned(),
            "update" => self.recipe_of_component(subject)?,
            _ => return None,
        };
        let (file, text) = self.recipe_texts().remove(&name)?;
        Recipe::parse(&file, text.as_bytes()).ok()
    }

    fn recipe_of_component(&self, name: &str) -> Option<String> {
        let (file, text) = self.pillar_file()?;
        let alone = entries(&text).and_then(|entries| {
            let (_, entry) = entries.into_iter().find(|(of, _)| *of == name)?;
            Some(format!("#!yaml\ncomponents:\n{entry}"))
        });
        let read = Pillar::read(&PillarFiles::from([(file, alone.unwrap_or(text).into_bytes())])).ok()?;
        Some(read.component(self.environment()?, name)?.recipe.clone())
    }

    fn components(&self) -> Vec<Candidate> {
        let Some((file, text)) = self.pillar_file() else {
            return Vec::new();
        };
        let names: Vec<String> = match entries(&text) {
            Some(entries) => entries.into_iter().map(|(name, _)| name.to_owned()).collect(),
            None => {
                let read = Pillar::read(&PillarFiles::from([(file, text.into_bytes())]));
                let components = read.unwrap_or_default().components;
                components.into_keys().map(|(_, name)| name).collect()
            }
        };
        // The pillar does not name what a component has for its own use.
        let implied = self.applied().into_iter().map(|(component, _)| component);
        let names: BTreeSet<String> = names.into_iter().chain(implied).collect();
        names
            .into_iter()
            .filter(|name| name != PLATFORM)
            .map(bare)
            .collect()
    }

    fn store(&self) -> Option<Store> {
        self.estate.as_ref()?.store_to_read().ok()
    }

    /// The nodes of each component of this environment, as they were last applied.
    fn applied(&self) -> Vec<(String, Vec<Node>)> {
        let applied = || self.store()?.applied(self.environment()?).ok();
        let nodes = |one: Applied| Some((one.component, serde_json::from_value(one.nodes).ok()?));
        applied()
            .unwrap_or_default()
            .into_iter()
            .filter_map(nodes)
            .collect()
    }

    /// Operations that the verb can do something with.
    fn operations(&self, verb: &str) -> Vec<Candidate> {
        let fits = |one: &Operation| match verb {
            "undo" => one.outcome == Outcome::Done,
            "resume" => is_resumable(one.outcome),
            "approve" => one.outcome == Outcome::Waiting,
            _ => true,
        };
        let found = self.store().and_then(|store| store.history(OPERATIONS).ok());
        let candidate = |one: Operation| Candidate {
            word: short_operation(&one.id).to_owned(),
            help: format!("{} ({})", one.words, one.outcome.shown()),
        };
        let found = found.unwrap_or_default().into_iter();
        found.filter(fits).map(candidate).collect()
    }

    fn addresses(&self) -> Vec<Candidate> {
        let applied = self.applied();
        let nodes = applied.iter().flat_map(|(_, nodes)| nodes);
        let addresses = nodes.map(|node| bare(node.address.to_string()));
        self.components().into_iter().chain(addresses).collect()
    }

    fn secrets(&self, component: &str) -> Vec<Candidate> {
        let applied = self.applied();
        let of_it = applied.iter().find(|(name, _)| name == component);
        let mut nodes = of_it.into_iter().flat_map(|(_, nodes)| nodes);
        let secret = nodes.find(|node| node.address.kind == NodeKind::Secret);
        let items = secret.and_then(|node| node.attributes.get("items")?.value.as_array());
        let items = items.into_iter().flatten().filter_map(|item| item.as_str());
        items.map(|item| bare(item.to_owned())).collect()
    }

    fn hosts(&self) -> Vec<Candidate> {
        // As above: a pillar that cannot be read completes nothing.
        let read = |estate: &Estate| Pillar::read(&estate.pillar_files().ok()?).ok();
        let pillar = self.estate.as_ref().and_then(read).unwrap_or_default();
        let candidate = |host: Host| Candidate {
            word: host.name,
            help: host.address,
        };
        pillar.hosts.into_values().map(candidate).collect()
    }

    /// The file that holds the components of this environment.
    fn pillar_file(&self) -> Option<(String, String)> {
        let file = environment_file(self.environment()?);
        let text = std::fs::read_to_string(self.estate.as_ref()?.root.join(&file)).ok()?;
        Some((file, text))
    }

    fn environment(&self) -> Option<&str> {
        let usual = self
            .estate
            .as_ref()
            .map(|estate| estate.settings.environment.as_str());
        self.peek.environment.as_deref().or(usual)
    }
}

fn bare(word: String) -> Candidate {
    Candidate {
        word,
        help: String::new(),
    }
}

/// The text of a recipe after a word at the start of a line.
fn top_line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.strip_prefix(key)?.strip_prefix(':');
    Some(text.lines().find_map(value)?.trim().trim_matches(['"', '\'']))
}

/// The components of a pillar file and the lines of each, by their indentation: nobody waits at a key press for thousands
/// of components to be understood. None where the file is not written an entry a line.
fn entries(text: &str) -> Option<Vec<(&str, &str)>> {
    let below = match text.strip_prefix("components:\n") {
        Some(below) => below,
        None => text.split_once("\ncomponents:\n")?.1,
    };
    let mut starts: Vec<(&str, usize)> = Vec::new();
    let (mut at, mut end, mut indent) = (0, below.len(), 0);
    for line in below.split_inclusive('\n') {
        let content = line.trim_start_matches(' ');
        let depth = line.len() - content.len();
        let nothing = content.trim().is_empty() || content.starts_with('#');
        if !nothing && depth == 0 {
            end = at;
            break;
        }
        if !nothing && (starts.is_empty() || depth == indent) {
            let (name, rest) = content.split_once(':')?;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if !name.chars().all(plain) || !rest.starts_with([' ', '\n', '\r']) {
                return None;
            }
            starts.push((name, at));
            indent = depth;
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([end]);
    Some(
        starts
            .iter()
            .zip(ends)
            .map(|((name, start), end)| (*name, &below[*start..end]))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_their_lines() {
        let text = "#!yaml\n# mine\ncomponents:\n  # first\n  a:\n    recipe: x\n\n    note: |\n      b:\n  b: {recipe: y}\nother: 1\n";
        let found = entries(text).expect("an entry a line");
        assert_eq!(
            found,
            [
                ("a", "  a:\n    recipe: x\n\n    note: |\n      b:\n"),
                ("b", "  b: {recipe: y}\n")
            ]
        );
        assert_eq!(entries("#!yaml\ncomponents:\n"), Some(vec![]));
        for other in [
            "#!yaml\ncomponents: {a: {}}\n",
            "components:\n  \"a\": {}\n",
            "components:\n  {a: {}}\n",
            "{{ jinja }}",
        ] {
            assert_eq!(entries(other), None, "{other}");
        }
    }

    #[test]
    fn a_word_is_taken_as_the_program_would_get_it() {
        for (typed, meant) in [
            ("'a b'", "a b"),
            (r"a\ b", "a b"),
            (r#""a"#, "a"),
            ("--port", "--port"),
            ("", ""),
        ] {
            assert_eq!(unquoted(typed), meant, "{typed}");
        }
    }
}
