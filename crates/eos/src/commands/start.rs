//! `eos start`: what somebody stopped runs again.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use eos_core::intent::Sentence;

/// Start a stopped component
///
/// It runs again with as many instances as before, and Eos proves that they are healthy.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos start hello --plan
  eos start hello --yes

`eos status` shows who stopped a component, and when.")]
pub struct Args {
    /// The component to start
    component: String,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    session.component(&estate, &args.component)?;
    let environment = session.environment(&estate);
    let sentence = Sentence::StartComponent {
        environment: environment.clone(),
        component: args.component.clone(),
    };
    ask(session, &estate, Asked::new(sentence, environment, &args.look)).await
}
