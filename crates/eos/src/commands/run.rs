//! `eos run`: a job that has a schedule runs now.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use eos_core::intent::Sentence;
use eos_core::kinds::Deed;

/// Run a scheduled job now
///
/// Nomad starts one run beside its schedule; Eos waits for its end, and fails if the run fails. Nothing else changes,
/// and no undo is possible.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos run shop-nightly --plan
  eos run shop-nightly --yes

`eos status` shows how the last run of each job ended, `eos logs` what it wrote.")]
pub struct Args {
    /// The job to run
    component: String,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    session.component(&estate, &args.component)?;
    let environment = session.environment(&estate);
    let sentence = Sentence::Act {
        environment: environment.clone(),
        component: args.component.clone(),
        deed: Deed::Run,
    };
    ask(session, &estate, Asked::new(sentence, environment, &args.look)).await
}
