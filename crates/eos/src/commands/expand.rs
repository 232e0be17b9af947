//! `eos expand`: volumes that run full get more room, by rules that are told.

use super::carry_out::need_engines;
use super::plan_file::PlanOnly;
use super::storage::find_host;
use super::volume::{change, found_by_id};
use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use crate::views::Purpose;
use crate::views::reports::expand::Decisions;
use eos_core::storage::exact;
use eos_core::storage::expand::{Decision, THRESHOLD, decide};
use eos_engine::storage;
use serde_json::{Value, json};

/// Grow volumes that are filling up
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos expand storage
  eos expand storage --auto
  eos expand storage --auto --threshold 80 --yes")]
pub struct Args {
    #[command(subcommand)]
    noun: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Storage(Storage),
}

/// Plan the growth of volumes that are filling up, and apply it with --auto
///
/// Eos grows a volume above the threshold, or soon above it at its rate, in its volume group. It keeps a tenth of the
/// group free. If the group is full, Eos adds a disk that the pillar gives to it. The report lists every option it
/// rejected and why. With --yes, Eos stays within the standing approval of `[expand]` in eos.toml. There, `risk =
/// "medium"` lets volumes grow in their groups, and `"high"` lets disks join. `at_most = "100G"` limits one growth of a
/// volume.
#[derive(Debug, clap::Args)]
struct Storage {
    /// Apply the growth
    #[arg(long)]
    auto: bool,
    /// Threshold of a volume, in percent full
    #[arg(long, value_name = "PERCENT", default_value_t = THRESHOLD, value_parser = clap::value_parser!(u8).range(1..=99))]
    threshold: u8,
    /// Only volumes of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let What::Storage(args) = &args.noun;
    let estate = session.estate()?;
    let pillar = estate.whole_pillar()?;
    if let Some(host) = &args.host {
        find_host(&pillar, host)?;
    }
    let engines = need_engines(&estate)?;
    let seen = storage::look(&estate, &engines, &pillar, args.host.as_deref()).await?;
    // What is decided without all hosts would look as if the others were well.
    if let Some(silent) = seen.silent() {
        return Err(Problem::not_done(
            silent,
            "`eos doctor` shows the cause; --host checks one host alone",
        ));
    }
    let decisions = decide(&seen.disks(), &storage::terms(&estate, args.threshold));
    if !args.auto {
        session.view.show(&Decisions {
            decisions: &decisions,
            purpose: Purpose::Answer,
        });
        return Ok(match decisions.is_empty() {
            true => Exit::Done,
            false => Exit::Pending,
        });
    }
    session.view.show(&Decisions {
        decisions: &decisions,
        purpose: Purpose::Confirm,
    });
    let mut exit = Exit::Done;
    for decision in &decisions {
        let Some(to) = decision.to else {
            exit = Exit::Pending;
            continue;
        };
        if session.everywhere.yes {
            estate.settings.expand.refuse(decision).map_err(not_approved)?;
        }
        session.filled_in = Some(format!("{} to {}", decision.name, exact(to)));
        let (environment, volume) = found_by_id(&estate, &decision.volume)?;
        session.everywhere.environment = Some(environment);
        let answer = change(
            session,
            &estate,
            &volume,
            options(decision, to),
            &PlanOnly::default(),
        )
        .await?;
        if answer != Exit::Done {
            return Ok(answer);
        }
    }
    Ok(exit)
}

fn options(decision: &Decision, to: u64) -> Vec<(&'static str, Value)> {
    let mut options = vec![("size", Value::from(exact(to))), ("alert", decision.alert.into())];
    options.extend(
        decision
            .device
            .as_ref()
            .map(|device| ("devices", json!([device]))),
    );
    options
}

fn not_approved(words: String) -> Problem {
    Problem::usage(
        words,
        "Run it without --yes and confirm, or widen [expand] in eos.toml",
    )
}
