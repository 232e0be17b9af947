//! `eos stop`: nothing of a component runs until somebody starts it.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use eos_core::intent::Sentence;

/// Stop a component
///
/// Nothing of it runs until `eos start`. The pillar says so, and no other command starts it. Its job stays registered
/// with no instances; its data, secrets and volumes stay. The plan names the components that use it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos stop hello --plan
  eos stop hello --yes")]
pub struct Args {
    /// The component to stop
    component: String,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    session.component(&estate, &args.component)?;
    let environment = session.environment(&estate);
    let sentence = Sentence::StopComponent {
        environment: environment.clone(),
        component: args.component.clone(),
    };
    ask(session, &estate, Asked::new(sentence, environment, &args.look)).await
}
