//! `eos-install COMMAND...`: installs the engines of a solo lab while a command, the build of Eos, runs beside it.
//! Both are shown in one list of plain lines.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eos_install::progress::Running;
use eos_install::tool::Run;
use eos_install::{Advance, Cache, Outcome, Progress, Result, Step, Wanted, install};
use tokio::signal::unix::{SignalKind, signal};

/// How many crates Eos usually comes to, besides those of this program.
const CRATES: u64 = 190;
/// A step says how far it has come at most once in this time.
const BETWEEN_LINES: Duration = Duration::from_secs(30);
/// A step that ends sooner leaves no line.
const WORTH_A_LINE: Duration = Duration::from_secs(2);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command: Vec<OsString> = env::args_os().skip(1).collect();
    let lines = Lines::default();
    let both = async {
        let cache = Cache::of_user()?;
        tokio::try_join!(
            install(&cache, Wanted::default(), &lines),
            build(&command, &lines)
        )
    };
    // Whatever still runs ends with its future.
    tokio::select! {
        done = both => match done {
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("error: {error}"));
                if let Some(hint) = error.hint() {
                    say(&format!("hint: {hint}"));
                }
                ExitCode::FAILURE
            }
        },
        () = interrupted() => {
            say("interrupted: the next run goes on from here");
            ExitCode::from(130)
        }
    }
}

async fn interrupted() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Runs the command, and counts the crates that cargo compiles.
async fn build(command: &[OsString], progress: &dyn Progress) -> Result<()> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(());
    };
    let step = Running::start(progress, "eos", "build Eos", None);
    let compiled = AtomicU64::new(0);
    let what = command.join(OsStr::new(" "));
    let run = Run {
        what: &what.to_string_lossy(),
        program: Path::new(program),
        arguments: arguments.iter().map(OsString::as_os_str).collect(),
        directory: None,
        environment: vec![],
        removed: vec![],
        on_line: &|line| {
            if line.trim_start().starts_with("Compiling ") {
                let done = compiled.fetch_add(1, Ordering::Relaxed) + 1;
                step.advance(done, CRATES, "crates");
            }
        },
    };
    run.with_patience(&step).await?;
    step.done();
    Ok(())
}

/// One line at the start and end of a step, and one now and then while it goes on.
#[derive(Default)]
struct Lines {
    /// When each step was last heard of, counted from its start.
    heard: Mutex<Vec<(Step, Duration)>>,
}

impl Lines {
    /// Whether it is time for another line of this step, which then counts as printed.
    fn is_due(&self, step: &Step, elapsed: Duration) -> bool {
        let Ok(mut heard) = self.heard.lock() else {
            return false;
        };
        match heard.iter_mut().find(|(known, _)| known == step) {
            Some((_, last)) if elapsed < *last + BETWEEN_LINES => false,
            Some((_, last)) => {
                *last = elapsed;
                true
            }
            None => false,
        }
    }
}

impl Progress for Lines {
    fn started(&self, step: &Step) {
        if let Ok(mut heard) = self.heard.lock() {
            heard.push((step.clone(), Duration::ZERO));
        }
        match step.usual {
            Some(usual) => say(&format!("  {} (usually {})", step.what, time(usual))),
            None => say(&format!("  {}", step.what)),
        }
    }

    fn advanced(&self, step: &Step, advance: Advance, elapsed: Duration) {
        if self.is_due(step, elapsed) {
            let Advance { done, total, unit } = advance;
            say(&format!(
                "  {}: {done} of about {} {unit}",
                step.what,
                total.max(done)
            ));
        }
    }

    fn noted(&self, step: &Step, words: &str) {
        say(&format!("  {}: {words}", step.what));
    }

    fn ended(&self, step: &Step, outcome: Outcome, elapsed: Duration) {
        match outcome {
            Outcome::Failed => say(&format!("! {} failed after {}", step.what, time(elapsed))),
            Outcome::Done if elapsed < WORTH_A_LINE => {}
            Outcome::Done => say(&format!("  {}: done in {}", step.what, time(elapsed))),
        }
    }
}

fn time(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A reader who went away does not stop the install.
fn say(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_build_that_fails_is_quoted() {
        let command = ["sh", "-c", "echo 'no such type' >&2; exit 101"].map(OsString::from);
        let error = build(&command, &Lines::default()).await.unwrap_err().to_string();
        assert!(
            error.starts_with("sh -c ") && error.ends_with("no such type"),
            "{error}"
        );
    }

    #[test]
    fn a_step_is_heard_of_now_and_then() {
        let lines = Lines::default();
        let step = Step {
            engine: "nomad",
            what: "build".into(),
            usual: None,
        };
        lines.started(&step);
        let due = |seconds| lines.is_due(&step, Duration::from_secs(seconds));
        assert_eq!(
            [1, 29, 30, 31, 59, 75].map(due),
            [false, false, true, false, false, true]
        );
    }
}
