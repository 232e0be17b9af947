//! `eos update`: other options for a component.

use super::carry_out::{Change, change};
use super::{Answer, Session, environment_words, now, who};
use crate::options::{self, Typed};
use crate::problem::Problem;
use eos_core::intent::{Intent, Verb};
use eos_engine::planning::Wish;

/// Change the options of a component
///
/// Only what is given changes. The options of the component's recipe are flags of this command:
/// `eos update COMPONENT --help` lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos update hello --replicas 3
  eos update grafana --admin-password - --yes")]
pub struct Args {
    /// The component to change
    component: String,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args, typed: Option<Typed>) -> Answer {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let typed =
        typed.ok_or_else(|| Problem::usage("COMPONENT is missing", "`eos list` shows the components"))?;
    let chosen = options::take_typed(&typed, &args.component)?;
    for warning in &chosen.warnings {
        session.view.warn(warning);
    }
    let words: Vec<String> = [format!("eos update {}", args.component)]
        .into_iter()
        .chain(environment_words(session))
        .chain(typed.words())
        .collect();
    let words = words.join(" ");
    let intent = Intent {
        verb: Verb::Update,
        environment: environment.clone(),
        component: args.component.clone(),
        recipe: None,
        options: chosen.options,
        words: words.clone(),
        who: who(),
        when: now(),
    };
    let wish = Wish {
        environment,
        intent: Some(intent),
        components: Some(vec![args.component.clone()]),
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
