//! The command line: verbs and flags, and the wording of what is wrong with them.

use crate::commands;
use crate::habits;
use crate::options::{self, Typed};
use crate::peek::Peek;
use crate::problem::Problem;
use crate::terminal;
use crate::views::text::{width, wrap};
use crate::words;
use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use eos_core::catalog::KEPT;
use eos_core::diagnostic::Diagnostic;
use eos_core::name::{ENVIRONMENTS, closest, quoted};
use eos_core::recipe::Recipe;
use std::ffi::OsString;
use std::path::PathBuf;

/// Eos, the infrastructure compiler: one sentence becomes Salt, Terraform and Nomad, applied and proved.
#[derive(Debug, Parser)]
#[command(
    name = "eos",
    version,
    styles = STYLES,
    disable_help_subcommand = true,
    subcommand_required = true,
    after_help = "\
First steps:
  eos init estate && cd estate  create an estate
  eos lab up                    start Salt, Terraform and Nomad here
  eos create hello              compile, deploy and prove a first component
  eos status                    see it run

Exit codes:
  0    done, or nothing to do
  1    failed
  2    wrong input, nothing was changed
  3    changes are pending or a part is unhealthy (--check),
       drift was found, or doctor found something to fix
  4    another person must approve it first
  130  interrupted"
)]
pub struct Cli {
    #[command(flatten)]
    pub everywhere: Everywhere,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags that every verb has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Everywhere {
    /// Print JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Apply changes without confirmation
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// If a step fails, do not roll back; leave everything for inspection
    #[arg(long, global = true)]
    pub keep: bool,
    /// Fail instead of waiting for another operation on the same components
    #[arg(long, global = true)]
    pub no_wait: bool,
    /// development, staging or production; eos.toml names the default
    #[arg(
        long, short, global = true, value_name = "NAME", hide_possible_values = true,
        value_parser = clap::builder::PossibleValuesParser::new(ENVIRONMENTS)
    )]
    pub environment: Option<String>,
    /// Estate directory [default: $EOS_ESTATE, or the nearest parent with eos.toml]
    #[arg(long, global = true, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub estate: Option<PathBuf>,
    /// Colour: auto, always or never; Eos honours NO_COLOR
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Init(commands::init::Args),
    Login(commands::login::Args),
    Lab(commands::lab::Args),
    Create(commands::create::Args),
    Update(commands::update::Args),
    Delete(commands::delete::Args),
    Stop(commands::stop::Args),
    Start(commands::start::Args),
    Restart(commands::restart::Args),
    Run(commands::run::Args),
    Resize(commands::resize::Args),
    Expand(commands::expand::Args),
    Convert(commands::convert::Args),
    Snapshot(commands::snapshot::Args),
    Promote(commands::promote::Args),
    Rotate(commands::rotate::Args),
    Discover(commands::discover::Args),
    Drift(commands::drift::Args),
    Reconcile(commands::reconcile::Args),
    Read(commands::read::Args),
    List(commands::list::Args),
    Plan(commands::plan::Args),
    Apply(commands::apply::Args),
    Resume(commands::resume::Args),
    Approve(commands::approve::Args),
    Rollback(commands::rollback::Args),
    Undo(commands::rollback::UndoArgs),
    History(commands::history::Args),
    Audit(commands::audit::Args),
    Home(commands::home::Args),
    Status(commands::status::Args),
    Storage(commands::storage::Args),
    Doctor(commands::doctor::Args),
    Logs(commands::logs::Args),
    Exec(commands::exec::Args),
    Catalog(commands::catalog::Args),
    Compile(commands::compile::Args),
    Graph(commands::graph::Args),
    Why(commands::why::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    #[command(hide = true)]
    Complete(commands::complete::Args),
    #[command(hide = true)]
    ServeHello(commands::serve_hello::Args),
    #[command(hide = true)]
    ServeStandIn(commands::serve_stand_in::Args),
}

/// The noun that `create` alone has.
const CONTAINER: &str = "container";
/// Flags of `create container` that say what it is made of.
const OF_CONTAINERS: [&str; 3] = ["env", "secret", "volume"];

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// A command line that was understood.
#[derive(Debug)]
pub struct Invocation {
    pub cli: Cli,
    /// The given options of a recipe (`create`, `update`).
    pub typed: Option<Typed>,
    /// For the record.
    pub words: String,
}

pub enum Parsed {
    Run(Box<Invocation>),
    /// Help: there is nothing to run.
    Shown(String),
}

/// The options of the recipe, if the command has one, are its flags.
pub fn parse(line: &[OsString], peek: &Peek, recipe: Option<Recipe>) -> Result<Parsed, Problem> {
    let alone = line.len() < 2;
    let columns = terminal::data_width().unwrap_or(80).min(100);
    let mut command = fitted(Cli::command().term_width(columns), columns);
    let verb = peek
        .verb
        .as_deref()
        .filter(|verb| command.find_subcommand(verb).is_some())
        .map(str::to_owned);
    if let Some(verb) = verb {
        command = command.mut_subcommand(verb, |command| compact(command, peek.subject.as_deref(), columns));
    }
    if let Some(recipe) = &recipe {
        command = with_options(command, peek, recipe)?;
    }
    if alone {
        return Ok(Parsed::Shown(command.render_help().ansi().to_string()));
    }
    let matches = match command.try_get_matches_from_mut(line) {
        Ok(matches) => matches,
        Err(error) => return shown(error, peek, recipe.as_ref()),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return shown(error, peek, recipe.as_ref()),
    };
    let typed = recipe.and_then(|recipe| typed(&matches, recipe));
    let words = words::of(&command, &matches);
    Ok(Parsed::Run(Box::new(Invocation { cli, typed, words })))
}

/// A flag that `create` and `update` have whatever the recipe.
pub struct OwnFlag {
    long: String,
    short: Option<char>,
    pub takes_value: bool,
}

impl OwnFlag {
    pub fn is(&self, word: &str) -> bool {
        let long = word.strip_prefix("--").is_some_and(|name| name == self.long);
        let short = word.strip_prefix('-').map(str::chars);
        long || self.short.is_some()
            && short.is_some_and(|mut name| name.next() == self.short && name.next().is_none())
    }

    /// The option of a recipe that would hide it.
    pub fn option(&self) -> String {
        self.long.replace('-', "_")
    }
}

/// The flags that no recipe may have, as the command line itself declares them.
pub fn own_flags() -> Vec<OwnFlag> {
    let command = Cli::command();
    let verbs = ["create", "update"].map(|verb| command.find_subcommand(verb));
    let args = verbs.into_iter().flatten().flat_map(Command::get_arguments);
    let declared = command.get_arguments().chain(args).filter_map(|arg| {
        Some(OwnFlag {
            long: arg.get_long()?.to_owned(),
            short: arg.get_short(),
            takes_value: arg.get_action().takes_values(),
        })
    });
    // clap adds this one itself.
    let help = OwnFlag {
        long: "help".to_owned(),
        short: Some('h'),
        takes_value: false,
    };
    declared.chain([help]).collect()
}

/// The whole command line with the options of this recipe as flags of the verb that was seen.
pub fn with_options(command: Command, peek: &Peek, recipe: &Recipe) -> Result<Command, Vec<Diagnostic>> {
    let (Some(verb), Some(subject)) = (peek.verb.as_deref(), peek.subject.as_deref()) else {
        return Ok(command);
    };
    options::refuse_reserved(recipe)?;
    Ok(command.mut_subcommand(verb, |command| options::add_flags(command, verb, subject, recipe)))
}

/// Help in one form only: the whole description, then one line a flag.
fn compact(command: Command, subject: Option<&str>, columns: usize) -> Command {
    let whole = command
        .get_long_about()
        .or(command.get_about())
        .cloned()
        .unwrap_or_default();
    let command = fitted(command.about(whole).long_about(None::<&str>), columns);
    match subject
        .filter(|subject| command.find_subcommand(subject).is_some())
        .map(str::to_owned)
    {
        Some(subject) => command.mut_subcommand(subject, |nested| compact(nested, None, columns)),
        None => command,
    }
}

/// The help with its examples for so many columns: where one is too long, what explains it goes below it.
fn fitted(command: Command, columns: usize) -> Command {
    let Some(text) = command.get_after_help().map(ToString::to_string) else {
        return command;
    };
    let fit = |line: &str| match line.strip_prefix("  ").filter(|_| width(line) > columns) {
        Some(example) => {
            let (words, why) = example.split_once("  ").unwrap_or((example, ""));
            let words = wrap(words, columns.saturating_sub(4)).join("\n    ");
            let why = wrap(why.trim_start(), columns.saturating_sub(6));
            let why: String = why.iter().map(|line| format!("\n      {line}")).collect();
            format!("  {words}{why}")
        }
        None => line.to_owned(),
    };
    let lines: Vec<_> = text.lines().map(fit).collect();
    command.after_help(lines.join("\n"))
}

fn typed(matches: &ArgMatches, recipe: Recipe) -> Option<Typed> {
    let (_, of_verb) = matches.subcommand()?;
    Some(Typed::read(of_verb, recipe))
}

fn shown(error: clap::Error, peek: &Peek, recipe: Option<&Recipe>) -> Result<Parsed, Problem> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Ok(Parsed::Shown(error.render().ansi().to_string()))
        }
        ErrorKind::UnknownArgument
            if peek.subject.as_deref() == Some(CONTAINER) && peek.verb.as_deref() != Some("create") =>
        {
            let verb = peek.verb.as_deref().unwrap_or_default();
            let words = "A container is a component, and the command names that alone";
            let hint = format!("Leave the word out: eos {verb} NAME");
            Err(Problem::usage(words, hint))
        }
        _ => Err(Problem::Usage(vec![wording(&error, recipe)])),
    }
}

/// The fault of the command line, in Eos's own words.
pub fn wording(error: &clap::Error, recipe: Option<&Recipe>) -> Diagnostic {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    // `--port <PORT>` and `--sso[=<BOOLEAN>]` are the flag with what it takes; only the flag is named.
    let flag = match argument.strip_prefix('[') {
        // One that may be left out, and has no dashes.
        Some(positional) => positional.trim_end_matches(']').to_owned(),
        None => argument.split([' ', '[']).next().unwrap_or_default().to_owned(),
    };
    let meant = text(ContextKind::SuggestedArg);
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => match (recipe, flag.strip_prefix("--")) {
            (Some(recipe), Some(option)) => {
                let names: Vec<String> = recipe
                    .settable()
                    .map(|spec| eos_core::expand::flag(&spec.name))
                    .collect();
                let meant = closest(option, names.iter().map(String::as_str))
                    .map(|name| format!("--{name}"))
                    // clap calls flags alike that have two letters in common.
                    .or(meant.filter(|meant| closest(option, [meant.trim_start_matches('-')]).is_some()));
                Diagnostic::new(format!("Recipe {} has no option --{option}", recipe.name)).hint(
                    match meant {
                        Some(meant) => format!("Did you mean {meant}?"),
                        None if OF_CONTAINERS.contains(&option) && recipe.file.starts_with(KEPT) => format!(
                            "Each variable is an option of its own; to add one, make a recipe of it: \
                             `eos catalog new {0} --from {0}`, then `eos update {0} --upgrade`",
                            recipe.name
                        ),
                        None => format!("`eos catalog show {}` lists its options", recipe.name),
                    },
                )
            }
            (_, Some(_)) => Diagnostic::new(format!("This command has no flag {flag}")).hint(
                meant.map_or("--help lists the flags of the command".to_owned(), |m| {
                    format!("Did you mean {m}?")
                }),
            ),
            (_, None) => Diagnostic::new(format!("Unexpected argument {}", quoted(&argument))).hint(
                match argument.split_once('=') {
                    Some((option, value)) => {
                        format!(
                            "Options are flags: --{} {}",
                            eos_core::expand::flag(option),
                            words::shell_word(value)
                        )
                    }
                    None => "--help shows the arguments of the command".to_owned(),
                },
            ),
        },
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let meant = text(ContextKind::SuggestedSubcommand).unwrap_or_default();
            Diagnostic::new(format!("There is no command {}", quoted(&word))).hint(
                match (habits::hint(&word), closest(&word, meant.split(", "))) {
                    (Some(here), _) => here.to_owned(),
                    (None, Some(meant)) => format!("Did you mean {meant}?"),
                    (None, None) => "--help lists the commands".to_owned(),
                },
            )
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Diagnostic::new("The command is incomplete").hint("--help shows how to complete it")
        }
        ErrorKind::MissingRequiredArgument => {
            let is = if argument.contains(", ") { "are" } else { "is" };
            Diagnostic::new(format!("{argument} {is} missing")).hint(missing_hint(&argument))
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            Diagnostic::new(format!("{flag} needs a value")).hint(format!("Give it as {argument}"))
        }
        ErrorKind::InvalidValue => {
            let valid = text(ContextKind::ValidValue).unwrap_or_default();
            let begun = || valid.split(", ").find(|one| one.starts_with(&value));
            let meant = closest(&value, valid.split(", "))
                .or_else(begun)
                .map(|meant| format!("Did you mean {meant}? "));
            Diagnostic::new(format!("{flag} cannot be {}", quoted(&value)))
                .hint(format!("{}It is one of {valid}", meant.unwrap_or_default()))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map_or_else(String::new, |why| format!(": {why}"));
            Diagnostic::new(format!("{flag} cannot be {}{why}", quoted(&value)))
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            match other.split([' ', '[']).next() == Some(&flag) {
                true => Diagnostic::new(format!("{flag} is given twice")).hint("Give it once"),
                false => Diagnostic::new(format!("{flag} and {other} exclude each other"))
                    .hint("Leave one of them out"),
            }
        }
        ErrorKind::InvalidUtf8 => {
            Diagnostic::new("An argument of the command is not UTF-8").hint("Write it in UTF-8")
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            Diagnostic::new(first).hint("--help shows the arguments of the command")
        }
    }
}

fn missing_hint(argument: &str) -> &'static str {
    match argument {
        "<RECIPE>" => "`eos catalog list` shows the recipes",
        "<COMPONENT>" => "`eos list` shows the components",
        both if both.contains("--from <NAME>") || both.contains("--to <NAME>") => {
            "For example: eos promote COMPONENT --from staging --to production"
        }
        _ => "--help shows the arguments of the command",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_recipe_may_have_none_of_the_own_flags() {
        let flags = own_flags();
        let mut options: Vec<String> = flags.iter().map(OwnFlag::option).collect();
        options.sort();
        options.dedup();
        let expected =
            "color env_file environment estate help json keep name no_wait out plan unset upgrade yes";
        assert_eq!(options.join(" "), expected);
        for (word, takes_value) in [
            ("-e", true),
            ("--env-file", true),
            ("-y", false),
            ("--no-wait", false),
        ] {
            let found = flags
                .iter()
                .find(|flag| flag.is(word))
                .map(|flag| flag.takes_value);
            assert_eq!(found, Some(takes_value), "{word}");
        }
        assert!(
            !flags
                .iter()
                .any(|flag| flag.is("--port") || flag.is("-") || flag.is("-ey"))
        );
    }
}
