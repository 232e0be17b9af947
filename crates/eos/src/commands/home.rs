//! `eos home`: which machine operates this estate, and moving that here.

use super::carry_out::{confirm, need_engines};
use super::{Ended, Session, who};
use crate::problem::Exit;
use crate::views::reports::home::{HomeReport, Machine, MoveHome};
use eos_engine::audit::Actor;
use eos_engine::home::{self, Recorded};
use eos_engine::{EngineError, control};
use std::path::Path;

/// Show which machine operates this estate, or move that role here
///
/// An estate has one home: the machine whose store holds its journal and audit. The control minion records the home.
/// Eos on another machine compiles and plans, and refuses to operate. The first operation makes its machine the home.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos home
  eos home take")]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make this machine the home
    Take,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    session.refuse_environment("The whole estate has one home")?;
    let estate = session.estate()?;
    let engines = need_engines(&estate)?;
    let recorded = control::ask(&engines).await?.home;
    let before = report(&estate.root, recorded.clone())?;
    // Where the store was lost, taking the home again begins a new journal and audit.
    let is_kept = before.is_here && !estate.store_to_read()?.is_blank()?;
    if args.command.is_none() || is_kept {
        session.view.show(&before);
        return Ok(Exit::Done);
    }
    session.view.show(&MoveHome(&before));
    confirm(session, "Move the home here?")?;
    let person = who();
    let by = Actor {
        who: &person,
        user: &engines.endpoints.salt.user,
    };
    let taken = home::take(&engines, &estate, recorded.as_ref(), by).await?;
    session.view.show(&report(&estate.root, Some(taken))?);
    Ok(Exit::Done)
}

fn report(estate: &Path, recorded: Option<Recorded>) -> Result<HomeReport, EngineError> {
    let here = Machine {
        id: home::id(estate)?,
        name: home::machine_name(),
    };
    let is_here = recorded.as_ref().is_some_and(|home| home.id == here.id);
    Ok(HomeReport {
        here,
        home: recorded,
        is_here,
    })
}
