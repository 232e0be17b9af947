//! One engine as a process of the lab: started apart, recorded, found again, repaired, ended.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::layout::Layout;
use crate::logs;
use crate::ports;
use crate::process::{self, Apart, MARK, Process};

const LONGEST_LOG: u64 = 10 * 1024 * 1024;
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What is left of an engine whose leader is gone has nobody to end it in good order.
const GRACE_FOR_REMAINS: Duration = Duration::from_secs(2);

pub const SALT_MASTER: &str = "salt-master";
pub const SALT_API: &str = "salt-api";
pub const SALT_MINION: &str = "salt-minion";
pub const NOMAD: &str = "nomad";

/// Which engine of which lab; enough to find and end it.
pub struct Daemon<'a> {
    layout: &'a Layout,
    pub name: &'static str,
    arguments: Vec<String>,
}

/// What starting it needs in addition.
pub struct Start<'a> {
    pub program: &'a Path,
    /// Files whose contents it reads once, at its start: with others it is started anew.
    pub reads: &'a [PathBuf],
    pub ports: &'a [u16],
    /// Files by which a killed engine still seems to run, as long as nobody has taken note of its end: the next
    /// one would end at once.
    pub stale: &'a [PathBuf],
    pub umask: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub process: Process,
    boot: String,
    /// Seconds since 1970.
    pub since: u64,
    configuration: String,
}

impl<'a> Daemon<'a> {
    /// One that is told apart by these arguments, which name a file of this lab.
    pub fn new(layout: &'a Layout, name: &'static str, arguments: Vec<String>) -> Daemon<'a> {
        Daemon {
            layout,
            name,
            arguments,
        }
    }

    pub fn salt(layout: &'a Layout, name: &'static str) -> Daemon<'a> {
        let role = if name == SALT_MINION { "minion" } else { "master" };
        let settings = layout.salt().join(role).join("etc").display().to_string();
        Daemon {
            layout,
            name,
            arguments: vec!["-c".into(), settings, "-l".into(), "warning".into()],
        }
    }

    pub fn nomad(layout: &'a Layout) -> Daemon<'a> {
        let settings = layout.nomad().join("agent.json").display().to_string();
        Daemon {
            layout,
            name: NOMAD,
            arguments: vec!["agent".into(), "-config".into(), settings],
        }
    }

    /// The record of the running leader; one of an earlier boot, or of a process that is gone, is none.
    pub fn running(&self) -> Result<Option<Record>> {
        let record: Option<Record> =
            durable::read_json(&self.layout.run(self.name), "the record of an engine")?;
        let boot = process::boot()?;
        Ok(record.filter(|record| record.boot == boot && record.process.is_alive()))
    }

    /// The leader and everything that it forked under its own name.
    pub fn processes(&self) -> Vec<Process> {
        process::with_command_line(&format!("{} {}", self.name, self.arguments.join(" ")))
    }

    /// Starts it unless it runs with these very settings.
    pub async fn ensure(&self, start: &Start<'_>) -> Result<()> {
        let configuration = digest(start)?;
        match self.running()? {
            Some(record) if record.configuration == configuration => return Ok(()),
            Some(_) => self.stop(Duration::from_secs(15)).await?,
            // Forked processes outlive a killed leader and hold its ports.
            None => self.end_remains().await?,
        }
        start.stale.iter().try_for_each(|file| durable::remove(file))?;
        ports::check(self.name, start.ports)?;
        let bin = self.layout.bin().display().to_string();
        let process = Apart {
            program: start.program,
            arguments: &self.arguments,
            environment: vec![
                ("PATH", format!("{bin}:{SYSTEM_PATH}").into()),
                ("HOME", self.layout.root.clone()),
                ("LANG", "C.UTF-8".into()),
                (MARK, self.layout.root.clone()),
            ],
            directory: &self.layout.root,
            log: self.open_log()?,
            umask: start.umask,
        }
        .start()?;
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let record = Record {
            process,
            boot: process::boot()?,
            since,
            configuration,
        };
        durable::write_json(&self.layout.run(self.name), &record, 0o600)
    }

    /// Ends it in good order if it can be, else by force. Not running is as good.
    pub async fn stop(&self, grace: Duration) -> Result<()> {
        if let Some(record) = self.running()? {
            let mut all = self.processes();
            // A program that has only just been started may not have its own command line yet.
            if !all.contains(&record.process) {
                all.push(record.process);
            }
            let left = process::end(&[record.process], &all, grace).await;
            self.check_ended(&left)?;
        }
        self.end_remains().await?;
        durable::remove(&self.layout.run(self.name))
    }

    async fn end_remains(&self) -> Result<()> {
        let remains = self.processes();
        let left = process::end(&remains, &remains, GRACE_FOR_REMAINS).await;
        self.check_ended(&left)
    }

    fn check_ended(&self, left: &[Process]) -> Result<()> {
        if left.is_empty() {
            Ok(())
        } else {
            Err(Error::StillThere {
                engine: self.name,
                count: left.len(),
            })
        }
    }

    /// Fails with the last words of its log if it is not running.
    pub fn check_running(&self) -> Result<()> {
        match self.running()? {
            Some(_) => Ok(()),
            None => Err(Error::EngineEnded {
                engine: self.name,
                tail: self.last_words(),
                log: self.log(),
            }),
        }
    }

    pub fn not_ready(&self, waited: Duration, words: impl Into<String>) -> Error {
        Error::NotReady {
            engine: self.name,
            waited,
            words: words.into(),
            log: self.log(),
        }
    }

    fn log(&self) -> PathBuf {
        self.layout.log(self.name)
    }

    fn last_words(&self) -> String {
        logs::last_lines(&self.log(), 10).unwrap_or_default().join("\n")
    }

    fn open_log(&self) -> Result<File> {
        let log = self.log();
        if fs::metadata(&log).is_ok_and(|found| found.len() > LONGEST_LOG) {
            fs::rename(&log, log.with_extension("log.1")).at("rotate", &log)?;
        }
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&log)
            .at("open", &log)
    }
}

fn digest(start: &Start<'_>) -> Result<String> {
    let mut digest = Sha256::new();
    digest.update(start.program.as_os_str().as_encoded_bytes());
    for path in start.reads {
        digest.update(b"\0");
        digest.update(fs::read(path).at("read", path)?);
    }
    Ok(hex::encode(digest.finalize()))
}
