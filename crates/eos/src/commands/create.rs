//! `eos create`: a component from a recipe.

use super::carry_out::{Change, change};
use super::{Answer, Session, environment_words, now, who};
use crate::options::{self, Typed};
use crate::problem::Problem;
use eos_core::intent::{Intent, Verb};
use eos_core::name;
use eos_engine::planning::Wish;

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
    let environment = session.environment(&estate);
    let component = args.name.as_ref().unwrap_or(&args.recipe);
    if let Some(problem) = name::problem("component", component) {
        return Err(Problem::usage(problem, "Choose another name with --name"));
    }
    let typed =
        typed.ok_or_else(|| Problem::usage("RECIPE is missing", "`eos catalog list` shows the recipes"))?;
    let chosen = options::choose(&typed, component)?;
    for warning in &chosen.warnings {
        session.view.warn(warning);
    }
    let name = args
        .name
        .as_ref()
        .map(|name| format!("--name {}", options::shell_word(name)));
    let words: Vec<String> = [format!("eos create {}", args.recipe)]
        .into_iter()
        .chain(name)
        .chain(environment_words(session))
        .chain(typed.words())
        .collect();
    let words = words.join(" ");
    let intent = Intent {
        verb: Verb::Create,
        environment: environment.clone(),
        component: component.clone(),
        recipe: Some(args.recipe.clone()),
        options: chosen.options,
        words: words.clone(),
        who: who(),
        when: now(),
    };
    let wish = Wish {
        environment,
        intent: Some(intent),
        components: Some(vec![component.clone()]),
        given: chosen.secrets.keys().cloned().collect(),
    };
    change(
        session,
        &estate,
        Change {
            wish,
            secrets: &chosen.secrets,
            words: &words,
            only_plan: args.plan,
        },
    )
    .await
}
