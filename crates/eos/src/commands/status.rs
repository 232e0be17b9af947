//! `eos status`: what runs, as the engines say.

use super::{Answer, Session, find_component};
use crate::problem::{Exit, Problem};
use crate::views::reports::{ComponentStatus, EngineStatus, LastOperation, StatusReport};
use eos_core::emit::terraform::PLATFORM;
use eos_engine::discovery::Discovery;
use eos_engine::engines::Engines;
use eos_engine::nomad::{Allocation, Job};
use eos_engine::store::Operation;
use eos_engine::vault::MOUNT;
use eos_engine::{ConsulClient, EngineError, ErrorKind, VaultClient};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long Salt may take to say that it is there.
const ASK: Duration = Duration::from_secs(10);

/// Show what runs
///
/// Desired and running instances as Nomad says, and one line for each engine. An engine that does not answer is named;
/// the others are shown all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos status
  eos status hello --json
  eos status --check          exit code 3 unless all of it runs and is healthy")]
pub struct Args {
    /// Only this component
    component: Option<String>,
    /// Exit with code 3 unless every component runs, is healthy, and every engine answers
    #[arg(long)]
    check: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let pillar = estate.whole_pillar()?;
    let store = estate.store()?;
    let applied = store.applied(&environment)?;
    let operations = store.history(1000)?;
    let names: BTreeSet<&str> = match &args.component {
        Some(name) => {
            find_component(&pillar, &environment, name)?;
            [name.as_str()].into()
        }
        None => {
            let wanted = pillar
                .components
                .keys()
                .filter(|(of, _)| *of == environment)
                .map(|(_, name)| name.as_str());
            wanted
                .chain(applied.iter().map(|one| one.component.as_str()))
                .filter(|name| *name != PLATFORM)
                .collect()
        }
    };
    let engines = Engines::connect(&estate.settings)?;
    let mut components = Vec::new();
    for name in names {
        components.push(component(engines.as_ref(), &environment, name, &operations).await?);
    }
    let engines = match &engines {
        Some(engines) => ask_engines(engines, &environment, &applied).await,
        None => vec![EngineStatus {
            engine: "engines",
            answers: false,
            words: "none: `eos lab up` starts them on this machine, eos.toml names others".to_owned(),
        }],
    };
    let status = StatusReport {
        environment,
        components,
        engines,
    };
    session.view.status(&status);
    Ok(match args.check && !status.is_well() {
        true => Exit::Pending,
        false => Exit::Done,
    })
}

async fn component(
    engines: Option<&Engines>,
    environment: &str,
    name: &str,
    operations: &[Operation],
) -> Result<ComponentStatus, Problem> {
    let last = operations.iter().find(|operation| {
        operation.environment == environment && operation.components.iter().any(|component| component == name)
    });
    let mut status = ComponentStatus {
        component: name.to_owned(),
        desired: None,
        running: None,
        healthy: None,
        version: None,
        since: None,
        operation: last.map(|operation| LastOperation {
            id: operation.id.clone(),
            verb: operation.words.split(' ').nth(1).unwrap_or_default().to_owned(),
            outcome: operation.outcome.words().to_owned(),
        }),
        trouble: None,
    };
    let Some(engines) = engines else { return Ok(status) };
    match look(engines, environment, name, &mut status).await {
        // Nomad itself is named below; what is known without it is shown.
        Err(error) if matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout) => Ok(status),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(status),
    }
}

async fn look(
    engines: &Engines,
    environment: &str,
    name: &str,
    status: &mut ComponentStatus,
) -> Result<(), EngineError> {
    let nomad = &engines.nomad;
    let job = match nomad.job(environment, name).await {
        Err(error) if error.kind == ErrorKind::NotFound => {
            (status.desired, status.running, status.healthy) = (Some(0), Some(0), Some(0));
            return Ok(());
        }
        answer => answer?,
    };
    let allocations = nomad.job_allocations(environment, name).await?;
    let running: Vec<&Allocation> = allocations
        .iter()
        .filter(|allocation| allocation.is_running())
        .collect();
    let desired = if job.stop { 0 } else { job.desired() };
    status.desired = Some(desired);
    status.running = Some(running.len() as u64);
    status.version = job.meta.get("eos_version").cloned();
    status.since = running
        .iter()
        .map(|allocation| allocation.create_time)
        .min()
        .and_then(moment);
    // After the rest, which is shown even if nobody answers here.
    let ill = ill(engines, environment, &job).await?;
    let healthy = running
        .iter()
        .filter(|allocation| allocation.healthy() == Some(true) && !ill.contains_key(&allocation.id))
        .count() as u64;
    status.healthy = Some(healthy);
    if healthy < desired {
        let check = running.iter().find_map(|allocation| ill.get(&allocation.id));
        let trouble = || allocations.iter().find_map(Allocation::trouble);
        status.trouble = check.cloned().or_else(trouble);
    }
    Ok(())
}

/// Instances whose check does not pass now, and which. What Nomad calls healthy was so when it was deployed.
async fn ill(
    engines: &Engines,
    environment: &str,
    job: &Job,
) -> Result<BTreeMap<String, String>, EngineError> {
    let mut found = BTreeMap::new();
    for service in job.task_groups.iter().flat_map(|group| &group.services) {
        let Some(check) = service.checks.first() else {
            continue;
        };
        for instance in engines.discovery().instances(&service.name, environment).await? {
            if instance.healthy == Some(false) {
                found.insert(instance.allocation, format!("{} does not pass", check.words()));
            }
        }
    }
    Ok(found)
}

/// Nomad counts nanoseconds.
fn moment(nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).ok()
}

async fn ask_engines(
    engines: &Engines,
    environment: &str,
    applied: &[eos_engine::store::Applied],
) -> Vec<EngineStatus> {
    let control = &engines.endpoints.control;
    let workspaces: Vec<String> = applied
        .iter()
        .map(|one| format!("{environment}/{}", one.component))
        .collect();
    let (info, observed, nodes, consul, vault) = tokio::join!(
        engines.salt.call(control, "eos.info", json!({}), ASK),
        engines
            .salt
            .call(control, "eos.observe", json!({"workspaces": workspaces}), ASK),
        engines.nomad.nodes(),
        of_full(engines.consul.as_ref(), ask_consul),
        of_full(engines.vault.as_ref(), ask_vault),
    );
    let salt = info.map(|info| {
        let release = info
            .get("release")
            .and_then(Value::as_str)
            .and_then(|release| release.get(..12));
        format!(
            "minion {control} answers, {}",
            release.map_or("no release".to_owned(), |release| format!("release {release}"))
        )
    });
    let terraform = observed.map(|observed| {
        let in_step = applied.iter().filter(|one| {
            let digest = observed
                .get("workspaces")
                .and_then(|all| all.get(format!("{environment}/{}", one.component)));
            digest.and_then(|one| one.get("digest")).and_then(Value::as_str) == Some(&one.digest)
        });
        match in_step.count() {
            count if count == applied.len() => format!("{count} workspaces, all as applied"),
            count => format!("{} workspaces, {count} as applied: eos plan", applied.len()),
        }
    });
    let nomad = nodes.map(|nodes| {
        let ready = nodes.iter().filter(|node| node.status == "ready").count();
        format!("{ready} of {} nodes ready", nodes.len())
    });
    let of_both = [("salt", salt), ("terraform", terraform), ("nomad", nomad)];
    let of_full = [("consul", consul), ("vault", vault)];
    let of_full = of_full
        .into_iter()
        .filter_map(|(engine, answer)| answer.map(|answer| (engine, answer)));
    of_both
        .into_iter()
        .chain(of_full)
        .map(|(engine, answer)| match answer {
            Ok(words) => EngineStatus {
                engine,
                answers: true,
                words,
            },
            Err(error) => EngineStatus {
                engine,
                answers: false,
                words: error.to_string(),
            },
        })
        .collect()
}

/// Asks an engine that only the full profile has.
async fn of_full<'a, T>(
    engine: Option<&'a T>,
    ask: impl AsyncFnOnce(&'a T) -> Result<String, EngineError>,
) -> Option<Result<String, EngineError>> {
    match engine {
        Some(engine) => Some(ask(engine).await),
        None => None,
    }
}

async fn ask_consul(consul: &ConsulClient) -> Result<String, EngineError> {
    let (leader, services) = tokio::try_join!(consul.leader(), consul.services_passing())?;
    Ok(format!(
        "leader {leader}, {} of {} services passing",
        services.passing, services.all
    ))
}

/// A sealed one refuses to say what is mounted.
async fn ask_vault(vault: &VaultClient) -> Result<String, EngineError> {
    let engine = vault.secrets_engine().await?;
    Ok(format!("unsealed, {} at {MOUNT}/", engine.words()))
}
