//! `eos delete`: a component goes away.

use super::carry_out::{Change, change};
use super::{Answer, Session, environment_words, find_component, now, who};
use eos_core::intent::{Intent, Verb};
use eos_core::pillar::Pillar;
use eos_engine::planning::Wish;
use std::collections::{BTreeMap, BTreeSet};

/// Delete a component
///
/// The plan shows what goes and what cannot be had back. Directories of volumes and the data in them are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos delete hello --plan
  eos delete hello --yes")]
pub struct Args {
    /// The component to delete
    component: String,
    /// Show the plan and stop
    #[arg(long)]
    plan: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    find_component(
        &Pillar::read(&estate.pillar_files()?)?,
        &environment,
        &args.component,
    )?;
    let words: Vec<String> = [format!("eos delete {}", args.component)]
        .into_iter()
        .chain(environment_words(session))
        .collect();
    let words = words.join(" ");
    let intent = Intent {
        verb: Verb::Delete,
        environment: environment.clone(),
        component: args.component.clone(),
        recipe: None,
        options: BTreeMap::new(),
        words: words.clone(),
        who: who(),
        when: now(),
    };
    let wish = Wish {
        environment,
        intent: Some(intent),
        components: Some(vec![args.component.clone()]),
        given: BTreeSet::new(),
    };
    change(
        session,
        &estate,
        Change {
            wish,
            secrets: &BTreeMap::new(),
            words: &words,
            only_plan: args.plan,
        },
    )
    .await
}
