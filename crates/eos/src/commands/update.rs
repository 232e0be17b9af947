//! `eos update`: other options for a component.

use super::carry_out::{Asked, ask};
use super::{Answer, Session};
use crate::options::{self, Typed};
use crate::problem::Problem;
use eos_core::intent::{Noun, Verb};

/// Change the options of a component
///
/// Only what is given changes. The options of the component's recipe are flags of this command:
/// `eos update COMPONENT --help` lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos update hello --replicas 3
  eos update grafana --admin-password - --yes
  eos update hello --upgrade --environment staging")]
pub struct Args {
    /// The component to change
    component: String,
    /// Take the newest recipe in place of the one it was made from
    #[arg(long)]
    upgrade: bool,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args, typed: Option<Typed>) -> Answer {
    let estate = session.estate()?;
    let typed =
        typed.ok_or_else(|| Problem::usage("COMPONENT is missing", "`eos list` shows the components"))?;
    let asked = Asked {
        verb: Verb::Update,
        noun: Noun::Component,
        from: None,
        upgrade: args.upgrade,
        component: &args.component,
        recipe: None,
        chosen: options::take_typed(&typed, &args.component)?,
        words: [format!("eos update {}", args.component)]
            .into_iter()
            .chain(args.upgrade.then(|| "--upgrade".to_owned()))
            .chain(typed.words())
            .collect(),
        only_plan: args.plan,
    };
    ask(session, &estate, asked).await
}
