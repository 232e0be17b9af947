//! Containers in the lab: a Docker, a registry that it fetches from, and images made from programs of this machine.
//!
//! | module | owns |
//! |---|---|
//! | `docker` | which Docker there is; the lab's own: settings, start, end |
//! | `bridge` | the network of the lab's own Docker |
//! | `registry` | the lab's own registry |
//! | `layer`, `programs` | what goes into an image, and what that needs |
//! | `image` | how an image is written and stored |
//! | `software` | which software of this machine the images of recipes are made from, and stand-ins for the rest |
//! | `images` | `containers/images.json`: the images that the lab made |
//! | `http` | how Docker and registry are spoken to |

mod bridge;
pub mod docker;
mod http;
mod image;
mod images;
mod layer;
pub mod programs;
pub mod registry;
mod software;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::choices::Choices;
use crate::containers::docker::{DOCKERD, OwnDocker};
use crate::containers::registry::{REGISTRY, Registry};
use crate::daemon::Daemon;
use crate::error::{Error, Result};
use crate::lab::EngineStatus;
use crate::layout::Layout;
use crate::ports;
use crate::process::{self, Process};
use crate::progress::{Progress, Running};

pub use images::{ContainersStatus, ImageInput, ImageStatus, PackedImage};
pub use software::{PAUSE, RecipeImage, StandIn, sidecar};

/// The engines of the lab's own that have logs.
pub const WITH_LOGS: [&str; 2] = [DOCKERD, REGISTRY];
const INSTALL: &str = "apt install docker.io docker-registry iproute2";

/// A Docker and a registry of the lab's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerChoices {
    pub dockerd: PathBuf,
    pub registry_program: PathBuf,
    pub registry_port: u16,
    /// Of this machine on the bridge.
    pub address: Ipv4Addr,
}

impl ContainerChoices {
    /// `host:port` of the registry.
    pub(crate) fn registry(&self) -> String {
        format!("127.0.0.1:{}", self.registry_port)
    }

    fn choose(taken: &[u16]) -> Result<ContainerChoices> {
        if let Some(why) = why_not() {
            return Err(Error::NoContainers { why });
        }
        let program = |what: &'static str| {
            programs::find(what).ok_or(Error::NoContainers {
                why: format!("{what} is not installed ({INSTALL})"),
            })
        };
        let [registry_port] = ports::choose(taken)?;
        Ok(ContainerChoices {
            dockerd: program(DOCKERD)?,
            registry_program: program(REGISTRY)?,
            registry_port,
            address: bridge::choose()?,
        })
    }
}

/// Why a lab of this user cannot have a Docker of its own, if it cannot.
fn why_not() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("the lab's own Docker needs root, and no other Docker answers".into());
    }
    let missing = [DOCKERD, REGISTRY, "ip"]
        .into_iter()
        .find(|name| programs::find(name).is_none())?;
    Some(format!("{missing} is not installed ({INSTALL})"))
}

/// Remembers that containers are wanted. A Docker that is there already is used as it is.
pub fn choose(layout: &Layout, choices: &mut Choices, wanted: bool) -> Result<()> {
    match &mut choices.containers {
        None if wanted && docker::found().is_none() => {
            let taken = choices.all_ports();
            choices.containers = Some(ContainerChoices::choose(&taken)?);
        }
        Some(chosen) if bridge::is_lost(&bridge::name(layout), chosen.address) => {
            chosen.address = bridge::choose()?;
        }
        _ => return Ok(()),
    }
    choices.save(layout)
}

/// Where Nomad finds Docker, if there is one.
pub fn endpoint(layout: &Layout, choices: &Choices) -> Option<String> {
    match &choices.containers {
        Some(chosen) => Some(OwnDocker::new(layout, choices, chosen).endpoint()),
        None => docker::found(),
    }
}

/// The interface whose address services have: one that containers reach too, if there are any of the lab's own.
pub fn interface(layout: &Layout, choices: &Choices) -> String {
    match &choices.containers {
        Some(_) => bridge::name(layout),
        None => "lo".into(),
    }
}

pub async fn up(layout: &Layout, choices: &Choices, progress: &dyn Progress) -> Result<()> {
    let Some(chosen) = &choices.containers else {
        return Ok(());
    };
    let usual = Some(Duration::from_secs(2));
    let step = Running::start(progress, "docker", "start Docker and its registry", usual);
    Registry::new(layout, chosen).up().await?;
    OwnDocker::new(layout, choices, chosen).up().await?;
    step.done();
    Ok(())
}

/// Containers outlive a Docker that was killed. Started again, it ends them itself.
pub async fn revive(layout: &Layout, choices: &Choices) -> Result<()> {
    let Some(chosen) = &choices.containers else {
        return Ok(());
    };
    let runs = docker::daemon(layout).running()?.is_some();
    match !runs && !process::marked(&layout.root).is_empty() {
        true => OwnDocker::new(layout, choices, chosen).up().await,
        false => Ok(()),
    }
}

pub async fn stop(layout: &Layout, choices: &Choices) -> Result<()> {
    let Some(chosen) = &choices.containers else {
        return Ok(());
    };
    OwnDocker::new(layout, choices, chosen).stop().await?;
    Registry::new(layout, chosen).stop().await
}

/// The engines themselves, without the containers that they run.
pub fn engine_processes(layout: &Layout) -> Vec<Process> {
    let mut found = docker::daemon(layout).processes();
    found.extend(registry::daemon(layout).processes());
    // Docker's own, which it starts with the lab's mark.
    found.extend(process::marked_with(&layout.root, "containerd --config "));
    found
}

/// Docker and registry as they are now; none if the lab has none of its own.
pub async fn status(layout: &Layout, choices: &Choices) -> Result<Vec<EngineStatus>> {
    let Some(chosen) = &choices.containers else {
        return Ok(Vec::new());
    };
    let own = OwnDocker::new(layout, choices, chosen);
    let registry = Registry::new(layout, chosen);
    let (docker_ready, registry_ready) = {
        let engine = own.engine();
        tokio::join!(engine.answers(), registry.answers())
    };
    let docker_version = programs::version(&chosen.dockerd, "--version").await?;
    let registry_version = programs::version(&chosen.registry_program, "--version").await?;
    let row = |daemon: Daemon<'_>, version, address, ready: bool| -> Result<EngineStatus> {
        let record = daemon.running()?;
        Ok(EngineStatus {
            name: daemon.name.clone(),
            version,
            pid: record.as_ref().map(|record| record.process.pid),
            since: record.as_ref().map(|record| record.since),
            address: Some(address),
            ready: ready && record.is_some(),
            memory: daemon.processes().into_iter().map(Process::memory).sum(),
        })
    };
    Ok(vec![
        row(
            docker::daemon(layout),
            docker_version,
            own.endpoint(),
            docker_ready,
        )?,
        row(
            registry::daemon(layout),
            registry_version,
            chosen.registry(),
            registry_ready,
        )?,
    ])
}
