//! `eos completions`: what a shell needs to complete the words of a command.

use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::plain::Plain;
use clap::ValueEnum;

/// Print the completions for a shell
///
/// They complete commands, recipes with their options, and the components of the current estate.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos completions bash > ~/.local/share/bash-completion/completions/eos
  eos completions zsh > ~/.zfunc/_eos
  eos completions fish > ~/.config/fish/completions/eos.fish")]
pub struct Args {
    /// The shell to complete for
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    session.view.show(&Plain(match args.shell {
        Shell::Bash => include_str!("completions/eos.bash"),
        Shell::Zsh => include_str!("completions/eos.zsh"),
        Shell::Fish => include_str!("completions/eos.fish"),
    }));
    Ok(Exit::Done)
}
