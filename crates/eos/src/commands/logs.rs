//! `eos logs`: what the tasks of a component wrote.

use super::carry_out::need_engines;
use super::{Ended, Session, logs_follow};
use crate::problem::{Exit, Problem};
use crate::views::reports::logs::{LogText, Logs};
use eos_engine::diagnose::Hidden;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::nomad::{Allocation, LogStream};
use eos_engine::store::Outcome;
use eos_engine::{EngineError, ErrorKind, NomadClient};

/// Lines of a log are short: so many bytes are read from its end for each one asked for.
pub const BYTES_A_LINE: u64 = 400;

/// How many operations are looked through for values that they overwrote and still keep.
const OPERATIONS: u32 = 20;

/// How many instances that ended are shown.
const ENDED: usize = 3;

/// Show the last lines that the tasks of a component wrote
///
/// Eos shows the running instances, or the latest one if none runs. It shows the component's secrets as ***. With --follow
/// it goes on: an instance that starts later joins, and Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos logs hello
  eos logs hello --follow
  eos logs hello --lines 500 > hello.log
  eos logs hello --ended")]
pub struct Args {
    /// The component whose tasks wrote them
    component: String,
    /// How many lines per log
    #[arg(long, short = 'n', default_value_t = 50, value_name = "NUMBER")]
    lines: usize,
    /// Show lines as they are written, until Ctrl-C
    #[arg(long, short, conflicts_with = "ended")]
    follow: bool,
    /// Show the last instances that no longer run, as after a failed update
    #[arg(long)]
    ended: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let wanted = session.component(&estate, &args.component);
    let engines = match &wanted {
        Ok(_) => need_engines(&estate)?,
        // One that was taken back is no longer wanted, but what it wrote is there for a while.
        Err(_) => match Engines::connect(&estate.settings)? {
            Some(engines) => engines,
            None => return Err(wanted.unwrap_err()),
        },
    };
    if args.follow {
        wanted?;
        return logs_follow::run(
            session,
            &estate,
            &engines,
            &environment,
            &args.component,
            args.lines,
        )
        .await;
    }
    let allocations = instances(&engines.nomad, &environment, &args.component).await;
    let allocations = match (wanted, allocations) {
        (Err(unknown), Err(_)) => return Err(unknown),
        (Err(unknown), Ok(found)) if found.is_empty() => return Err(unknown),
        (_, found) => found?,
    };
    let chosen = chosen(&allocations, args.ended);
    if chosen.is_empty() {
        let message = match args.ended {
            true => format!("No instance of {} has ended in {environment}", args.component),
            false => format!(
                "{} has not run in {environment}, so there is no log",
                args.component
            ),
        };
        return Err(Problem::not_done(message, "`eos status` shows what runs"));
    }
    let hidden = hidden_of(&estate, &engines, &environment, &args.component).await?;
    let mut logs = Vec::new();
    for allocation in chosen {
        for task in allocation.task_states.keys() {
            for stream in [LogStream::Stdout, LogStream::Stderr] {
                let text = tail(&engines.nomad, &environment, allocation, task, stream, args.lines).await?;
                let text = hidden.mask(&text);
                if !text.is_empty() {
                    logs.push(LogText {
                        allocation: allocation.id.clone(),
                        node: allocation.node_name.clone(),
                        status: allocation.client_status.clone(),
                        task: task.clone(),
                        stream: stream.name(),
                        text,
                    });
                }
            }
        }
    }
    session.view.show(&Logs(logs));
    Ok(Exit::Done)
}

/// The values that the component's logs may not show.
pub async fn hidden_of(
    estate: &Estate,
    engines: &Engines,
    environment: &str,
    component: &str,
) -> Result<Hidden, EngineError> {
    let history = estate.store_to_read()?.history(OPERATIONS)?;
    let open = history
        .iter()
        .filter(|one| !matches!(one.outcome, Outcome::Done | Outcome::TakenBack));
    let open: Vec<&str> = open.map(|one| one.id.as_str()).collect();
    let hidden = Hidden::of(engines, environment, component, &open).await;
    hidden.map_err(|error| {
        error.with_hint("Eos must know its secrets to hide them; Nomad shows everything: nomad alloc logs")
    })
}

/// The instances of a job, or of the last run of one that has a schedule.
pub async fn instances(
    nomad: &NomadClient,
    environment: &str,
    job: &str,
) -> Result<Vec<Allocation>, EngineError> {
    let found = nomad.job_allocations(environment, job).await?;
    match nomad.last_run(environment, job).await? {
        Some(run) if found.is_empty() => nomad.job_allocations(environment, &run).await,
        Some(_) | None => Ok(found),
    }
}

/// The newest allocation comes first.
fn chosen(allocations: &[Allocation], ended: bool) -> Vec<&Allocation> {
    let (running, others): (Vec<_>, Vec<_>) =
        allocations.iter().partition(|allocation| allocation.is_running());
    match ended {
        true => others.into_iter().take(ENDED).collect(),
        false if running.is_empty() => others.into_iter().take(1).collect(),
        false => running,
    }
}

async fn tail(
    nomad: &NomadClient,
    environment: &str,
    allocation: &Allocation,
    task: &str,
    stream: LogStream,
    lines: usize,
) -> Result<String, EngineError> {
    let bytes = BYTES_A_LINE * lines as u64;
    let text = match nomad.logs(environment, &allocation.id, task, stream, bytes).await {
        // A task that never started has written nothing.
        Err(error) if error.kind == ErrorKind::NotFound => String::new(),
        answer => answer?,
    };
    // A tail that is full begins within a line, perhaps within a secret of it.
    let cut = usize::from(text.len() as u64 >= bytes);
    let all: Vec<&str> = text.split_inclusive('\n').skip(cut).collect();
    Ok(all[all.len().saturating_sub(lines)..].concat())
}
