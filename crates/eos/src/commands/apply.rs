//! `eos apply`: carry out a plan, or the pillar as it stands.

use super::carry_out::{Change, Confirmed, carry_out, change, confirm, is_nothing, need_engines};
use super::plan_file::{self, Look};
use super::{Answer, Session, environment_words};
use crate::options::shell_word;
use crate::problem::{Exit, Problem};
use crate::views::reports::plan::{NothingToDo, PlanReport};
use eos_engine::planning::Wish;
use std::collections::{BTreeMap, BTreeSet};
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
    look: Look,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let named = environment_words(session).map_or_else(String::new, |words| format!(" {words}"));
    let nothing = BTreeMap::new();
    let Some(file) = &args.file else {
        let wish = Wish {
            environment,
            intent: None,
            components: None,
            given: BTreeSet::new(),
            ..Wish::default()
        };
        let words = format!("eos apply{named}");
        return change(
            session,
            &estate,
            Change {
                wish,
                secrets: &nothing,
                words: &words,
                look: &args.look,
            },
        )
        .await;
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
    if is_nothing(&plan) {
        session.view.show(&NothingToDo(&plan));
        return Ok(Exit::Done);
    }
    session.view.show(&PlanReport::to_confirm(&plan));
    let engines = need_engines(&estate)?;
    confirm(session, "Apply?")?;
    let words = match &plan.intent {
        Some(intent) => intent.words.clone(),
        None => format!("eos apply {}{named}", shell_word(&file.display().to_string())),
    };
    let confirmed = Confirmed {
        plan: &plan,
        secrets: &nothing,
        words: &words,
        takes_back: None,
        exact: true,
    };
    carry_out(session, &estate, &engines, confirmed).await
}
