//! `eos create`: a component from a recipe, or another noun.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session, container, host, nouns, volume};
use crate::options::{self, Chosen, Typed};
use crate::problem::Problem;
use clap::ValueHint;
use eos_core::intent::Sentence;
use eos_core::name::{self, Sort};
use std::path::PathBuf;

/// Create a component from a recipe
///
/// Eos writes the component into the pillar, compiles it, shows the plan, and applies it once you confirm. The options
/// of the recipe are flags of this command: `eos create RECIPE --help` lists them. A component that already exists with
/// these options stays untouched.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  eos create hello
  eos create hello greeter
  eos create grafana --port 3000 --plan
  eos create grafana --name metrics --admin-password -
  eos create hello --environment staging --yes
  eos create container web --image caddy:2.10 --port 80

`eos catalog list` shows the recipes, `eos create RECIPE --help` the options of one."
)]
pub struct Args {
    /// The recipe to create it from
    #[arg(required = true)]
    recipe: Option<String>,
    /// The same as --name
    #[arg(value_name = "NAME", conflicts_with = "name")]
    called: Option<String>,
    /// Name of the component [default: the name of the recipe]
    #[arg(long)]
    name: Option<String>,
    /// Take secrets from this .env file; a flag wins over it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    env_file: Option<PathBuf>,
    #[command(flatten)]
    look: PlanOnly,
    #[command(subcommand)]
    noun: Option<nouns::Create>,
}

pub async fn run(session: &mut Session<'_>, args: &Args, typed: Option<Typed>) -> Ended {
    let said =
        args.recipe.is_some() || args.called.is_some() || args.name.is_some() || args.env_file.is_some();
    match &args.noun {
        Some(nouns::Create::Container(container)) => {
            host::refuse_component("create", "container", said)?;
            return container::create(session, container, &args.look).await;
        }
        Some(nouns::Create::Host(host)) => {
            host::refuse_component("create", "host", said)?;
            return host::create(session, host, &args.look).await;
        }
        Some(nouns::Create::Volume(volume)) => {
            host::refuse_component("create", "volume", said)?;
            return volume::create(session, volume, &args.look).await;
        }
        None => {}
    }
    let estate = session.estate()?;
    let (Some(recipe), Some(mut typed)) = (&args.recipe, typed) else {
        return Err(Problem::usage(
            "RECIPE is missing",
            "`eos catalog list` shows the recipes",
        ));
    };
    let component = args.name.as_ref().or(args.called.as_ref()).unwrap_or(recipe);
    if let Some(problem) = name::problem(Sort::Component, component) {
        return Err(Problem::usage(problem, "Choose another name with --name"));
    }
    typed.add_file(args.env_file.as_deref(), session.view)?;
    let Chosen {
        mut options,
        secrets,
        warnings,
    } = options::choose(&typed, component, session.view)?;
    container::pin_images(&estate.settings, &typed.recipe, &mut options).await?;
    let asked = Asked {
        sentence: Sentence::CreateComponent {
            environment: session.environment(&estate),
            component: component.clone(),
            recipe: recipe.clone(),
            options,
        },
        environment: session.environment(&estate),
        secrets,
        warnings,
        look: &args.look,
    };
    ask(session, &estate, asked).await
}
