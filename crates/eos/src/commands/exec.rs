//! `eos exec`: a command, or a shell, in a task of a component.

use super::carry_out::need_engines;
use super::{Ended, Session, who};
use crate::problem::{Exit, Problem};
use crate::terminal::{self, Raw};
use crate::views::reports::session::Entered;
use crate::words::shell_word;
use eos_engine::audit::{Action, Actor, NewEntry};
use eos_engine::diagnose::Hidden;
use eos_engine::estate::Estate;
use eos_engine::nomad::{Allocation, TaskRun};
use eos_engine::session::{self, Input, LONGEST, Output, Said, Target};
use eos_engine::{EngineError, NomadClient};
use serde_json::json;
use std::io::{self, IsTerminal, Read, Write};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, sleep};

/// The best shell of an image; many have no other than `sh`.
const SHELL: &str = "if command -v bash >/dev/null; then exec bash; else exec sh; fi";
/// The names of sidecars of the mesh begin so: nobody means one of them.
const SIDECAR: &str = "connect-proxy-";
/// From here on an exit code says that a signal ended the command, perhaps that of its instance.
const SIGNALLED: i32 = 128;
/// So often nothing is said for the sake of the connection.
const BEAT: Duration = Duration::from_secs(10);
/// How long Nomad may take to say that an instance ended.
const LAGS: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(300);
const CHUNK: usize = 8 << 10;

/// Run a command, or a shell, in a task of a component
///
/// Eos opens one session for one instance, for ten minutes at most, and ends with the exit code of the command. On a
/// terminal the command gets a terminal; without COMMAND it is a shell. The audit records who ran which command, with the
/// component's secrets as ***. Your role must reach the risk of the component. Eos enters no program of a host.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos exec grafana                  a shell, on a terminal
  eos exec redis -- redis-cli info
  eos exec postgres -- psql -U postgres < schema.sql
  eos exec web --instance 8c1f2b3a -- cat /etc/hosts")]
pub struct Args {
    /// The component to enter
    component: String,
    /// The instance: the beginning of its id [default: the first healthy one]
    #[arg(long, value_name = "ID")]
    instance: Option<String>,
    /// The task, where an instance has several
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// The command with its arguments [default: a shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    if session.view.is_for_programs() {
        let hint = "Leave --json out: the command itself writes to standard output";
        return Err(Problem::usage("--json says nothing to a session", hint));
    }
    let with_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let command = match (args.command.as_slice(), with_terminal) {
        ([], false) => {
            let hint = format!("For example: eos exec {} -- env", shell_word(&args.component));
            return Err(Problem::usage(
                "COMMAND is missing: without a terminal there is no shell",
                hint,
            ));
        }
        ([], true) => ["sh", "-c", SHELL].map(str::to_owned).to_vec(),
        (given, _) => given.to_vec(),
    };
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    session.component(&estate, &args.component)?;
    let engines = need_engines(&estate)?;
    let running: Vec<Allocation> = engines
        .nomad
        .job_allocations(&environment, &args.component)
        .await?
        .into_iter()
        .filter(Allocation::is_running)
        .collect();
    let instance = choose(&running, args, &environment)?;
    let (task, state) = task_of(instance, args)?;
    if running.len() > 1 && args.instance.is_none() {
        session.view.show(&Entered {
            instance: &instance.id,
            node: &instance.node_name,
            of: running.len(),
        });
    }
    let target = Target {
        environment: &environment,
        component: &args.component,
        instance: &instance.id,
        task,
    };
    let hidden = Hidden::of(&engines, &environment, &args.component, &[]).await;
    let hidden = hidden.map_err(|error| match error.hint {
        None => error.with_hint("Eos must know its secrets to keep them out of the record"),
        Some(_) => error,
    })?;
    let words: Vec<String> = command.iter().map(|word| hidden.mask(word)).collect();
    let door = match session::open(&engines, target).await {
        Ok(door) => door,
        Err(error) => {
            write_down(&estate, target, &words, "refused")?;
            return Err(error.into());
        }
    };
    // It is written down before the command runs.
    write_down(&estate, target, &words, "begun")?;
    let (input, output) = match door.enter(&command, with_terminal).await {
        Ok(connection) => connection,
        Err(error) => {
            write_down(&estate, target, &words, "failed")?;
            return Err(error.into());
        }
    };
    let begun = Instant::now();
    let ended = join(input, output, with_terminal).await?;
    let code = match ended {
        Way::Left => return Ok(Exit::Interrupted),
        Way::Command(code) if code < SIGNALLED => return Ok(Exit::Command(code)),
        Way::Command(code) => Some(code),
        Way::Cut if begun.elapsed() >= LONGEST => {
            return Err(Problem::not_done(
                "The session ended: its ten minutes are over",
                "Run the command again",
            ));
        }
        Way::Cut => None,
    };
    match (why_gone(&engines.nomad, target, state).await?, code) {
        (Some(why), _) => Err(Problem::not_done(
            format!(
                "The session ended with its instance {}: {why}",
                short(&instance.id)
            ),
            format!("`eos status {}` shows what runs now", args.component),
        )),
        (None, Some(code)) => Ok(Exit::Command(code)),
        (None, None) => Err(Problem::not_done(
            "The connection to the session was lost",
            "The command may still run; `eos doctor` looks for what is wrong",
        )),
    }
}

enum Way {
    Command(i32),
    /// The connection ended first.
    Cut,
    /// The person left.
    Left,
}

/// The instance that was named, or the first healthy one.
fn choose<'a>(running: &'a [Allocation], args: &Args, environment: &str) -> Result<&'a Allocation, Problem> {
    let component = &args.component;
    if running.is_empty() {
        return Err(Problem::not_done(
            format!("Nothing of {component} runs in {environment}"),
            format!("`eos status {component}` says why; `eos start {component}` starts a stopped one"),
        ));
    }
    let mut sorted: Vec<&Allocation> = running.iter().collect();
    sorted.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    let found = match &args.instance {
        Some(id) => sorted.iter().find(|one| one.id.starts_with(id.as_str())),
        None => sorted
            .iter()
            .find(|one| one.healthy() == Some(true))
            .or(sorted.first()),
    };
    found.copied().ok_or_else(|| {
        let ids: Vec<&str> = sorted.iter().map(|one| short(&one.id)).collect();
        Problem::usage(
            format!(
                "No instance of {component} that runs begins with {}",
                args.instance.as_deref().unwrap_or_default()
            ),
            format!("It is one of {}", ids.join(", ")),
        )
    })
}

fn task_of<'a>(instance: &'a Allocation, args: &Args) -> Result<(&'a str, &'a TaskRun), Problem> {
    let tasks: Vec<(&str, &TaskRun)> = instance
        .task_states
        .iter()
        .filter(|(name, state)| state.state == "running" && !name.starts_with(SIDECAR))
        .map(|(name, state)| (name.as_str(), state))
        .collect();
    let named = |wanted: &str| tasks.iter().copied().find(|(name, _)| *name == wanted);
    let names = || tasks.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    match (&args.task, tasks.as_slice()) {
        (Some(wanted), _) => named(wanted).ok_or_else(|| {
            Problem::usage(
                format!("No task {wanted} runs in instance {}", short(&instance.id)),
                format!("It is one of {}", names()),
            )
        }),
        (None, [only]) => Ok(*only),
        (None, []) => Err(Problem::not_done(
            format!("No task runs in instance {}", short(&instance.id)),
            format!("`eos status {}` says why", args.component),
        )),
        (None, _) => named(&args.component).ok_or_else(|| {
            Problem::usage(
                format!("Instance {} has several tasks", short(&instance.id)),
                format!("Name one with --task: {}", names()),
            )
        }),
    }
}

fn write_down(
    estate: &Estate,
    target: Target<'_>,
    command: &[String],
    outcome: &str,
) -> Result<(), EngineError> {
    let words: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
    estate.store()?.audit(&NewEntry {
        by: Actor {
            who: &who(),
            user: estate.settings.salt_user(),
        },
        action: Action::Enter,
        object: &format!("{}/{}", target.environment, target.component),
        outcome,
        detail: json!({
            "environment": target.environment, "component": target.component, "instance": target.instance,
            "task": target.task, "command": words.join(" "),
        }),
    })
}

/// Hands through what is typed and said, until the command ends.
async fn join(mut input: Input, mut output: Output, with_terminal: bool) -> Result<Way, Problem> {
    let cannot = |error: io::Error| {
        Problem::not_done(
            format!("Cannot use the terminal: {error}"),
            "Try another terminal",
        )
    };
    let _raw = with_terminal.then(Raw::begin).transpose().map_err(cannot)?;
    let mut resized = signal(SignalKind::window_change()).map_err(cannot)?;
    let mut typed = read_input();
    let mut beat = interval(BEAT);
    let mut is_open = true;
    if let Some(size) = terminal::size().filter(|_| with_terminal) {
        input.size(size).await;
    }
    loop {
        tokio::select! {
            said = output.next() => match said? {
                Said::Stdout(bytes) => write(&mut io::stdout(), &bytes)?,
                Said::Stderr(bytes) => write(&mut io::stderr(), &bytes)?,
                Said::Exited(code) => return Ok(Way::Command(code)),
                Said::Cut => return Ok(Way::Cut),
            },
            bytes = typed.recv(), if is_open => match bytes {
                Some(bytes) => input.bytes(&bytes).await,
                None => {
                    is_open = false;
                    input.end().await;
                }
            },
            _ = resized.recv(), if with_terminal => {
                if let Some(size) = terminal::size() {
                    input.size(size).await;
                }
            }
            _ = beat.tick() => input.beat().await,
            // On a terminal in raw mode Ctrl-C is a byte like any other.
            Ok(()) = tokio::signal::ctrl_c() => return Ok(Way::Left),
        }
    }
}

/// Standard input, from a thread of its own: nothing else can wait for it and for the command at once.
fn read_input() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK];
        while let Ok(length @ 1..) = io::stdin().lock().read(&mut chunk) {
            if sender.blocking_send(chunk[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn write(to: &mut impl Write, bytes: &[u8]) -> Result<(), Problem> {
    to.write_all(bytes).and_then(|()| to.flush()).map_err(|error| {
        Problem::not_done(
            format!("Cannot write what the command says: {error}"),
            "The command may still run",
        )
    })
}

/// Why the instance no longer runs as it did, in words that end a sentence; nothing if it does.
async fn why_gone(
    nomad: &NomadClient,
    target: Target<'_>,
    before: &TaskRun,
) -> Result<Option<String>, EngineError> {
    let ends = Instant::now() + LAGS;
    loop {
        let instances = nomad
            .job_allocations(target.environment, target.component)
            .await?;
        let Some(now) = instances.iter().find(|one| one.id == target.instance) else {
            return Ok(Some("Nomad has forgotten it".to_owned()));
        };
        if !now.is_running() {
            let how = if now.desired_status == "run" {
                now.client_status.as_str()
            } else {
                "stopped"
            };
            return Ok(Some(format!("it is {how}")));
        }
        match now.task_states.get(target.task) {
            Some(task) if task.state == "running" && task.started_at == before.started_at => {}
            Some(_) | None => return Ok(Some(format!("task {} of it restarted", target.task))),
        }
        if Instant::now() >= ends {
            return Ok(None);
        }
        sleep(LOOK).await;
    }
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
