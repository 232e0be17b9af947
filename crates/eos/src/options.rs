//! Recipe options as flags, and where a value comes from that has no flag:
//! flag, then (secrets) `--env-file`, then `EOS_OPTION_<NAME>`, then a question to the person, then the default, else an error.

use crate::args::{OwnFlag, own_flags};
use crate::env_file::{self, FromFile};
use crate::env_names::OPTION_PREFIX;
use crate::problem::Problem;
use crate::terminal;
use crate::views::View;
use crate::words;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use eos_core::diagnostic::Diagnostic;
use eos_core::expand::flag;
use eos_core::option::{HIDDEN, OptionType};
use eos_core::recipe::{OptionSpec, Recipe};
use eos_core::template::Template;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The heading of flags that a verb has whatever the recipe.
const GENERAL: &str = "Options";

/// A recipe whose option would hide a flag cannot be used.
pub fn refuse_reserved(recipe: &Recipe) -> Result<(), Vec<Diagnostic>> {
    let own: Vec<String> = own_flags().iter().map(OwnFlag::option).collect();
    let clashing = recipe.options.iter().filter(|option| own.contains(&option.name));
    let found: Vec<_> = clashing
        .map(|option| {
            Diagnostic::new(format!(
                "Option {} of recipe {} has the name of a flag of every command",
                option.name, recipe.name
            ))
            .at(&recipe.file, option.at)
            .hint(format!(
                "Call it {}_{}",
                recipe.name.replace('-', "_"),
                option.name
            ))
        })
        .collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn id(option: &str) -> String {
    format!("option {option}")
}

fn variable(option: &str) -> String {
    format!("{OPTION_PREFIX}{}", option.to_uppercase())
}

/// The verb with the options of a recipe as its flags.
pub fn add_flags(command: Command, verb: &str, subject: &str, recipe: &Recipe) -> Command {
    let heading = format!("Options of recipe {}", recipe.name);
    let flags = recipe.settable().map(|spec| {
        let arg = Arg::new(id(&spec.name))
            .long(flag(&spec.name))
            .value_name(spec.kind.value_name())
            .help(help(spec, recipe))
            .help_heading(heading.clone());
        match &spec.kind {
            OptionType::Flag => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(yes_or_no())
                .hide_possible_values(true),
            OptionType::List(of) => of_kind(arg, of).action(ArgAction::Append).value_delimiter(','),
            // A negative number is a number out of its bounds, not a flag.
            OptionType::Integer | OptionType::Port => arg.allow_negative_numbers(true),
            kind => of_kind(arg, kind),
        }
    });
    // The recipe's options come first. The other nouns of the verb are none of this recipe's.
    let general: Vec<clap::Id> = command
        .get_arguments()
        .filter(|arg| !arg.is_positional() && arg.get_help_heading().is_none())
        .map(|arg| arg.get_id().clone())
        .collect();
    let help = Arg::new("help").short('h').long("help").help("Print help");
    let mut command = command
        .args(flags)
        .disable_help_flag(true)
        .mut_subcommands(|noun| noun.hide(true))
        .override_usage(match verb {
            "create" => format!("eos create {subject} [OPTIONS] [NAME]"),
            _ => format!("eos {verb} {subject} [OPTIONS]"),
        });
    for flag in general {
        command = command.mut_arg(flag, |arg| arg.help_heading(GENERAL));
    }
    command = command.arg(help.action(ArgAction::Help).help_heading(GENERAL));
    if verb != "create" {
        return command;
    }
    let first = recipe.options.first().map_or("replicas", |option| &option.name);
    command
        .about(format!(
            "Create {}: {} (version {})",
            recipe.name, recipe.summary, recipe.version
        ))
        .mut_arg("recipe", |recipe| recipe.hide(true))
        .mut_arg("called", |called| called.hide(true))
        .after_help(format!(
            "Eos takes an option without a flag from the environment ({OPTION_PREFIX}<NAME>, such as {}). \
             On a terminal it asks for an option that has no default. It reads a secret given as - from \
             standard input.",
            variable(first)
        ))
}

/// What is known of a value before it is read: its choices, or that it is a path.
fn of_kind(arg: Arg, kind: &OptionType) -> Arg {
    match kind {
        OptionType::Choice(choices) => arg.value_parser(PossibleValuesParser::new(choices.clone())),
        OptionType::Path => arg.value_hint(ValueHint::AnyPath),
        OptionType::Secret => arg.value_parser(words::secret),
        _ => arg,
    }
}

fn yes_or_no() -> PossibleValuesParser {
    PossibleValuesParser::new([
        PossibleValue::new("true").aliases(["yes", "on"]),
        PossibleValue::new("false").aliases(["no", "off"]),
    ])
}

fn takes(spec: &OptionSpec) -> String {
    let bound = |bound: Option<u64>| bound.map(|bound| spec.shown_bound(bound));
    let kind = takes_kind(&spec.kind);
    match (bound(spec.min), bound(spec.max)) {
        (Some(min), Some(max)) => format!("{kind}, from {min} to {max}"),
        (Some(min), None) => format!("{kind}, at least {min}"),
        (None, Some(max)) => format!("{kind}, at most {max}"),
        (None, None) => kind,
    }
}

fn takes_kind(kind: &OptionType) -> String {
    match kind {
        OptionType::String => "a text".to_owned(),
        OptionType::Integer => "a whole number".to_owned(),
        OptionType::Flag => "true or false".to_owned(),
        OptionType::Port => "a port between 1 and 65535".to_owned(),
        OptionType::Size => "a size such as 512M or 5G".to_owned(),
        OptionType::Duration => "a duration such as 90s, 5m or 2d".to_owned(),
        OptionType::Path => "an absolute path".to_owned(),
        OptionType::Domain => "a domain name".to_owned(),
        OptionType::Image => "an image such as caddy:2.10, whose digest Eos finds".to_owned(),
        OptionType::List(of) => format!("{}, or several separated by commas", takes_kind(of)),
        OptionType::Component => "the name of a component".to_owned(),
        OptionType::Choice(choices) => format!("one of {}", choices.join(", ")),
        OptionType::Secret => "a secret, or - to read it from standard input".to_owned(),
    }
}

fn help(spec: &OptionSpec, recipe: &Recipe) -> String {
    let several = matches!(spec.kind, OptionType::List(_)).then(|| "[may be repeated]".to_owned());
    let only = spec.when.as_ref().map(|when| format!("[{}]", only(when)));
    let default = default_words(spec, recipe).map(|default| format!("[default: {default}]"));
    let parts = [Some(spec.help.clone()), several, only, default];
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A condition, as a person would type what makes it true.
pub fn only(when: &Template) -> String {
    let shown = when.shown();
    let expression = shown.trim_start_matches("{{").trim_end_matches("}}").trim();
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = |text: &str| text.trim_matches(['\'', '"']).to_owned();
    match (expression.strip_prefix("not "), expression.split_once(" == ")) {
        (Some(name), _) if is_name(name) => format!("only without --{}", flag(name)),
        (_, Some((name, other))) if is_name(name) => format!("only with --{} {}", flag(name), value(other)),
        _ if is_name(expression) => format!("only with --{}", flag(expression)),
        _ => format!("only when {expression}"),
    }
}

/// The default as a person would read it; what depends on the component's name is shown for the usual name.
pub fn default_words(spec: &OptionSpec, recipe: &Recipe) -> Option<String> {
    if let Some(length) = spec.generate {
        return Some(format!("{length} random characters"));
    }
    let Some(default) = &spec.default else {
        return matches!(spec.name.as_str(), "replicas" | "cpu" | "memory")
            .then(|| "by environment".to_owned());
    };
    if spec.is_optional() {
        return None;
    }
    default
        .evaluate(&usual(recipe))
        .ok()
        .map(|value| words_of(&value))
        .filter(|words| !words.is_empty())
}

/// A value as a person would type it.
fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// What templates name in a component of the recipe's own name in production, with every option at its default.
pub fn usual(recipe: &Recipe) -> Map<String, Value> {
    let facts = [
        ("component", recipe.name.as_str()),
        ("environment", "production"),
        ("instance", recipe.name.as_str()),
        ("version", recipe.version.as_str()),
    ];
    let mut context: Map<_, _> = facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    for spec in recipe.settable() {
        let default = spec.default.as_ref();
        let value = default.and_then(|default| default.evaluate(&context).ok());
        context.insert(spec.name.clone(), value.unwrap_or(Value::Null));
    }
    context
}

/// What stands on the command line for the options of a recipe, in the order it was typed.
#[derive(Debug)]
pub struct Typed {
    pub recipe: Recipe,
    values: Vec<(String, SecretString)>,
    /// Secrets that a file gives, but for those on the command line.
    from_file: BTreeMap<String, SecretString>,
}

impl Typed {
    pub fn read(matches: &ArgMatches, recipe: Recipe) -> Self {
        let mut found: Vec<_> = recipe
            .settable()
            .filter_map(|spec| {
                let id = id(&spec.name);
                // The items of a list may stand in one flag or in several.
                let value = match spec.kind {
                    OptionType::Secret => matches.get_one::<SecretString>(&id)?.clone(),
                    _ => {
                        let values = matches.get_many::<String>(&id)?.map(String::as_str);
                        SecretString::from(values.collect::<Vec<_>>().join(","))
                    }
                };
                Some((matches.index_of(&id)?, spec.name.clone(), value))
            })
            .collect();
        found.sort_by_key(|(index, ..)| *index);
        let values = found.into_iter().map(|(_, name, value)| (name, value)).collect();
        Self {
            recipe,
            values,
            from_file: BTreeMap::new(),
        }
    }

    /// Takes secrets from a `.env` file; what stands on the command line wins.
    pub fn add_file(&mut self, file: Option<&Path>, view: &mut dyn View) -> Result<(), Problem> {
        let Some(file) = file else { return Ok(()) };
        let FromFile { mut values, warnings } = env_file::read(file, &self.recipe)?;
        for warning in &warnings {
            view.warn(warning);
        }
        values.retain(|name, _| !self.values.iter().any(|(typed, _)| typed == name));
        self.from_file = values;
        Ok(())
    }

    fn has(&self, option: &str) -> bool {
        self.values.iter().any(|(name, _)| name == option) || self.from_file.contains_key(option)
    }

    fn spec(&self, name: &str) -> &OptionSpec {
        let mut all = self.recipe.settable();
        all.find(|spec| spec.name == name)
            .expect("only options of the recipe are read")
    }
}

/// Options with a value each: plain ones to be written into the pillar, secret ones for the secrets engine alone.
#[derive(Debug, Default)]
pub struct Chosen {
    pub options: BTreeMap<String, Value>,
    pub secrets: BTreeMap<String, SecretString>,
    pub warnings: Vec<Diagnostic>,
}

/// The values of a `create`: what is not typed is looked for elsewhere.
pub fn choose(typed: &Typed, component: &str, view: &mut dyn View) -> Result<Chosen, Problem> {
    let mut chosen = take_typed(typed, component)?;
    let mut found = Vec::new();
    let mut unanswered = Vec::new();
    let can_ask = terminal::can_ask() && !view.is_for_programs();
    for spec in typed.recipe.settable() {
        if typed.has(&spec.name) {
            continue;
        }
        let own = typed.recipe.option(&spec.name).is_some();
        let value = match std::env::var(variable(&spec.name)) {
            Ok(value) => value.into(),
            Err(std::env::VarError::NotUnicode(_)) => {
                found.push(Diagnostic::new(format!("{} is not UTF-8", variable(&spec.name))));
                continue;
            }
            Err(_) if !own || spec.default.is_some() || spec.generate.is_some() => continue,
            Err(_) => {
                unanswered.push(spec);
                continue;
            }
        };
        if let Err(wrong) = chosen.add(spec, component, &value) {
            found.push(wrong);
        }
    }
    if !can_ask {
        let needed = unanswered
            .drain(..)
            .filter(|spec| chosen.applies(spec, &typed.recipe));
        found.extend(needed.map(|spec| missing(spec, component)));
    }
    if !found.is_empty() {
        return Err(Problem::Usage(found));
    }
    // A person is asked last, when nothing else is wrong, and again until the answer can be used.
    for spec in unanswered {
        while chosen.applies(spec, &typed.recipe) {
            match chosen.add_answer(spec, component, &ask(spec, component)?) {
                Ok(()) => break,
                Err(wrong) => view.warn(&wrong),
            }
        }
    }
    Ok(chosen)
}

/// The values of an `update`: only what is typed changes.
pub fn take_typed(typed: &Typed, component: &str) -> Result<Chosen, Problem> {
    let mut chosen = Chosen::default();
    let mut found = Vec::new();
    let mut lines = 0;
    for (name, value) in &typed.values {
        let spec = typed.spec(name);
        let from_input;
        let value = match spec.kind {
            OptionType::Secret if value.expose_secret() == "-" => {
                lines += 1;
                from_input =
                    read_secret(&spec.name, component).map_err(|error| unread(spec, component, &error))?;
                &from_input
            }
            OptionType::Secret => {
                if chosen.warnings.is_empty() {
                    chosen.warnings.push(visible(&flag(&spec.name)));
                }
                value
            }
            _ => value,
        };
        if let Err(wrong) = chosen.add(spec, component, value) {
            found.push(wrong);
        }
    }
    if lines > 0 {
        refuse_more_input(lines)?;
    }
    for (name, value) in &typed.from_file {
        if let Err(wrong) = chosen.add(typed.spec(name), component, value) {
            found.push(wrong);
        }
    }
    if found.is_empty() {
        Ok(chosen)
    } else {
        Err(Problem::Usage(found))
    }
}

/// Why a text cannot be a secret; said without showing it.
pub fn secret_problem(secret: &SecretString) -> Option<&'static str> {
    match secret.expose_secret() {
        "" => Some("it is empty"),
        HIDDEN => Some("*** stands for a secret and cannot be one"),
        text if text.chars().any(char::is_control) => Some("it contains a control character"),
        _ => None,
    }
}

impl Chosen {
    /// Whether the option means anything beside what was chosen so far; where that cannot be told, the compiler will.
    fn applies(&self, spec: &OptionSpec, recipe: &Recipe) -> bool {
        let Some(when) = &spec.when else { return true };
        let mut context = usual(recipe);
        context.extend(
            self.options
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let nothing = |value: &Value| match value {
            Value::Null | Value::Bool(false) => true,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        when.evaluate(&context).is_ok_and(|value| !nothing(&value))
    }

    /// An answer to a question: nothing is no answer.
    fn add_answer(
        &mut self,
        spec: &OptionSpec,
        component: &str,
        answer: &SecretString,
    ) -> Result<(), Diagnostic> {
        match answer.expose_secret() {
            "" => Err(wrong(spec, component, "it is empty")),
            _ => self.add(spec, component, answer),
        }
    }

    fn add(&mut self, spec: &OptionSpec, component: &str, value: &SecretString) -> Result<(), Diagnostic> {
        if spec.kind == OptionType::Secret {
            if let Some(why) = secret_problem(value) {
                return Err(wrong(spec, component, why));
            }
            self.secrets.insert(spec.name.clone(), value.clone());
            self.options.insert(spec.name.clone(), HIDDEN.into());
            return Ok(());
        }
        let value = spec
            .kind
            .from_words(value.expose_secret())
            .and_then(|value| match spec.kind {
                // The registry is asked for its digest once nothing else is wrong.
                OptionType::Image => Ok(value),
                _ => spec.check(value),
            })
            .map_err(|why| wrong(spec, component, &why))?;
        self.options.insert(spec.name.clone(), value);
        Ok(())
    }
}

fn wrong(spec: &OptionSpec, component: &str, why: &str) -> Diagnostic {
    Diagnostic::new(format!("Option {} of {component}: {why}", spec.name)).hint(format!(
        "--{} takes {}",
        flag(&spec.name),
        takes(spec)
    ))
}

/// A secret from standard input: asked for where a person sits before it.
pub fn read_secret(name: &str, component: &str) -> io::Result<SecretString> {
    match terminal::can_ask() {
        true => terminal::ask_hidden(&format!("{name} of {component}: ")),
        false => terminal::read_line().map(SecretString::from),
    }
}

/// A secret of several lines would lose all but its first.
pub fn refuse_more_input(lines: usize) -> Result<(), Problem> {
    let hint = "Give each secret one line; Eos takes no secret of several lines";
    let problem = |words| Err(Problem::usage(words, hint));
    match terminal::is_read_whole() {
        Ok(true) => Ok(()),
        Ok(false) if lines == 1 => {
            problem("Standard input has more than the one line of the secret".to_owned())
        }
        Ok(false) => problem(format!(
            "Standard input has more than the {lines} lines of the secrets"
        )),
        Err(error) => problem(format!("Standard input cannot be read to its end: {error}")),
    }
}

fn ask(spec: &OptionSpec, component: &str) -> Result<SecretString, Problem> {
    // What a text or a secret may be needs no word.
    let takes = match spec.kind {
        OptionType::String | OptionType::Secret => String::new(),
        _ => takes(spec),
    };
    let known: Vec<_> = [spec.help.as_str(), &takes]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    let question = match known.is_empty() {
        true => format!("{} of {component}: ", spec.name),
        false => format!("{} of {component} ({}): ", spec.name, known.join("; ")),
    };
    let answer = match spec.kind {
        OptionType::Secret => terminal::ask_hidden(&question),
        _ => terminal::ask(&question).map(SecretString::from),
    };
    answer.map_err(|error| unread(spec, component, &error))
}

fn unread(spec: &OptionSpec, component: &str, error: &io::Error) -> Problem {
    Problem::usage(
        format!("Option {} of {component} cannot be read: {error}", spec.name),
        format!(
            "Write it on one line of standard input, or set {}",
            variable(&spec.name)
        ),
    )
}

fn missing(spec: &OptionSpec, component: &str) -> Diagnostic {
    Diagnostic::new(format!("{component} needs option {}", spec.name)).hint(format!(
        "Give it with --{}{}, or set {}",
        flag(&spec.name),
        if spec.kind == OptionType::Secret {
            " - (standard input)"
        } else {
            ""
        },
        variable(&spec.name)
    ))
}

/// That a secret stands on the command line.
pub fn visible(flag: &str) -> Diagnostic {
    Diagnostic::new(format!(
        "The value of --{flag} can be read in the process list and the shell's history"
    ))
    .hint(format!("Use --{flag} - to give it on standard input"))
}
