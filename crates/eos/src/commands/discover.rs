//! `eos discover`: what runs and is not in the pillar, and what the pillar has and does not run.

use super::carry_out::need_engines;
use super::{Answer, Session, now, who};
use crate::problem::{Exit, Problem};
use crate::views::reports::Discovered;
use eos_core::discover::{Question, discover};
use eos_engine::estate::Estate;
use eos_engine::lock::{Lock, Target};
use eos_lab::Lab;
use std::collections::BTreeMap;

/// Find what runs and is not in the pillar
///
/// Asks Salt for its minions, Nomad for its clients, jobs and services, and Consul for its services. A host, or a job that
/// fits a recipe, is proposed as an edit of the pillar; the rest is named with where it runs, and so is what the pillar has
/// and nobody answers for. Nothing is taken over: a job that Eos did not make goes on, and Eos would make its own.
///
/// With --write the proposals are written into the pillar, without a commit and without applying anything: look at
/// them with `git diff` and `eos plan`, and take out what you do not want.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos discover
  eos discover --json
  eos discover --write && git diff && eos plan")]
pub struct Args {
    /// Write what is proposed into the pillar, and nothing else
    #[arg(long)]
    write: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let engines = need_engines(&estate)?;
    let mut found = eos_engine::discover::find(&engines).await?;
    found.volumes_below = below(&estate)?;
    // Nobody else edits the pillar between reading and writing it.
    let _lock = match args.write {
        true => Some(Lock::try_acquire(&estate.root, Target::Estate, None)?),
        false => None,
    };
    let question = Question {
        files: &estate.pillar_files()?,
        catalog: &estate.catalog()?,
        profile: estate.settings.profile,
        environment: &session.environment(&estate),
        who: &who(),
        when: &now(),
    };
    let discovery = discover(&question, &found)?;
    let written = match args.write {
        true => {
            estate.write_pillar(&discovery.files)?;
            discovery.files.keys().cloned().collect()
        }
        false => Vec::new(),
    };
    session.view.discovered(&Discovered { discovery, written });
    Ok(Exit::Done)
}

/// The nodes of a lab share a machine, so that each has a directory of its own for volumes.
fn below(estate: &Estate) -> Result<BTreeMap<String, String>, Problem> {
    let nodes = Lab::at(estate.root.join(".eos/lab"))?.nodes()?;
    Ok(nodes
        .into_iter()
        .map(|node| (node.name, node.volumes_below.display().to_string()))
        .collect())
}
