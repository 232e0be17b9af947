//! `eos complete`: what could stand where the cursor is. The scripts of `eos completions` ask it at every press of a key,
//! so it never complains: what cannot be read is left out.
//!
//! The first line of the answer is `words`, `files` or `directories`. After `words` follows a candidate a line, a tab and
//! what it means; the other two leave it to the shell to find them.

use super::{Answer, Session};
use crate::args::{self, Cli};
use crate::peek::{self, Peek};
use crate::problem::Exit;
use clap::{Arg, Command, CommandFactory, ValueHint};
use eos_core::catalog::Catalog;
use eos_core::pillar::{Component, Pillar, PillarFiles, environment_file};
use eos_core::recipe::Recipe;
use eos_engine::estate::Estate;
use std::ffi::OsString;

/// Answer what could stand where the cursor is, for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The words up to the cursor, the program first; the last one is to be completed
    #[arg(last = true)]
    words: Vec<OsString>,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let words: Vec<String> = args
        .words
        .iter()
        .map(|word| unquoted(&word.to_string_lossy()))
        .collect();
    let answer = match words.split_last() {
        Some((word, before)) => complete(before, word),
        None => Completion::default(),
    };
    session.view.text(&answer.to_string());
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
        if self.command.has_subcommands() && self.subjects.is_empty() {
            return commands_of(self.command);
        }
        let positions: Vec<&Arg> = self.command.get_positionals().collect();
        let several = |arg: &&&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        match positions
            .get(self.subjects.len())
            .or_else(|| positions.last().filter(several))
        {
            Some(position) => self.values(position, nearby),
            // Nothing else can come: this is how a person finds out which flags there are.
            None => self.all_flags(),
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
        match arg.get_id().as_str() {
            "recipe" => return Completion::Words(nearby.recipes()),
            "component" => return Completion::Words(nearby.components()),
            "command" => {
                let named = self
                    .subjects
                    .iter()
                    .try_fold(self.root, |at, word| at.find_subcommand(word));
                return named.map(commands_of).unwrap_or_default();
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

fn commands_of(command: &Command) -> Completion {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    Completion::Words(
        shown
            .map(|command| Candidate {
                word: command.get_name().to_owned(),
                help: command.get_about().map(ToString::to_string).unwrap_or_default(),
            })
            .collect(),
    )
}

/// The estate at hand, as far as it can be read, and the built-in recipes in any case.
struct Nearby {
    peek: Peek,
    estate: Option<Estate>,
}

impl Nearby {
    fn look_around(peek: Peek) -> Self {
        let estate = Estate::open(peek.estate.as_deref()).ok();
        Self { peek, estate }
    }

    /// Each recipe stands for itself: an unsound one takes nothing from the others.
    fn catalog(&self) -> Catalog {
        let own = self
            .estate
            .as_ref()
            .and_then(|estate| estate.own_recipes().ok())
            .unwrap_or_default();
        let sound = |(file, text): &(String, Vec<u8>)| Recipe::parse(file, text).is_ok();
        let own: Vec<_> = own.into_iter().filter(sound).collect();
        Catalog::load(&own).unwrap_or_default()
    }

    fn recipes(&self) -> Vec<Candidate> {
        let candidate = |recipe: &Recipe| Candidate {
            word: recipe.name.clone(),
            help: recipe.summary.clone(),
        };
        self.catalog().iter().map(candidate).collect()
    }

    /// The recipe whose options are flags here.
    fn recipe(&self) -> Option<Recipe> {
        let subject = self.peek.subject.as_deref()?;
        let name = match self.peek.verb.as_deref()? {
            "create" => subject.to_owned(),
            "update" => self
                .pillar()
                .component(self.environment()?, subject)?
                .recipe
                .clone(),
            _ => return None,
        };
        self.catalog().get(&name).cloned()
    }

    fn components(&self) -> Vec<Candidate> {
        let candidate = |component: &Component| Candidate {
            word: component.name.clone(),
            help: component.recipe.clone(),
        };
        self.pillar().components.values().map(candidate).collect()
    }

    /// The pillar of this environment alone.
    fn pillar(&self) -> Pillar {
        let read = || {
            let file = environment_file(self.environment()?);
            let text = std::fs::read(self.estate.as_ref()?.root.join(&file)).ok()?;
            Pillar::read(&PillarFiles::from([(file, text)])).ok()
        };
        read().unwrap_or_default()
    }

    fn environment(&self) -> Option<&str> {
        let usual = self
            .estate
            .as_ref()
            .map(|estate| estate.settings.environment.as_str());
        self.peek.environment.as_deref().or(usual)
    }
}
