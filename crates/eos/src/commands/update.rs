//! `eos update`: other options for a component, or other facts for another noun.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session, container, host, nouns};
use crate::options::{self, Chosen, Typed};
use crate::problem::Problem;
use clap::ValueHint;
use eos_core::intent::Sentence;
use serde_json::Value;
use std::path::PathBuf;

/// Change the options of a component
///
/// Only the options you give change. The options of the component's recipe are flags of this command: `eos update
/// COMPONENT --help` lists them.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  eos update hello --replicas 3
  eos update redis --password - --yes
  eos update hello --unset greeting
  eos update hello --upgrade --environment staging"
)]
pub struct Args {
    /// The component to change
    #[arg(required = true)]
    component: Option<String>,
    /// Upgrade to the newest recipe
    #[arg(long)]
    upgrade: bool,
    /// Return this option to its default [may be repeated]
    #[arg(long, value_name = "OPTION")]
    unset: Vec<String>,
    /// Take secrets from this .env file; a flag wins over it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    env_file: Option<PathBuf>,
    #[command(flatten)]
    look: PlanOnly,
    #[command(subcommand)]
    noun: Option<nouns::Update>,
}

pub async fn run(session: &mut Session<'_>, args: &Args, typed: Option<Typed>) -> Ended {
    if let Some(nouns::Update::Host(host)) = &args.noun {
        host::refuse_component(
            "update",
            "host",
            args.component.is_some() || args.upgrade || !args.unset.is_empty() || args.env_file.is_some(),
        )?;
        return host::update(session, host, &args.look).await;
    }
    let estate = session.estate()?;
    let (Some(component), Some(mut typed)) = (&args.component, typed) else {
        return Err(Problem::usage(
            "COMPONENT is missing",
            "`eos list` shows the components",
        ));
    };
    typed.add_file(args.env_file.as_deref(), session.view)?;
    let Chosen {
        mut options,
        secrets,
        warnings,
    } = options::take_typed(&typed, component)?;
    container::pin_images(&estate.settings, &typed.recipe, &mut options).await?;
    for option in &args.unset {
        let name = option.trim_start_matches("--").replace('-', "_");
        if options.insert(name, Value::Null).is_some() {
            let words = format!("--unset {option} and --{option} exclude each other");
            return Err(Problem::usage(words, "Leave one of them out"));
        }
    }
    let asked = Asked {
        sentence: Sentence::UpdateComponent {
            environment: session.environment(&estate),
            component: component.clone(),
            options,
            upgrade: args.upgrade,
        },
        environment: session.environment(&estate),
        secrets,
        warnings,
        look: &args.look,
    };
    ask(session, &estate, asked).await
}
