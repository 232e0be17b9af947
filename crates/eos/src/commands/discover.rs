//! `eos discover`: what runs and is not in the pillar, and what the pillar has and does not run.

use super::carry_out::need_engines;
use super::{Ended, Session, now, who};
use crate::problem::{Exit, Problem};
use crate::views::reports::discover::Discovered;
use eos_core::discover::{Question, discover};
use eos_engine::estate::Estate;
use eos_engine::lock::{Lock, Target};
use eos_lab::Lab;
use std::collections::BTreeMap;

/// Find objects that run but are not in the pillar
///
/// Eos asks Salt for its minions, Nomad for its clients, jobs and services, and Consul for its services. It proposes a
/// pillar edit for each host and each job that fits a recipe. It lists the rest with their places, and pillar entries
/// that do not answer. Eos takes nothing over: a foreign job keeps running, and Eos would make its own.
///
/// --write writes the proposals into the pillar, without a commit and without applying them. Review them with `git
/// diff` and `eos plan`, and remove those you do not want.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos discover
  eos discover --json
  eos discover --write && git diff && eos plan")]
pub struct Args {
    /// Write the proposals into the pillar, and nothing else
    #[arg(long)]
    write: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
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
            let texts = discovery.files.iter();
            let edit = texts.map(|(path, text)| (path.clone(), Some(text.clone())));
            estate.write_pillar(&edit.collect())?;
            discovery.files.keys().cloned().collect()
        }
        false => Vec::new(),
    };
    session.view.show(&Discovered { discovery, written });
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
