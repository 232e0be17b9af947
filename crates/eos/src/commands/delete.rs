//! `eos delete`: a component goes away.

use super::carry_out::{Asked, ask};
use super::{Answer, Session};
use crate::options::Chosen;
use eos_core::intent::{Noun, Verb};

/// Delete a component
///
/// The plan shows what goes and what cannot be had back. Directories of volumes and the data in them are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos delete hello --plan
  eos delete hello --yes")]
pub struct Args {
    /// The component to delete
    component: String,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    session.component(&estate, &args.component)?;
    let asked = Asked {
        verb: Verb::Delete,
        noun: Noun::Component,
        from: None,
        upgrade: false,
        component: &args.component,
        recipe: None,
        chosen: Chosen::default(),
        words: vec![format!("eos delete {}", args.component)],
        only_plan: args.plan,
    };
    ask(session, &estate, asked).await
}
