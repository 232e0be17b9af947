//! `eos init`: a new estate.

use super::{Answer, Session};
use crate::problem::Exit;
use crate::views::reports::MadeEstate;
use eos_engine::estate::Estate;
use std::path::PathBuf;

/// Make an estate
///
/// An estate is a git repository: what you want in pillar/, what it compiles to beside it, the engines in eos.toml.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos init my-estate
  cd empty-directory && eos init")]
pub struct Args {
    /// Where to make it; it is made if it is not there
    #[arg(default_value = ".", value_hint = clap::ValueHint::DirPath)]
    directory: PathBuf,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
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
    session.view.made_estate(&MadeEstate {
        environment: estate.settings.environment.clone(),
        root: estate.root,
        files,
    });
    Ok(Exit::Done)
}
