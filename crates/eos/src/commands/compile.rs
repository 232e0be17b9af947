//! `eos compile`: the pillar into the files of the engines.

use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::compiled::Compiled;

/// Compile the pillar into Salt, Terraform and Nomad files
///
/// The same pillar gives the same bytes. Eos asks no engine and applies nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos compile
  eos compile --check         exit code 3 if a file is not as compiled")]
pub struct Args {
    /// Write nothing; exit with code 3 if a generated file is missing, stale or edited by hand
    #[arg(long)]
    check: bool,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let compilation = estate.compile()?;
    let differing = if args.check {
        estate.differing(&compilation.artifacts)?
    } else {
        estate.write_artifacts(&compilation.artifacts)?
    };
    let pending = args.check && !differing.is_empty();
    session.view.show(&Compiled {
        release: compilation.release,
        components: compilation.components.len(),
        files: compilation.artifacts.len(),
        differing,
        check: args.check,
    });
    Ok(if pending { Exit::Pending } else { Exit::Done })
}
