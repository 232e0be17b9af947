//! `eos update`: other options for a component, or other facts for another noun.

use super::carry_out::{Asked, ask};
use super::plan_file::Look;
use super::{Answer, Session, host, nouns};
use crate::options::{self, Typed};
use crate::problem::Problem;
use clap::ValueHint;
use eos_core::intent::{Noun, Verb};
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
    look: Look,
    #[command(subcommand)]
    noun: Option<nouns::Update>,
}

pub async fn run(session: &mut Session<'_>, args: &Args, typed: Option<Typed>) -> Answer {
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
    let mut chosen = options::take_typed(&typed, component)?;
    for option in &args.unset {
        let name = option.trim_start_matches("--").replace('-', "_");
        if chosen.options.insert(name, Value::Null).is_some() {
            let words = format!("--unset {option} and --{option} exclude each other");
            return Err(Problem::usage(words, "Leave one of them out"));
        }
    }
    let asked = Asked {
        verb: Verb::Update,
        noun: Noun::Component,
        environment: session.environment(&estate),
        from: None,
        upgrade: args.upgrade,
        component,
        recipe: None,
        chosen,
        words: [format!("eos update {component}")]
            .into_iter()
            .chain(args.upgrade.then(|| "--upgrade".to_owned()))
            .chain(
                args.unset
                    .iter()
                    .map(|option| format!("--unset {}", options::shell_word(option))),
            )
            .chain(typed.words())
            .collect(),
        look: &args.look,
    };
    ask(session, &estate, asked).await
}
