//! `eos plan`: what the pillar as it stands would change.

use super::carry_out::plan_as_possible;
use super::{Ended, Session, plan_file};
use crate::problem::Exit;
use crate::views::reports::plan::{NothingToDo, PlanReport};
use eos_engine::engines::Engines;
use eos_engine::planning::{Planned, Wish};
use eos_engine::request::Request;
use std::path::PathBuf;

/// Show the changes that the pillar makes
///
/// You may edit the pillar by hand: the plan shows the meaning of the edit. Eos plans against the running engines and
/// asks each engine to preview its part; nothing changes. It names an engine that does not answer. Without any engine,
/// it plans against the last applied state. A plan in a file is pinned to the state it was made against: `eos apply`
/// refuses it once that state changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos plan
  eos plan --check            exit code 3 if anything is pending
  eos plan --out plan.json && eos apply plan.json")]
pub struct Args {
    /// Write the plan to this file, for `eos apply FILE`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with code 3 if the pillar has changes that are not applied; `eos drift` finds changes made outside Eos
    #[arg(long)]
    check: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let engines = Engines::connect(&estate.settings)?;
    let wish = Wish {
        environment,
        ..Wish::default()
    };
    let request = Request::new(session.requester(), wish);
    let Planned { plan, .. } = plan_as_possible(session, &estate, engines.as_ref(), &request).await?;
    if let Some(file) = &args.out {
        plan_file::write(file, &plan)?;
    }
    let nothing = plan.is_nothing();
    match nothing && !session.view.is_for_programs() {
        true => session.view.show(&NothingToDo(&plan)),
        false => session.view.show(&PlanReport::answer(&plan)),
    }
    Ok(if args.check && !nothing {
        Exit::Pending
    } else {
        Exit::Done
    })
}
