//! A Docker: the one that is there, or the lab's own, which has everything below the lab and is ended with it.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Method;
use hyper::header::CONTENT_TYPE;
use rustix::fs::Access;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::choices::Choices;
use crate::containers::http::{Address, Content, HttpReply};
use crate::containers::{ContainerChoices, bridge};
use crate::daemon::{Daemon, Start};
use crate::durable;
use crate::error::{Error, Result};
use crate::layout::Layout;
use eos_core::image::Reference;

pub const DOCKERD: &str = "dockerd";
const READY: Duration = Duration::from_secs(60);
/// It ends its containers first, each within ten seconds.
const STOP: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(100);

/// A Docker that was there before the lab: the one that the person's environment names, else the usual socket.
pub fn found() -> Option<String> {
    let named = env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
    let host = named.unwrap_or_else(|| "unix:///var/run/docker.sock".into());
    match host.strip_prefix("unix://") {
        Some(socket) => rustix::fs::access(socket, Access::WRITE_OK)
            .is_ok()
            .then_some(host),
        None => Some(host),
    }
}

/// The lab's own.
pub struct OwnDocker<'a> {
    layout: &'a Layout,
    sockets: &'a Path,
    chosen: &'a ContainerChoices,
    daemon: Daemon<'a>,
}

impl<'a> OwnDocker<'a> {
    pub fn new(layout: &'a Layout, choices: &'a Choices, chosen: &'a ContainerChoices) -> OwnDocker<'a> {
        OwnDocker {
            layout,
            sockets: &choices.sockets,
            chosen,
            daemon: daemon(layout),
        }
    }

    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    pub fn engine(&self) -> Engine {
        Engine {
            address: Address::Socket(self.socket()),
        }
    }

    /// Brings it up with its bridge, and waits until it answers.
    pub async fn up(&self) -> Result<()> {
        let bridge = bridge::name(self.layout);
        bridge::up(&bridge, self.chosen.address).await?;
        durable::directory(&self.home(), 0o700)?;
        durable::directory(self.sockets, 0o700)?;
        let settings = json!({
            "data-root": self.home().join("data"),
            // Sockets lie in it, whose paths must be short.
            "exec-root": self.exec_root(),
            "pidfile": self.pid_file(),
            "hosts": [self.endpoint()],
            "bridge": bridge,
            // A second Docker on a machine empties the firewall's chains of the first, and the first one decides
            // what is forwarded for everybody. Ports are published by Docker's own proxy instead, and what is on
            // the bridge reaches this machine and nothing beyond it.
            "iptables": false,
            "ip-forward": false,
            "ip-masq": false,
            "registry-mirrors": [format!("http://{}", self.chosen.registry())],
            "log-level": "warn",
        });
        durable::write_json(&self.settings(), &settings, 0o600)?;
        self.start().await?;
        let begun = Instant::now();
        while !self.engine().answers().await {
            self.daemon.check_running()?;
            if begun.elapsed() > READY {
                return Err(self.daemon.not_ready(READY, "it does not answer on its socket"));
            }
            sleep(LOOK).await;
        }
        Ok(())
    }

    async fn start(&self) -> Result<()> {
        self.daemon
            .ensure(&Start {
                program: &self.chosen.dockerd,
                reads: &[self.settings()],
                ports: &[],
                stale: &[
                    self.pid_file(),
                    self.exec_root().join("containerd/containerd.pid"),
                ],
                umask: 0o022,
            })
            .await
    }

    /// Ends its containers and itself, and removes its bridge.
    pub async fn stop(&self) -> Result<()> {
        self.daemon.stop(STOP).await?;
        bridge::down(&bridge::name(self.layout)).await
    }

    fn home(&self) -> PathBuf {
        self.layout.containers().join("docker")
    }
    fn settings(&self) -> PathBuf {
        settings(self.layout)
    }
    fn pid_file(&self) -> PathBuf {
        self.home().join("dockerd.pid")
    }
    fn socket(&self) -> PathBuf {
        self.sockets.join("docker.sock")
    }
    fn exec_root(&self) -> PathBuf {
        self.sockets.join("docker")
    }
}

fn settings(layout: &Layout) -> PathBuf {
    layout.containers().join("docker/daemon.json")
}

pub fn daemon(layout: &Layout) -> Daemon<'_> {
    let settings = settings(layout).display().to_string();
    Daemon::with_arguments(layout, DOCKERD, vec!["--config-file".into(), settings])
}

/// What any Docker is asked for.
pub struct Engine {
    address: Address,
}

impl Engine {
    /// `None`: at an endpoint that only Docker's own client knows how to reach.
    pub fn at(endpoint: &str) -> Option<Engine> {
        let address = Address::of_docker(endpoint)?;
        Some(Engine { address })
    }

    pub async fn answers(&self) -> bool {
        self.address
            .get("/_ping")
            .await
            .is_ok_and(|answer| answer.status.is_success())
    }

    /// Takes an archive in, with the names that it gives its images.
    pub async fn load(&self, archive: &Path, object: &str) -> Result<()> {
        let what = format!("loading image {object} into Docker");
        let content = Content::file(archive).map_err(|error| failed(&what, &error))?;
        let answer = self
            .address
            .send(
                Method::POST,
                "/images/load?quiet=1",
                &[(CONTENT_TYPE, "application/x-tar")],
                content,
            )
            .await
            .map_err(|error| failed(&what, &error))?;
        // It answers before it has read the archive: what is wrong with that stands in the body.
        let text = String::from_utf8_lossy(&answer.body);
        match answer.status.is_success() && !text.contains("\"errorDetail\"") {
            true => Ok(()),
            false => Err(failed(&what, &answer.words())),
        }
    }

    /// The labels of an image that is there under this name.
    pub async fn labels(&self, name: &Reference) -> Result<Option<Value>> {
        let what = format!("looking for image {name} in Docker");
        let answer = self
            .ask(Method::GET, &format!("/images/{name}/json"), &what)
            .await?;
        match answer.status.as_u16() {
            404 => Ok(None),
            200 => {
                let image: Value =
                    serde_json::from_slice(&answer.body).map_err(|error| failed(&what, &error))?;
                Ok(Some(image["Config"]["Labels"].clone()))
            }
            _ => Err(failed(&what, &answer.words())),
        }
    }

    /// Makes it forget an image, so that it is fetched anew; containers that run it go on.
    pub async fn forget(&self, name: &Reference) -> Result<()> {
        let what = format!("removing image {name} from Docker");
        let path = format!("/images/{name}?force=true&noprune=false");
        let answer = self.ask(Method::DELETE, &path, &what).await?;
        match answer.status.as_u16() {
            200 | 404 => Ok(()),
            _ => Err(failed(&what, &answer.words())),
        }
    }

    async fn ask(&self, method: Method, path: &str, what: &str) -> Result<HttpReply> {
        self.address
            .send(method, path, &[], Content::none())
            .await
            .map_err(|error| failed(what, &error))
    }
}

pub fn failed(what: &str, words: &dyn std::fmt::Display) -> Error {
    Error::Command {
        what: what.into(),
        words: words.to_string(),
        hint: None,
    }
}
