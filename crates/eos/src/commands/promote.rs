//! `eos promote`: what was tried in one environment comes into another.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use clap::builder::PossibleValuesParser;
use eos_core::intent::Sentence;
use eos_core::name::ENVIRONMENTS;

/// Copy a component from one environment to another
///
/// The pinned recipe and the options go along. Values that belong to a place stay as the other environment has them:
/// ports, paths, domains, replicas, cpu, memory, datacenter, used components, and secrets. A recipe can set this per
/// option (`promote`). An option that has its default in one environment returns to its default in the other. Eos
/// creates a component that is not there yet.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos promote hello --from staging --to production --plan
  eos promote hello --from staging --to production --yes
  eos promote --all --from production --to development")]
pub struct Args {
    /// The component to promote
    #[arg(required_unless_present = "all")]
    component: Option<String>,
    /// Promote every component; other components of the target stay as they are
    #[arg(long, conflicts_with = "component")]
    all: bool,
    /// The environment to promote from
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(ENVIRONMENTS))]
    from: String,
    /// The environment to promote to
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = PossibleValuesParser::new(ENVIRONMENTS))]
    to: String,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    session.refuse_environment("A promotion goes --from one environment --to another")?;
    let estate = session.estate()?;
    let Args { from, to, .. } = args;
    let sentence = match &args.component {
        Some(component) => Sentence::PromoteComponent {
            from: from.clone(),
            to: to.clone(),
            component: component.clone(),
        },
        None => Sentence::PromoteEnvironment {
            from: from.clone(),
            to: to.clone(),
        },
    };
    let asked = Asked::new(sentence, to.clone(), &args.look);
    ask(session, &estate, asked).await
}
