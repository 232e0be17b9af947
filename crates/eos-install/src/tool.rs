//! Running the tools that install engines: finding them, reading their words, trying again where that helps.

use std::collections::VecDeque;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::Installed;
use crate::error::{AtPath, Error, Result};
use crate::progress::Running;

/// Pauses between attempts: a registry that is overrun asks for patience, not for haste.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(3),
    Duration::from_secs(10),
    Duration::from_secs(20),
    Duration::from_secs(40),
    Duration::from_secs(60),
];
/// How many of a tool's last lines are kept for the error message.
const LAST_LINES: usize = 8;

/// The first program of that name on PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(is_program)
}

/// What a program prints on standard output when all goes well.
pub async fn output(program: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    // A configuration file of Terraform's that is named but missing would be warned about.
    command
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1");
    let output = command.output().await.at("run", program)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(failed(
        &format!("{} {}", program.display(), arguments.join(" ")),
        words.trim(),
        None,
    ))
}

/// The program of that name on PATH, if it is new enough. One that does not run, or does not say its version, is none.
pub async fn installed(name: &str, needed: &str) -> Option<Installed> {
    let path = on_path(name)?;
    let version = version(&path).await.ok()?;
    is_at_least(&version, needed).then_some(Installed { version, path })
}

/// What a program says to `version`.
pub async fn version(program: &Path) -> Result<String> {
    let words = output(program, &["version"]).await?;
    Ok(version_in(&words).unwrap_or_default().to_owned())
}

/// One run of a tool that speaks to a registry.
pub struct Run<'a> {
    /// What it is for, as a person would say it.
    pub what: &'a str,
    pub program: &'a Path,
    pub arguments: Vec<&'a OsStr>,
    pub directory: Option<&'a Path>,
    /// In addition to the person's own environment, whose settings of registry and proxy are kept.
    pub environment: Vec<(&'a str, &'a OsStr)>,
    /// Variables of the person's that would change what is installed.
    pub removed: Vec<OsString>,
    /// For each line that it prints, on whichever stream.
    pub on_line: &'a (dyn Fn(&str) + Sync),
}

impl Run<'_> {
    /// Runs it, again if the registry was overrun or silent; a refusal is final at once.
    pub async fn with_patience(&self, step: &Running<'_>) -> Result<()> {
        for pause in PAUSES {
            match self.once().await {
                Err(Error::Command { words, .. }) if is_passing(&words) => {
                    let reason = words.lines().last().unwrap_or_default();
                    step.note(&format!("trying again in {} s: {reason}", pause.as_secs()));
                    tokio::time::sleep(pause).await;
                }
                other => return other,
            }
        }
        self.once().await
    }

    async fn once(&self) -> Result<()> {
        let mut command = Command::new(self.program);
        for name in &self.removed {
            command.env_remove(name);
        }
        command
            .args(&self.arguments)
            .envs(self.environment.iter().copied())
            .kill_on_drop(true);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn().at("run", self.program)?;
        let mut out = child.stdout.take().map(|stream| BufReader::new(stream).lines());
        let mut err = child.stderr.take().map(|stream| BufReader::new(stream).lines());
        let mut last = VecDeque::new();
        while out.is_some() || err.is_some() {
            let line = tokio::select! {
                line = next_line(&mut out), if out.is_some() => line,
                line = next_line(&mut err), if err.is_some() => line,
            };
            if let Some(line) = line {
                (self.on_line)(&line);
                last.push_back(line);
                if last.len() > LAST_LINES {
                    last.pop_front();
                }
            }
        }
        let status = child.wait().await.at("wait for", self.program)?;
        if status.success() {
            return Ok(());
        }
        let words = last.make_contiguous().join("\n");
        Err(failed(
            self.what,
            if words.is_empty() {
                "it printed nothing"
            } else {
                &words
            },
            hint(&words),
        ))
    }
}

type Lines<T> = tokio::io::Lines<BufReader<T>>;

/// The next line; at its end the stream is put away.
async fn next_line<T: tokio::io::AsyncRead + Unpin>(lines: &mut Option<Lines<T>>) -> Option<String> {
    let line = match lines {
        Some(open) => open.next_line().await.ok().flatten(),
        None => None,
    };
    if line.is_none() {
        *lines = None;
    }
    line
}

fn failed(what: &str, words: &str, hint: Option<&'static str>) -> Error {
    Error::Command {
        what: what.to_owned(),
        words: words.to_owned(),
        hint,
    }
}

/// Whether it may go better the next time. A refusal stays one, also if something else is in the same words.
fn is_passing(words: &str) -> bool {
    let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
    !says(&[
        "403 Forbidden",
        "404 Not Found",
        "403 Client Error",
        "404 Client Error",
        "410 Gone",
    ]) && says(&[
        "429 ",
        "Too Many Requests",
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "504 Gateway",
        "Read timed out",
        "ReadTimeoutError",
        "ConnectTimeoutError",
        "i/o timeout",
        "TLS handshake timeout",
        "connection reset by peer",
        "ConnectionResetError",
        "IncompleteRead",
        "unexpected EOF",
    ])
}

fn hint(words: &str) -> Option<&'static str> {
    let says = |sign: &str| words.contains(sign);
    if says("No space left on device") {
        Some("Free some space, or set XDG_CACHE_HOME to a directory on a larger disk")
    } else if says("DO NOT MATCH THE HASHES") {
        Some("The package is not the one that Eos was tested with; use another package registry")
    } else if is_passing(words) || says("Temporary failure in name resolution") || says("no such host") {
        Some("The package registry could not be reached; try again later")
    } else if says("403") || says("404") || says("No matching distribution") {
        Some(
            "This package registry does not have that version; name another one in pip's or Go's own settings",
        )
    } else {
        None
    }
}

/// The first `1.2.3` in a program's words.
pub fn version_in(words: &str) -> Option<&str> {
    words
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .find(|word| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok()))
}

/// Whether a version is at least as new as another, number by number.
pub fn is_at_least(version: &str, needed: &str) -> bool {
    let numbers = |text: &str| {
        text.split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect::<Vec<u32>>()
    };
    numbers(version) >= numbers(needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::tests::Kept;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        assert_eq!(version_in("Nomad v1.11.2\nRevision f876384fe3ab"), Some("1.11.2"));
        assert_eq!(version_in("salt-master 3008.3 (Argon)"), Some("3008.3"));
        assert_eq!(version_in("go version go1.26.8 linux/amd64"), Some("1.26.8"));
        assert_eq!(version_in("no version here."), None);
        assert!(is_at_least("1.11.2", "1.10") && is_at_least("1.10", "1.10") && is_at_least("2.0", "1.10.5"));
        assert!(!is_at_least("1.9.9", "1.10") && !is_at_least("1.10", "1.10.1"));
    }

    #[test]
    fn a_refusal_is_final_and_an_overrun_registry_is_not() {
        assert!(is_passing("reading https://proxy/x.zip: 429 Too Many Requests"));
        assert!(is_passing(
            "HTTPSConnectionPool: Read timed out. (read timeout=15)"
        ));
        assert!(!is_passing("reading https://proxy/x.zip: 403 Forbidden"));
        assert!(!is_passing(
            "reading https://proxy/x.zip: 404 Not Found, after 429 Too Many Requests"
        ));
        assert!(!is_passing("main.go:3:1: expected declaration"));
    }

    #[tokio::test]
    async fn a_failing_tool_is_quoted_once() {
        let kept = Kept::default();
        let step = Running::start(&kept, "thing", "try", None);
        let run = Run {
            what: "the trial",
            program: Path::new("/bin/sh"),
            arguments: ["-c", "echo one; echo 403 Forbidden >&2; exit 1"]
                .map(OsStr::new)
                .into(),
            directory: None,
            environment: vec![],
            removed: vec![],
            on_line: &|line| step.note(line),
        };
        let error = run.with_patience(&step).await.unwrap_err();
        assert!(error.to_string().starts_with("the trial failed: "), "{error}");
        assert!(error.to_string().contains("403 Forbidden"), "{error}");
        assert!(error.hint().unwrap().contains("does not have that version"));
        assert_eq!(
            kept.lines().iter().filter(|line| *line == "one").count(),
            1,
            "no second attempt"
        );
    }
}
