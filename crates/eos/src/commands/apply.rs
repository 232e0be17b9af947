//! `eos apply`: carry out a plan, or the pillar as it stands.

use super::carry_out::{carry_out, change, confirm, need_engines};
use super::plan_file::{self, PlanOnly};
use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use crate::views::reports::plan::{NothingToDo, PlanReport};
use eos_engine::planning::{Planned, Wish};
use eos_engine::request::Request;
use std::path::PathBuf;

/// Apply a plan, or the pillar as it is
///
/// Without a file, Eos plans the pillar as it is, shows the plan, and asks. With a file, Eos applies exactly that plan.
/// It refuses if the pillar, a Terraform state, a Nomad job or a Consul service changed since.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos apply
  eos apply plan.json --yes")]
pub struct Args {
    /// A plan that `eos plan --out FILE` wrote, or `--plan --out FILE` of another verb
    file: Option<PathBuf>,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let mut by = session.requester();
    let Some(file) = &args.file else {
        let wish = Wish {
            environment,
            ..Wish::default()
        };
        return change(session, &estate, Request::new(by, wish), &args.look).await;
    };
    args.look.refuse_rewriting()?;
    let plan = plan_file::read(file)?;
    if session
        .everywhere
        .environment
        .as_ref()
        .is_some_and(|named| *named != plan.environment)
    {
        let message = format!(
            "The plan in {} is for {}, not for {environment}",
            file.display(),
            plan.environment
        );
        return Err(Problem::usage(message, "Leave --environment out"));
    }
    if args.look.plan {
        session.view.show(&PlanReport::answer(&plan));
        return Ok(Exit::Done);
    }
    if plan.is_nothing() {
        session.view.show(&NothingToDo(&plan));
        return Ok(Exit::Done);
    }
    session.view.show(&PlanReport::to_confirm(&plan));
    let engines = need_engines(&estate)?;
    confirm(session, "Apply?")?;
    if let Some(intent) = &plan.intent {
        by.words.clone_from(&intent.said.words);
    }
    let request = Request::new(by, Wish::again(&plan));
    carry_out(session, &estate, &engines, &request, Planned::exact(plan)).await
}
