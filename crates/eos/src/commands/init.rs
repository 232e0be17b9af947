//! `eos init`: a new estate.

use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::estate::MadeEstate;
use eos_engine::estate::Estate;
use std::path::PathBuf;

/// Create an estate
///
/// An estate is a git repository: your intent in pillar/, the compiled files beside it, the engines in eos.toml.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos init my-estate
  cd empty-directory && eos init")]
pub struct Args {
    /// Directory of the estate; Eos creates it if it does not exist
    #[arg(default_value = ".", value_hint = clap::ValueHint::DirPath)]
    directory: PathBuf,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = Estate::init(&args.directory).await?;
    let here = [
        "eos.toml",
        "pillar/infrastructure/common.sls",
        "pillar/infrastructure/production.sls",
    ];
    let files = here
        .into_iter()
        .filter(|file| estate.root.join(file).exists())
        .map(str::to_owned)
        .collect();
    session.view.show(&MadeEstate {
        environment: estate.settings.environment.clone(),
        root: estate.root,
        files,
    });
    Ok(Exit::Done)
}
