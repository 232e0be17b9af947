//! `eos drift`: what is not as the pillar says, and which layer it is that differs.

use super::carry_out::need_engines;
use super::{Ended, Session, reconcile};
use crate::formula;
use crate::problem::{Exit, Problem};
use crate::views::reports::drift::DriftReport;
use eos_core::drift::{Drift, Policy, remedy};
use eos_engine::drift::{Policies, Question, look};
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::home;
use eos_engine::lock::{Lock, Target};
use eos_engine::person;
use eos_engine::vault::policies;
use std::time::Duration;

/// Find changes made outside Eos
///
/// Eos compares the pillar with Terraform's states and with the real objects: jobs and services in Nomad and Consul,
/// policies in Vault, directories and files on hosts, generated files. It lists each difference with its layer and
/// changes nothing. The exit code is 3 if anything differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos drift
  eos drift grafana           one component
  eos drift --all             with the objects in step
  eos drift --watch           check every 300 seconds, on the home machine
  eos drift --json | jq '.objects[] | select(.verdict == \"changed\")'")]
pub struct Args {
    /// The component to check [default: all of the environment]
    component: Option<String>,
    /// Also show objects in step
    #[arg(long)]
    all: bool,
    /// Check again every so many seconds
    #[arg(
        long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "300",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    watch: Option<u64>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let engines = need_engines(&estate)?;
    let component = args.component.as_deref();
    if let Some(seconds) = args.watch {
        return watch(session, &estate, &engines, args, Duration::from_secs(seconds)).await;
    }
    let drift = find(session, &estate, &engines, component).await?;
    session.view.show(&DriftReport {
        drift: &drift,
        all: args.all,
    });
    Ok(exit(&drift))
}

pub fn exit(drift: &Drift) -> Exit {
    match drift.is_in_step() {
        true => Exit::Done,
        false => Exit::Pending,
    }
}

/// The differences of the environment, or of one component of it.
pub async fn find(
    session: &Session<'_>,
    estate: &Estate,
    engines: &Engines,
    component: Option<&str>,
) -> Result<Drift, Problem> {
    if let Some(component) = component {
        session.component(estate, component)?;
    }
    let control = formula::text(policies::CONTROL_FILE).unwrap_or_default();
    let person = formula::text(person::VAULT_FILE).unwrap_or_default();
    let question = Question {
        environment: &session.environment(estate),
        component,
        policies: Policies {
            control: &control,
            person: &person,
        },
    };
    Ok(look(estate, engines, &question).await?)
}

/// Looks until it is interrupted, and shows the changes since the last look. It corrects what the policy lets it.
async fn watch(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    args: &Args,
    pause: Duration,
) -> Ended {
    home::refuse_elsewhere(engines, estate).await?;
    let _one_at_a_time = Lock::try_acquire(&estate.root, Target::Watch, None)?;
    let mut told = None;
    loop {
        let looked = tokio::select! {
            looked = look_once(session, estate, engines, args, &mut told) => looked,
            Ok(()) = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
        };
        // What went wrong once may go well the next time.
        if let Err(problem) = looked {
            session.view.problem(&problem);
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            Ok(()) = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
        }
    }
}

async fn look_once(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    args: &Args,
    told: &mut Option<String>,
) -> Result<(), Problem> {
    let drift = find(session, estate, engines, args.component.as_deref()).await?;
    let differing: Vec<_> = drift.differing().collect();
    let now = serde_json::to_string(&differing).unwrap_or_default();
    if told.as_ref() == Some(&now) {
        return Ok(());
    }
    session.view.show(&DriftReport {
        drift: &drift,
        all: args.all,
    });
    // Remembered before anything is done about it: what could not be corrected is not tried again and again.
    *told = Some(now);
    let unasked = remedy(&drift, estate.settings.drift, &[Policy::Correct]);
    if unasked.is_empty() {
        return Ok(());
    }
    reconcile::correct(session, estate, engines, &unasked).await?;
    *told = None;
    Ok(())
}
