//! `eos logs`: what the tasks of a component wrote.

use super::carry_out::need_engines;
use super::{Answer, Session};
use crate::problem::{Exit, Problem};
use crate::views::reports::LogText;
use eos_engine::nomad::{Allocation, LogStream};
use eos_engine::{EngineError, ErrorKind, NomadClient};

/// Lines of a log are short: so many bytes are read from its end for each one asked for.
const BYTES_A_LINE: u64 = 400;

/// Show the last lines that the tasks of a component wrote
///
/// Of the running instances; if none runs, of the latest.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos logs hello
  eos logs hello --lines 500 > hello.log")]
pub struct Args {
    /// The component whose tasks wrote them
    component: String,
    /// How many lines of each log
    #[arg(long, short = 'n', default_value_t = 50, value_name = "NUMBER")]
    lines: usize,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    session.component(&estate, &args.component)?;
    let engines = need_engines(&estate)?;
    let allocations = engines
        .nomad
        .job_allocations(&environment, &args.component)
        .await?;
    let mut chosen: Vec<&Allocation> = allocations
        .iter()
        .filter(|allocation| allocation.is_running())
        .collect();
    if chosen.is_empty() {
        chosen.extend(allocations.first());
    }
    if chosen.is_empty() {
        let message = format!(
            "{} has not run in {environment}, so there is no log",
            args.component
        );
        return Err(Problem::not_done(message, "`eos plan` shows what is to be done"));
    }
    let mut logs = Vec::new();
    for allocation in chosen {
        for task in allocation.task_states.keys() {
            for (stream, name) in [(LogStream::Stdout, "stdout"), (LogStream::Stderr, "stderr")] {
                let text = tail(&engines.nomad, &environment, allocation, task, stream, args.lines).await?;
                if !text.is_empty() {
                    logs.push(LogText {
                        allocation: allocation.id.clone(),
                        node: allocation.node_name.clone(),
                        task: task.clone(),
                        stream: name,
                        text,
                    });
                }
            }
        }
    }
    session.view.logs(&logs);
    Ok(Exit::Done)
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
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    Ok(all[all.len().saturating_sub(lines)..].concat())
}
