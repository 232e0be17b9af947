//! `eos completions`: what a shell needs to complete the words of a command.

use super::{Answer, Session};
use crate::args::Cli;
use crate::problem::Exit;
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use eos_core::catalog::Catalog;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos completions bash > ~/.local/share/bash-completion/completions/eos
  eos completions zsh > ~/.zfunc/_eos
  eos completions fish > ~/.config/fish/completions/eos.fish")]
pub struct Args {
    /// The shell to complete for
    #[arg(value_parser = clap::builder::EnumValueParser::<Shell>::new())]
    shell: Shell,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let catalog = Catalog::load(&[])?;
    let recipes: Vec<String> = catalog.iter().map(|recipe| recipe.name.clone()).collect();
    let mut command = Cli::command().mut_subcommand("create", |create| {
        create.mut_arg("recipe", |recipe| {
            recipe.value_parser(PossibleValuesParser::new(recipes))
        })
    });
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "eos", &mut text);
    session.view.text(&String::from_utf8_lossy(&text));
    Ok(Exit::Done)
}
