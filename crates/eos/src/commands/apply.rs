//! `eos apply`: carry out a plan, or the pillar as it stands.

use super::carry_out::{Change, Confirmed, carry_out, change, confirm, is_nothing, need_engines};
use super::{Answer, Session, environment_words};
use crate::options::shell_word;
use crate::problem::{Exit, Problem};
use crate::views::Purpose;
use eos_core::plan::{Plan, VERSION};
use eos_engine::planning::Wish;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Carry out a plan, or the pillar as it stands
///
/// Without a file it plans the pillar as it stands, shows that, and asks. With a file it carries out that very plan, and
/// refuses if the pillar was changed since.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos apply
  eos apply plan.json --yes")]
pub struct Args {
    /// A plan that `eos plan --out FILE` wrote
    file: Option<PathBuf>,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
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
                only_plan: args.plan,
            },
        )
        .await;
    };
    let plan = read(file)?;
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
    if args.plan {
        session.view.plan(&plan, Purpose::Answer);
        return Ok(Exit::Done);
    }
    if is_nothing(&plan) {
        session.view.nothing_to_do(&plan);
        return Ok(Exit::Done);
    }
    session.view.plan(&plan, Purpose::Confirm);
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

/// The plan in a file: as `eos plan --out` writes it, or inside of the document of `eos plan --json`.
fn read(file: &Path) -> Result<Plan, Problem> {
    let wrong = |why: String| {
        Problem::usage(
            format!("Cannot read a plan from {}: {why}", file.display()),
            "`eos plan --out FILE` writes one",
        )
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut document: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let plan = match document.get_mut("plan") {
        Some(plan) => plan.take(),
        None => document,
    };
    let plan: Plan = serde_json::from_value(plan).map_err(|error| wrong(error.to_string()))?;
    if plan.version != VERSION {
        return Err(wrong(format!(
            "it has version {}, this Eos knows version {VERSION}",
            plan.version
        )));
    }
    Ok(plan)
}
