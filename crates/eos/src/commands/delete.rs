//! `eos delete`: a component, or another noun, goes away.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session, host, nouns, volume};
use crate::problem::Problem;
use eos_core::intent::Sentence;
use eos_engine::estate::Estate;

/// Delete a component
///
/// The plan shows what Eos deletes and what you cannot recover. Eos keeps the volumes and their data, except in
/// development, where it deletes them last. --all deletes every component of the environment in one plan, to end a
/// throw-away environment.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  eos delete hello --plan
  eos delete hello --yes
  eos delete --all --environment development"
)]
pub struct Args {
    /// The component to delete
    #[arg(required_unless_present = "all")]
    component: Option<String>,
    /// Every component of the environment that --environment names
    #[arg(long, conflicts_with = "component")]
    all: bool,
    #[command(flatten)]
    look: PlanOnly,
    #[command(subcommand)]
    noun: Option<nouns::Delete>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let said = args.component.is_some() || args.all;
    match &args.noun {
        Some(nouns::Delete::Host(host)) => {
            host::refuse_component("delete", "host", said)?;
            return host::delete(session, host, &args.look).await;
        }
        Some(nouns::Delete::Volume(volume)) => {
            host::refuse_component("delete", "volume", said)?;
            return volume::delete(session, volume, &args.look).await;
        }
        None => {}
    }
    let estate = session.estate()?;
    if args.all {
        return delete_all(session, &estate, &args.look).await;
    }
    let Some(component) = &args.component else {
        return Err(Problem::usage(
            "COMPONENT is missing",
            "`eos list` shows the components",
        ));
    };
    session.component(&estate, component)?;
    let environment = session.environment(&estate);
    let sentence = Sentence::DeleteComponent {
        environment: environment.clone(),
        component: component.clone(),
    };
    let asked = Asked::new(sentence, environment, &args.look);
    ask(session, &estate, asked).await
}

/// The usual environment is not meant by saying nothing: this takes too much along.
async fn delete_all(session: &mut Session<'_>, estate: &Estate, look: &PlanOnly) -> Ended {
    let Some(environment) = session.everywhere.environment.clone() else {
        return Err(Problem::usage(
            "--all needs the environment by name",
            "For example: --environment development",
        ));
    };
    let sentence = Sentence::DeleteEnvironment {
        environment: environment.clone(),
    };
    let asked = Asked::new(sentence, environment, look);
    ask(session, estate, asked).await
}
