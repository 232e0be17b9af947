//! `eos rollback` and `eos undo`: what an operation did is taken back.

use super::carry_out::{carry_out, confirm, confirm_plan, give_up, need_engines, plan_as_possible};
use super::{Ended, Session, who};
use crate::problem::{Exit, Problem};
use crate::views::reports::plan::{NothingToDo, PlanReport};
use eos_engine::audit::Actor;
use eos_engine::estate::Estate;
use eos_engine::operation::{dismiss, find, newest_to_undo, require_undoable, rollback};
use eos_engine::planning::Planned;
use eos_engine::request::Request;
use eos_engine::store::{Operation, Outcome};

/// Roll back an operation
///
/// A new operation rolls back a finished one, and shows its plan first: the pillar returns to its earlier state, and
/// the engines follow. Data stays where it is. Eos rolls back a stopped or failed operation from where it stopped.
/// `--dismiss` closes one that can neither continue nor roll back: it stays as it is, and the audit keeps the reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos rollback 01KA3V9Q2M --plan
  eos rollback 01KA3V9Q2M --yes
  eos rollback 01KA3V9Q2M --dismiss 'its component was deleted by hand'

`eos history` shows the operations.")]
pub struct Args {
    /// The operation, by its id or the beginning of it
    operation: String,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
    /// Close an unfinished operation as it stands; the audit keeps the reason
    #[arg(long, value_name = "REASON", conflicts_with = "plan")]
    dismiss: Option<String>,
}

/// Roll back the newest finished operation, or a named one
///
/// A second undo rolls back the operation before. To redo, roll back the operation that undid it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos undo
  eos undo 01KA3V9Q2M --yes")]
pub struct UndoArgs {
    /// The operation, by its id or the beginning of it [default: the newest]
    operation: Option<String>,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let operation = find(&estate.store()?, &args.operation)?;
    if let Some(reason) = &args.dismiss {
        let engines = need_engines(&estate)?;
        confirm(session, &format!("Close it as it stands: {}?", operation.words))?;
        let by = Actor {
            who: &who(),
            user: estate.settings.salt_user(),
        };
        let dismissed = dismiss(&estate, &engines, &operation, reason, by).await?;
        session.view.show(&dismissed);
        return Ok(Exit::Done);
    }
    roll_back(session, &estate, &operation, args.plan).await
}

pub async fn undo(session: &mut Session<'_>, args: &UndoArgs) -> Ended {
    let estate = session.estate()?;
    let store = estate.store()?;
    let operation = match &args.operation {
        Some(named) => find(&store, named)?,
        None => {
            let newest = newest_to_undo(&store)?;
            session.filled_in = Some(newest.id.clone());
            newest
        }
    };
    roll_back(session, &estate, &operation, args.plan).await
}

async fn roll_back(
    session: &mut Session<'_>,
    estate: &Estate,
    operation: &Operation,
    only_plan: bool,
) -> Ended {
    let engines = need_engines(estate)?;
    require_undoable(&estate.store()?, operation)?;
    match operation.outcome {
        Outcome::TakenBack | Outcome::Dismissed => Err(Problem::usage(
            format!(
                "Operation {} is {} already",
                operation.id,
                operation.outcome.shown()
            ),
            "`eos history` shows the operations",
        )),
        Outcome::Done => {
            let request = Request::new(session.requester(), rollback(estate, operation).await?);
            if only_plan {
                let Planned { plan, .. } =
                    plan_as_possible(session, estate, Some(&engines), &request).await?;
                session.view.show(&PlanReport::answer(&plan));
                return Ok(Exit::Done);
            }
            let planned = request.plan(estate, Some(&engines)).await?;
            if planned.plan.is_nothing() {
                session.view.show(&NothingToDo(&planned.plan));
                return Ok(Exit::Done);
            }
            session.view.show(&PlanReport::to_confirm(&planned.plan));
            confirm_plan(session, &planned.plan)?;
            carry_out(session, estate, &engines, &request, planned).await
        }
        Outcome::Running | Outcome::Failed | Outcome::Interrupted | Outcome::Waiting => {
            if only_plan {
                return Err(Problem::usage(
                    format!("Operation {} did not finish", operation.id),
                    "Its rollback depends on where it stopped: leave --plan out",
                ));
            }
            confirm(
                session,
                &format!("Roll back the finished steps of: {}?", operation.words),
            )?;
            give_up(session, estate, &engines, operation).await
        }
    }
}
