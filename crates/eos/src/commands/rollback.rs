//! `eos rollback` and `eos undo`: what an operation did is taken back.

use super::carry_out::{
    Confirmed, carry_out, confirm, give_up, is_nothing, need_engines, plan_as_possible, plan_to_confirm,
};
use super::{Answer, Session};
use crate::problem::{Exit, Problem};
use crate::views::Purpose;
use eos_engine::estate::Estate;
use eos_engine::operation::{find, newest_to_undo, rollback};
use eos_engine::store::{Operation, Outcome};
use std::collections::BTreeMap;

/// Take back what an operation did
///
/// One that was done is taken back by another operation, whose plan is shown first: the pillar becomes what it was, and
/// the engines follow. Data stays where it is. One that was stopped or failed is taken back where it stands.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos rollback 01KA3V9Q2M --plan
  eos rollback 01KA3V9Q2M --yes

`eos history` shows the operations.")]
pub struct Args {
    /// The operation, by its id or the beginning of it
    operation: String,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

/// Take back the newest operation that was done, or the one named
///
/// Said again, it takes back the one before. To have back what was undone, roll back the operation that undid it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos undo
  eos undo 01KA3V9Q2M --yes")]
pub struct UndoArgs {
    /// The operation, by its id or the beginning of it; else the newest
    operation: Option<String>,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let operation = find(&estate.store()?, &args.operation)?;
    roll_back(session, &estate, &operation, "rollback", args.plan).await
}

pub async fn undo(session: &mut Session<'_>, args: &UndoArgs) -> Answer {
    let estate = session.estate()?;
    let store = estate.store()?;
    let operation = match &args.operation {
        Some(named) => find(&store, named)?,
        None => newest_to_undo(&store)?,
    };
    roll_back(session, &estate, &operation, "undo", args.plan).await
}

async fn roll_back(
    session: &mut Session<'_>,
    estate: &Estate,
    operation: &Operation,
    verb: &str,
    only_plan: bool,
) -> Answer {
    let engines = need_engines(estate)?;
    match operation.outcome {
        Outcome::TakenBack => Err(Problem::usage(
            format!("Operation {} was taken back already", operation.id),
            "`eos history` shows the operations",
        )),
        Outcome::Done => {
            let wish = rollback(estate, operation).await?;
            if only_plan {
                let plan = plan_as_possible(session, estate, Some(&engines), wish).await?;
                session.view.plan(&plan, Purpose::Answer);
                return Ok(Exit::Done);
            }
            let plan = plan_to_confirm(session, estate, Some(&engines), wish).await?;
            if is_nothing(&plan) {
                session.view.nothing_to_do(&plan);
                return Ok(Exit::Done);
            }
            session.view.plan(&plan, Purpose::Confirm);
            confirm(session, "Apply?")?;
            let confirmed = Confirmed {
                plan: &plan,
                secrets: &BTreeMap::new(),
                words: &format!("eos {verb} {}", operation.id),
                takes_back: Some(&operation.id),
                exact: false,
            };
            carry_out(session, estate, &engines, confirmed).await
        }
        Outcome::Running | Outcome::Failed | Outcome::Interrupted | Outcome::Waiting => {
            if only_plan {
                return Err(Problem::usage(
                    format!("Operation {} did not come to its end", operation.id),
                    "How it is taken back depends on where it stands: leave --plan out",
                ));
            }
            confirm(
                session,
                &format!("Take back what was done of: {}?", operation.words),
            )?;
            give_up(session, estate, &engines, operation).await
        }
    }
}
