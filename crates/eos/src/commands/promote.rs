//! `eos promote`: what was tried in one environment comes into another.

use super::carry_out::{Asked, ask};
use super::plan_file::Look;
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
  eos promote hello --from staging --to production --yes
  eos promote --all --from production --to development")]
pub struct Args {
    /// The component to bring
    #[arg(required_unless_present = "all")]
    component: Option<String>,
    /// Bring every component; what the other environment has beside them is left as it is
    #[arg(long, conflicts_with = "component")]
    all: bool,
    /// The environment where it was tried
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(ENVIRONMENTS))]
    from: String,
    /// The environment that it comes into
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(ENVIRONMENTS))]
    to: String,
    #[command(flatten)]
    look: Look,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    session.refuse_environment("A promotion goes --from one environment --to another")?;
    let estate = session.estate()?;
    let Args { from, to, .. } = args;
    let (noun, component, what) = match &args.component {
        Some(component) => (Noun::Component, component, component.as_str()),
        None => (Noun::Environment, to, "--all"),
    };
    let asked = Asked {
        verb: Verb::Promote,
        noun,
        environment: to.clone(),
        from: Some(from.clone()),
        upgrade: false,
        component,
        recipe: None,
        chosen: Chosen::default(),
        words: vec![format!("eos promote {what} --from {from} --to {to}")],
        look: &args.look,
    };
    ask(session, &estate, asked).await
}
