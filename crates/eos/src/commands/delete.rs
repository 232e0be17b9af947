//! `eos delete`: a component, or another noun, goes away.

use super::carry_out::{Asked, ask};
use super::{Answer, Session, host};
use crate::options::Chosen;
use crate::problem::Problem;
use eos_core::intent::{Noun, Verb};

/// Delete a component
///
/// The plan shows what goes and what cannot be had back. Directories of volumes and the data in them are kept, except in
/// development, where they are deleted last.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  eos delete hello --plan
  eos delete hello --yes"
)]
pub struct Args {
    /// The component to delete
    #[arg(required = true)]
    component: Option<String>,
    /// Show the plan and stop
    #[arg(long, global = true)]
    plan: bool,
    #[command(subcommand)]
    noun: Option<host::Delete>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    if let Some(host::Delete::Host(host)) = &args.noun {
        host::refuse_component("delete", args.component.is_some())?;
        return host::delete(session, host, args.plan).await;
    }
    let estate = session.estate()?;
    let Some(component) = &args.component else {
        return Err(Problem::usage(
            "COMPONENT is missing",
            "`eos list` shows the components",
        ));
    };
    session.component(&estate, component)?;
    let asked = Asked {
        verb: Verb::Delete,
        noun: Noun::Component,
        environment: session.environment(&estate),
        from: None,
        upgrade: false,
        component,
        recipe: None,
        chosen: Chosen::default(),
        words: vec![format!("eos delete {component}")],
        only_plan: args.plan,
    };
    ask(session, &estate, asked).await
}
