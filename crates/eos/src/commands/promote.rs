//! `eos promote`: what was tried in one environment comes into another.

use super::carry_out::{Asked, ask};
use super::{Answer, Session};
use crate::options::Chosen;
use clap::builder::PossibleValuesParser;
use eos_core::intent::{Noun, Verb};
use eos_core::name::ENVIRONMENTS;

/// Bring a component from one environment into another
///
/// What it does goes along: the recipe it is pinned to, and its options. What belongs to the place stays as the other
/// environment has it: ports, paths, domains, replicas, cpu, memory, datacenter, the components it uses, and secrets; a recipe may say
/// otherwise of an option (`promote`). An
/// option that is at its default in the one goes back to it in the other. A component that is not there yet is made.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos promote hello --from staging --to production --plan
  eos promote hello --from staging --to production --yes")]
pub struct Args {
    /// The component to bring
    component: String,
    /// The environment where it was tried
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(ENVIRONMENTS))]
    from: String,
    /// The environment that it comes into
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(ENVIRONMENTS))]
    to: String,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    session.refuse_environment("A promotion goes --from one environment --to another")?;
    let estate = session.estate()?;
    let Args {
        component, from, to, ..
    } = args;
    let asked = Asked {
        verb: Verb::Promote,
        noun: Noun::Component,
        environment: to.clone(),
        from: Some(from.clone()),
        upgrade: false,
        component,
        recipe: None,
        chosen: Chosen::default(),
        words: vec![format!("eos promote {component} --from {from} --to {to}")],
        only_plan: args.plan,
    };
    ask(session, &estate, asked).await
}
