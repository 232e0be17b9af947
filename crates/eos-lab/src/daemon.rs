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

const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What is left of an engine whose leader is gone has nobody to end it in good order.
const GRACE_FOR_REMAINS: Duration = Duration::from_secs(2);

const SALT_ARGUMENTS: [&str; 4] = ["-c", "{}", "-l", "warning"];

pub const SALT_MASTER: &str = "salt-master";
pub const SALT_API: &str = "salt-api";
pub const SALT_MINION: &str = "salt-minion";
pub const NOMAD: &str = "nomad";
pub const CONSUL: &str = "consul";
pub const VAULT: &str = "vault";

/// Which engine of which lab; enough to find and end it.
pub struct Daemon<'a> {
    layout: &'a Layout,
    /// Of its record and its log: the program's, and on another node than control that node's too.
    pub name: String,
    /// How its command line begins.
    program: &'static str,
    arguments: Vec<String>,
    /// Programs below this directory are run by it, and outlive it when it is killed.
    plugins: Option<PathBuf>,
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
    /// What it runs; unknown of one that an earlier program started.
    #[serde(default)]
    executable: Option<PathBuf>,
    /// Seconds since 1970.
    pub since: u64,
    configuration: String,
}

impl<'a> Daemon<'a> {
    fn new(
        layout: &'a Layout,
        program: &'static str,
        node: Option<&str>,
        arguments: &[&str],
        settings: &Path,
    ) -> Daemon<'a> {
        let settings = settings.display().to_string();
        Daemon {
            layout,
            name: node.map_or_else(|| program.to_owned(), |node| format!("{program}-{node}")),
            program,
            arguments: arguments
                .iter()
                .map(|argument| argument.replace("{}", &settings))
                .collect(),
            plugins: None,
        }
    }

    pub fn salt(layout: &'a Layout, name: &'static str) -> Daemon<'a> {
        let settings = layout.salt().join("master/etc");
        Daemon::new(layout, name, None, &SALT_ARGUMENTS, &settings)
    }

    /// As the two below on the control node, or on another one.
    pub fn minion(layout: &'a Layout, node: Option<&str>) -> Daemon<'a> {
        let settings = layout.minion(node).join("etc");
        Daemon::new(layout, SALT_MINION, node, &SALT_ARGUMENTS, &settings)
    }

    pub fn nomad(layout: &'a Layout, node: Option<&str>) -> Daemon<'a> {
        let settings = layout.part(NOMAD, node).join("agent.json");
        Daemon::new(layout, NOMAD, node, &["agent", "-config", "{}"], &settings)
    }

    pub fn consul(layout: &'a Layout, node: Option<&str>) -> Daemon<'a> {
        let settings = layout.part(CONSUL, node).join("agent.json");
        Daemon::new(layout, CONSUL, node, &["agent", "-config-file", "{}"], &settings)
    }

    pub fn vault(layout: &'a Layout, plugins: &Path) -> Daemon<'a> {
        let settings = layout.vault().join("server.json");
        Daemon {
            plugins: Some(plugins.into()),
            ..Daemon::new(layout, VAULT, None, &["server", "-config", "{}"], &settings)
        }
    }

    /// One that is told apart by these arguments, which name a file of this lab.
    pub fn with_arguments(layout: &'a Layout, program: &'static str, arguments: Vec<String>) -> Daemon<'a> {
        Daemon {
            layout,
            name: program.to_owned(),
            program,
            arguments,
            plugins: None,
        }
    }

    /// The record of the running leader; one of an earlier boot, or of a process that is gone, is none.
    pub fn running(&self) -> Result<Option<Record>> {
        Ok(self.recorded()?.filter(|record| record.process.is_alive()))
    }

    /// The record of the last leader since the machine started, whether it still runs or not.
    fn recorded(&self) -> Result<Option<Record>> {
        let record: Option<Record> =
            durable::read_json(&self.layout.run(&self.name), "the record of an engine")?;
        let boot = process::boot()?;
        Ok(record.filter(|record| record.boot == boot))
    }

    /// The leader, everything that it forked under its own name, and its plugins.
    pub fn processes(&self) -> Vec<Process> {
        let words = format!("{} {}", self.program, self.arguments.join(" "));
        // Who was killed before the record was written is known by the lab's mark.
        let mut found = match self.recorded() {
            Ok(Some(Record {
                executable: Some(executable),
                process,
                ..
            })) => process::of_engine(&words, &executable, process),
            Ok(_) | Err(_) => process::marked_with(&self.layout.root, &words),
        };
        if let Some(plugins) = &self.plugins {
            found.extend(process::marked_below(&self.layout.root, plugins));
        }
        found
    }

    /// Whether it runs, with other settings than these.
    pub fn is_outdated(&self, start: &Start<'_>) -> Result<bool> {
        let configuration = digest(start)?;
        let running = self.running()?;
        Ok(running.is_some_and(|record| record.configuration != configuration))
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
        ports::check(&self.name, start.ports)?;
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
            executable: process.executable(),
            since,
            configuration,
        };
        Ok(durable::write_json(&self.layout.run(&self.name), &record, 0o600)?)
    }

    /// Ends it in good order if it can be, else by force. Not running is as good.
    pub async fn stop(&self, grace: Duration) -> Result<()> {
        stop_all(&[self], grace).await
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
                engine: self.name.clone(),
                count: left.len(),
            })
        }
    }

    /// Fails with the last words of its log if it is not running.
    pub fn check_running(&self) -> Result<()> {
        match self.running()? {
            Some(_) => Ok(()),
            None => Err(Error::EngineEnded {
                engine: self.name.clone(),
                tail: self.last_words(),
                log: self.log(),
            }),
        }
    }

    pub fn not_ready(&self, waited: Duration, words: impl Into<String>) -> Error {
        Error::NotReady {
            engine: self.name.clone(),
            waited,
            words: words.into(),
            log: self.log(),
        }
    }

    fn log(&self) -> PathBuf {
        self.layout.log(&self.name)
    }

    fn last_words(&self) -> String {
        logs::last_lines(&self.log(), 10).unwrap_or_default().join("\n")
    }

    fn open_log(&self) -> Result<File> {
        let log = self.log();
        logs::rotate(&log)?;
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&log)
            .at("open", &log)
    }
}

/// Ends several at once, since each may take its time.
pub async fn stop_all(daemons: &[&Daemon<'_>], grace: Duration) -> Result<()> {
    let (mut leaders, mut all) = (Vec::new(), Vec::new());
    for daemon in daemons {
        all.extend(daemon.processes());
        if let Some(record) = daemon.running()? {
            leaders.push(record.process);
            // A program that has only just been started may not have its own command line yet.
            if !all.contains(&record.process) {
                all.push(record.process);
            }
        }
    }
    if !leaders.is_empty() {
        process::end(&leaders, &all, grace).await;
    }
    for daemon in daemons {
        daemon.end_remains().await?;
        durable::remove(&daemon.layout.run(&daemon.name))?;
    }
    Ok(())
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
