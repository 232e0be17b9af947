//! `eos plan`: what the pillar as it stands would change.

use super::carry_out::{is_nothing, plan_as_possible};
use super::{Answer, Session};
use crate::problem::{Exit, Problem};
use crate::views::Purpose;
use eos_engine::engines::Engines;
use eos_engine::planning::Wish;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Show what the pillar as it stands would change
///
/// The pillar may have been edited by hand: this shows what the edit means. With engines the plan is made against what
/// they run; without, against what was last applied.
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
    /// Exit with code 3 if anything is to be changed
    #[arg(long)]
    check: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let engines = Engines::connect(&estate.settings)?;
    let wish = Wish {
        environment,
        intent: None,
        components: None,
        given: BTreeSet::new(),
        ..Wish::default()
    };
    let plan = plan_as_possible(session, &estate, engines.as_ref(), wish).await?;
    if let Some(file) = &args.out {
        let text = serde_json::to_string_pretty(&plan).expect("a plan has a JSON form");
        std::fs::write(file, text + "\n").map_err(|error| {
            Problem::not_done(
                format!("Cannot write {}: {error}", file.display()),
                "Name a file that can be written",
            )
        })?;
    }
    let nothing = is_nothing(&plan);
    match nothing && !session.view.is_for_programs() {
        true => session.view.nothing_to_do(&plan),
        false => session.view.plan(&plan, Purpose::Answer),
    }
    Ok(if args.check && !nothing {
        Exit::Pending
    } else {
        Exit::Done
    })
}
