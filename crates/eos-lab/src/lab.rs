//! The lab as a whole: brought up, looked at, brought down, removed.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use eos_engine::{Delivery, Endpoints};
use serde::Serialize;

use crate::choices::Choices;
use crate::containers;
use crate::daemon::{Daemon, NOMAD, SALT_API, SALT_MASTER, SALT_MINION};
use crate::durable;
use crate::error::{AtPath, Error, Result};
use crate::install::Engines;
use crate::layout::Layout;
use crate::logs;
use crate::nomad::{self, Nomad};
use crate::process;
use crate::progress::{Progress, Running};
use crate::salt::Salt;
use crate::secrets::Secrets;
use crate::served::{self, FormulaFile};
use crate::terraform;

const TERRAFORM: &str = "terraform";
const WITH_LOGS: [&str; 4] = [SALT_MASTER, SALT_API, SALT_MINION, NOMAD];
/// A task that its agent did not end gets this long before it is ended by force.
const GRACE_FOR_TASKS: Duration = Duration::from_secs(5);

/// One lab, known by its directory.
pub struct Lab {
    pub(crate) layout: Layout,
}

/// What the lab is given by the program.
pub struct LabInput<'a> {
    /// Every file of the formula.
    pub formula: &'a [FormulaFile<'a>],
    /// The program `eos`, for tasks that run it.
    pub program: PathBuf,
    /// The Terraform provider.
    pub provider: PathBuf,
    /// A Docker and a registry of the lab's own, from now on.
    pub containers: bool,
}

/// One engine as it is now.
#[derive(Debug, Clone, Serialize)]
pub struct EngineStatus {
    pub name: &'static str,
    pub version: String,
    /// `None`: it does not run, or is run only when needed.
    pub pid: Option<i32>,
    /// Seconds since 1970.
    pub since: Option<u64>,
    pub address: Option<String>,
    /// It did what it is there for just now.
    pub ready: bool,
    /// Bytes of its processes, pages in common with others counted in part.
    pub memory: u64,
}

impl Lab {
    pub fn at(directory: impl AsRef<Path>) -> Result<Lab> {
        Ok(Lab {
            layout: Layout::at(directory.as_ref())?,
        })
    }

    /// Brings up what is not up and repairs what is not right; with all in order that is a look.
    pub async fn up(
        &self,
        engines: &Engines,
        input: &LabInput<'_>,
        progress: &dyn Progress,
    ) -> Result<Endpoints> {
        self.layout.make()?;
        let _lock = self.lock(progress).await?;
        let mut choices = Choices::open(&self.layout, engines)?;
        let secrets = Secrets::open(&self.layout.secrets())?;
        let formula = served::install_formula(&self.layout.srv(), input.formula)?;
        served::first_release(&self.layout.srv())?;
        durable::copy_program(&input.program, &self.layout.bin().join("eos"))?;
        terraform::set_up(&self.layout, &mut choices, &input.provider).await?;
        containers::choose(&self.layout, &mut choices, input.containers)?;

        let salt = Salt::new(&self.layout, &choices, &secrets);
        let nomad = Nomad::new(&self.layout, &choices, &secrets)?;
        let usual = |seconds| Some(Duration::from_secs(seconds));
        let start_salt = async {
            let step = Running::start(progress, "salt", "start Salt", usual(15));
            salt.up(&formula, &step).await.map(|()| step.done())
        };
        let start_nomad = async {
            // Nomad looks for Docker when it starts, and its client has its address on Docker's bridge.
            containers::up(&self.layout, &choices, progress).await?;
            let step = Running::start(progress, "nomad", "start Nomad", usual(5));
            nomad.up(input.formula, &step).await.map(|()| step.done())
        };
        tokio::try_join!(start_salt, start_nomad)?;

        let endpoints = Endpoints {
            salt: salt.endpoint(),
            nomad: nomad.endpoint(),
            delivery: Delivery::Directory {
                path: self.layout.srv(),
            },
            control: choices.control.clone(),
        };
        durable::write_json(&self.layout.endpoints(), &endpoints, 0o644)?;
        Ok(endpoints)
    }

    /// Ends everything that `up` started and what that started in turn. Jobs, secrets and keys stay.
    pub async fn down(&self, progress: &dyn Progress) -> Result<()> {
        if !self.layout.root.exists() {
            return Ok(());
        }
        let _lock = self.lock(progress).await?;
        self.stop(progress).await
    }

    /// Brings the lab down and removes it with everything that it holds.
    pub async fn reset(&self, progress: &dyn Progress) -> Result<()> {
        if !self.layout.root.exists() {
            return Ok(());
        }
        let _lock = self.lock(progress).await?;
        self.stop(progress).await?;
        let root = &self.layout.root;
        for entry in fs::read_dir(root).at("read", root)? {
            durable::remove(&entry.at("read", root)?.path())?;
        }
        Ok(())
    }

    pub async fn status(&self) -> Result<Vec<EngineStatus>> {
        let Some(choices) = Choices::read(&self.layout)? else {
            return Ok(Vec::new());
        };
        let secrets = Secrets::open(&self.layout.secrets())?;
        let salt = Salt::new(&self.layout, &choices, &secrets);
        let nomad = Nomad::new(&self.layout, &choices, &secrets)?;
        let (salt_ready, nomad_ready) = tokio::join!(salt.readiness(), nomad.is_ready());
        let (api_ready, minion_ready) = salt_ready?;
        let engines = &choices.engines;
        let ports = &choices.ports;
        let loopback = |port: u16| Some(format!("127.0.0.1:{port}"));
        let terraform = EngineStatus {
            name: TERRAFORM,
            version: engines.terraform.version.clone(),
            pid: None,
            since: None,
            address: None,
            ready: engines.terraform.path.exists(),
            memory: 0,
        };
        let mut all = vec![
            self.engine(
                SALT_MASTER,
                &engines.salt.version,
                loopback(ports.salt_return),
                api_ready,
            )?,
            self.engine(SALT_API, &engines.salt.version, Some(salt.url()), api_ready)?,
            self.engine(SALT_MINION, &engines.salt.version, None, minion_ready)?,
            self.engine(
                NOMAD,
                &engines.nomad.version,
                Some(nomad::address(&choices)),
                nomad_ready,
            )?,
            terraform,
        ];
        all.extend(containers::status(&self.layout, &choices).await?);
        Ok(all)
    }

    /// Gives the last lines of an engine's log to `show`; with `follow` also what comes, until it is dropped.
    pub async fn logs(
        &self,
        name: &str,
        lines: usize,
        follow: bool,
        show: &mut (dyn FnMut(&str) + Send),
    ) -> Result<()> {
        let known = [&WITH_LOGS[..], &containers::WITH_LOGS].concat();
        if !known.contains(&name) {
            return Err(Error::NoSuchEngine {
                name: name.into(),
                known,
            });
        }
        logs::show(&self.layout.log(name), lines, follow, show).await
    }

    /// Where the endpoints of a lab that is or was up are written down.
    pub fn endpoints(&self) -> PathBuf {
        self.layout.endpoints()
    }

    async fn stop(&self, progress: &dyn Progress) -> Result<()> {
        let step = Running::start(progress, "lab", "stop the engines", Some(Duration::from_secs(5)));
        if let Some(choices) = Choices::read(&self.layout)? {
            let secrets = Secrets::open(&self.layout.secrets())?;
            let nomad = Nomad::new(&self.layout, &choices, &secrets)?;
            let salt = Salt::new(&self.layout, &choices, &secrets);
            let stop_nomad = async {
                // It ends containers itself, in good order, as long as their Docker answers.
                containers::revive(&self.layout, &choices).await?;
                nomad.stop(&step).await?;
                containers::stop(&self.layout, &choices).await
            };
            let (nomad, salt) = tokio::join!(stop_nomad, salt.stop());
            nomad.and(salt)?;
            let tasks = process::marked(&self.layout.root);
            let left = process::end(&tasks, &tasks, GRACE_FOR_TASKS).await;
            if !left.is_empty() {
                return Err(Error::StillThere {
                    engine: NOMAD,
                    count: left.len(),
                });
            }
            for mounted in [
                self.layout.nomad(),
                self.layout.containers(),
                choices.sockets.clone(),
            ] {
                nomad::unmount(&mounted)?;
            }
            durable::remove(&choices.sockets)?;
        }
        step.done();
        Ok(())
    }

    fn engine(
        &self,
        name: &'static str,
        version: &str,
        address: Option<String>,
        ready: bool,
    ) -> Result<EngineStatus> {
        let daemon = if name == NOMAD {
            Daemon::nomad(&self.layout)
        } else {
            Daemon::salt(&self.layout, name)
        };
        let record = daemon.running()?;
        Ok(EngineStatus {
            name,
            version: version.to_owned(),
            pid: record.as_ref().map(|record| record.process.pid),
            since: record.as_ref().map(|record| record.since),
            address,
            ready: ready && record.is_some(),
            memory: daemon.processes().into_iter().map(process::Process::memory).sum(),
        })
    }

    /// One at a time works on a lab. The lock is the system's: it ends with its holder.
    pub(crate) async fn lock(&self, progress: &dyn Progress) -> Result<File> {
        let path = self.layout.lock();
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .at("open", &path)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
        }
        let step = Running::start(
            progress,
            "lab",
            "wait for another eos that works on this lab",
            None,
        );
        let waited = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
        let file = waited.map_err(std::io::Error::other).flatten().at("lock", path)?;
        step.done();
        Ok(file)
    }
}
