//! `eos create`: a component from a recipe.

use super::carry_out::{Asked, ask};
use super::{Answer, Session};
use crate::options::{self, Typed};
use crate::problem::Problem;
use eos_core::intent::{Noun, Verb};
use eos_core::name;

/// Create a component from a recipe
///
/// Writes it into the pillar, compiles it, shows the plan, and on confirmation has the engines carry it out. The
/// options of the recipe are flags of this command: `eos create RECIPE --help` lists them. What is there already, as it
/// was asked for, is left alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos create hello
  eos create grafana --port 3000 --plan
  eos create grafana --name metrics --admin-password -
  eos create hello --environment staging --yes

`eos catalog list` shows the recipes, `eos create RECIPE --help` the options of one.")]
pub struct Args {
    /// What to create, by the name of its recipe
    recipe: String,
    /// Name of the component, if it is not to be that of the recipe
    #[arg(long)]
    name: Option<String>,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args, typed: Option<Typed>) -> Answer {
    let estate = session.estate()?;
    let component = args.name.as_ref().unwrap_or(&args.recipe);
    if let Some(problem) = name::problem("component", component) {
        return Err(Problem::usage(problem, "Choose another name with --name"));
    }
    let typed =
        typed.ok_or_else(|| Problem::usage("RECIPE is missing", "`eos catalog list` shows the recipes"))?;
    let chosen = options::choose(&typed, component, session.view)?;
    let name = args
        .name
        .as_ref()
        .map(|name| format!("--name {}", options::shell_word(name)));
    let words = [format!("eos create {}", args.recipe)]
        .into_iter()
        .chain(name)
        .chain(typed.words())
        .collect();
    let asked = Asked {
        verb: Verb::Create,
        noun: Noun::Component,
        from: None,
        upgrade: false,
        component,
        recipe: Some(&args.recipe),
        chosen,
        words,
        only_plan: args.plan,
    };
    ask(session, &estate, asked).await
}
