//! `eos restart`: what runs of a component starts again, as it is.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use eos_core::intent::Sentence;
use eos_core::kinds::Deed;

/// Restart a component
///
/// Its instances restart one after the other; Eos waits until each is healthy before the next. A service with one
/// instance is down for a moment. Nothing else changes, and no undo is possible or needed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos restart hello --plan
  eos restart hello --yes")]
pub struct Args {
    /// The component to restart
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
        deed: Deed::Restart,
    };
    ask(session, &estate, Asked::new(sentence, environment, &args.look)).await
}
