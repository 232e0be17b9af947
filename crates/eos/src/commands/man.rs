//! `eos man`: manual pages.

use super::{Ended, Session};
use crate::args::{self, Cli};
use crate::ground::Ground;
use crate::peek::{self, Peek};
use crate::problem::{Exit, Problem};
use crate::views::reports::plain::Plain;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use eos_core::name::{closest, quoted};
use std::ffi::OsString;
use std::io::{self, Write};

/// Print the manual page of Eos, or of a command
///
/// The page is in roff, for `man`. The page of `create RECIPE` has the options of the recipe.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos man | man -l -
  eos man create grafana | man -l -
  eos man lab up > ~/.local/share/man/man1/eos-lab-up.1")]
pub struct Args {
    /// The words of the command
    command: Vec<String>,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let words: Vec<OsString> = std::iter::once("eos")
        .chain(args.command.iter().map(String::as_str))
        .map(OsString::from)
        .collect();
    let peek = Peek {
        environment: session.everywhere.environment.clone(),
        estate: session.everywhere.estate.clone(),
        ..peek::peek(&words)
    };
    let page = page(&args.command, &peek)?;
    let mut text = Vec::new();
    render(&page, &mut text).expect("memory can be written to");
    session.view.show(&Plain(&String::from_utf8_lossy(&text)));
    Ok(Exit::Done)
}

/// The command that the words name.
fn page(words: &[String], peek: &Peek) -> Result<Command, Problem> {
    let mut root = Cli::command();
    let recipe = Ground::default().recipe_of(peek)?;
    if let Some(recipe) = &recipe {
        root = args::with_options(root, peek, recipe)?;
    }
    root.build();
    let mut command = &root;
    for word in words {
        match command.find_subcommand(word).filter(|named| !named.is_hide_set()) {
            Some(named) => command = named,
            None if recipe.is_some() && peek.subject.as_ref() == Some(word) => {}
            None => return Err(unknown(command, word)),
        }
    }
    let usage = command.clone().render_usage().to_string();
    Ok(command
        .clone()
        .override_usage(usage.trim_start_matches("Usage: ").to_owned())
        .subcommand_help_heading("COMMANDS")
        .mut_arg("help", |help| help.help("Print help").long_help(None)))
}

fn unknown(command: &Command, word: &str) -> Problem {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let meant = closest(word, shown.map(Command::get_name));
    Problem::usage(
        format!("There is no command {}", quoted(word)),
        match meant {
            Some(meant) => format!("Did you mean {meant}?"),
            None => "--help lists the commands".to_owned(),
        },
    )
}

fn render(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(command.clone());
    let name = command.get_display_name().unwrap_or("eos").to_uppercase();
    // Written here because the date, which is left empty so that a page is the same every day, would be left out.
    let version = env!("CARGO_PKG_VERSION");
    writeln!(page, ".TH \"{name}\" \"1\" \"\" \"eos {version}\" \"Eos\"")?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(page)?;
    }
    if let Some(text) = command.get_after_help() {
        closing(&text.to_string()).to_writer(page)?;
    }
    Ok(())
}

/// The end of a help: `Examples:` becomes a section, indented lines stay as they are.
fn closing(text: &str) -> Roff {
    let mut roff = Roff::default();
    for (number, paragraph) in text.split("\n\n").enumerate() {
        let (heading, lines) = match paragraph.split_once(":\n") {
            Some((heading, lines)) if !heading.contains('\n') => (Some(heading), lines),
            _ => (None, paragraph),
        };
        match (heading, number) {
            (Some(heading), _) => roff.control("SH", [heading.to_uppercase().as_str()]),
            (None, 0) => roff.control("SH", ["NOTES"]),
            (None, _) => roff.control("PP", []),
        };
        let as_it_is = lines.starts_with("  ");
        if as_it_is {
            roff.control("nf", []);
        }
        for line in lines.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        if as_it_is {
            roff.control("fi", []);
        }
    }
    roff
}
