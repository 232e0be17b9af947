//! `eos approve`: let an operation be carried out that its requester may not carry out alone.

use super::carry_out::{confirm, need_engines};
use super::{Ended, Session, who};
use crate::problem::Exit;
use crate::views::reports::approved::Approved;
use crate::views::reports::plan::PlanReport;
use eos_engine::operation::find;
use eos_engine::{EngineError, approval};

/// Approve an operation that waits for approval
///
/// Eos shows the plan and asks. The approval covers only this plan and expires. Salt records it on every minion of the
/// plan. The requester cannot approve the operation, but resumes it afterwards. High risk needs an architect, medium
/// risk an operator.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos approve 01KA3V9Q2M --as eos-architect
  eos approve 01KA3V9Q2M --minutes 15")]
pub struct Args {
    /// The operation, by its id or the beginning of it
    operation: String,
    /// The Salt API user who approves [default: $EOS_SALT_USER]
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,
    /// How long the approval is valid
    #[arg(long, default_value_t = 60, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10080))]
    minutes: u32,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    session.refuse_environment("The operation names its environment")?;
    let mut estate = session.estate()?;
    if let Some(user) = &args.user {
        estate.settings.act_as(user);
    }
    let engines = need_engines(&estate)?;
    let mut store = estate.store()?;
    let operation = find(&store, &args.operation)?;
    let person = who();
    let (plan, caller) = approval::consider(&engines, &mut store, &operation, &person)
        .await
        .map_err(|error| as_user(error, args.user.as_deref()))?;
    session.view.show(&PlanReport::to_confirm(&plan));
    confirm(session, "Approve?")?;
    let minutes = args.minutes;
    let given = approval::approve(&engines, &estate, &operation.id, &plan, &caller, minutes, &person).await?;
    session.view.show(&Approved {
        approval: given,
        requester: approval::requester(&store, &operation.id)?,
    });
    Ok(Exit::Done)
}

/// Another user than the usual one logs in by name.
fn as_user(error: EngineError, user: Option<&str>) -> EngineError {
    match (user, error.hint.as_deref()) {
        (Some(user), Some("eos login")) => error.with_hint(format!("eos login --user {user}")),
        _ => error,
    }
}
