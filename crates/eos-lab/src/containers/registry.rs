//! The lab's own registry of images: the first place where its Docker looks for them.
//!
//! Docker asks a mirror without a password, so whoever is on this machine can ask too. Hence what listens on the port
//! only reads, and images are stored by a second process on a socket of the lab, there as long as it is needed.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use crate::containers::ContainerChoices;
use crate::containers::docker::failed;
use crate::containers::http::{Address, Content, HttpReply};
use crate::containers::layer::Layer;
use crate::daemon::{Daemon, Start};
use crate::durable;
use crate::error::Result;
use crate::layout::Layout;
use crate::process;
use eos_core::image::Reference;

pub const REGISTRY: &str = "docker-registry";
const READY: Duration = Duration::from_secs(30);
const STOP: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);
const BYTES: &str = "application/octet-stream";
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

pub struct Registry<'a> {
    layout: &'a Layout,
    chosen: &'a ContainerChoices,
    daemon: Daemon<'a>,
    address: Address,
}

impl<'a> Registry<'a> {
    pub fn new(layout: &'a Layout, chosen: &'a ContainerChoices) -> Registry<'a> {
        Registry {
            layout,
            chosen,
            daemon: daemon(layout),
            address: Address::Port(chosen.registry()),
        }
    }

    pub async fn up(&self) -> Result<()> {
        let home = self.layout.containers().join("registry");
        durable::directory(&home, 0o700)?;
        let settings = self.settings(true, json!({"addr": self.chosen.registry()}));
        durable::write_json(&settings_file(self.layout), &settings, 0o600)?;
        self.daemon
            .ensure(&Start {
                program: &self.chosen.registry_program,
                reads: &[settings_file(self.layout)],
                ports: &[self.chosen.registry_port],
                stale: &[],
                umask: 0o077,
            })
            .await?;
        let begun = Instant::now();
        while !self.answers().await {
            self.daemon.check_running()?;
            if begun.elapsed() > READY {
                return Err(self.daemon.not_ready(READY, "it does not answer"));
            }
            sleep(LOOK).await;
        }
        Ok(())
    }

    pub async fn answers(&self) -> bool {
        answers(&self.address).await
    }

    pub async fn stop(&self) -> Result<()> {
        self.daemon.stop(STOP).await
    }

    /// Whether it holds an image, byte for byte this one.
    pub async fn has(&self, name: &Reference, manifest_digest: &str) -> bool {
        let path = format!("/v2/{}/manifests/{manifest_digest}", name.repository());
        head(&self.address, &path).await
    }

    /// Starts what stores images; it ends when it is dropped.
    pub async fn writer(&self, socket: PathBuf) -> Result<Writer> {
        let file = self.layout.containers().join("registry/writer.yml");
        let http = json!({"net": "unix", "addr": socket});
        durable::write_json(&file, &self.settings(false, http), 0o600)?;
        durable::remove(&socket)?;
        let what = "starting the registry for images to be stored";
        let process = Command::new(&self.chosen.registry_program)
            .arg("serve")
            .arg(file)
            .env_clear()
            .env(process::MARK, &self.layout.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(what, &error))?;
        let mut writer = Writer {
            address: Address::Socket(socket),
            process,
        };
        let begun = Instant::now();
        while !answers(&writer.address).await {
            let ended = writer.process.try_wait().map_err(|error| failed(what, &error))?;
            if let Some(status) = ended {
                return Err(failed(what, &format!("it ended with {status}")));
            }
            if begun.elapsed() > READY {
                return Err(failed(what, &"it does not answer"));
            }
            sleep(LOOK).await;
        }
        Ok(writer)
    }

    /// JSON is YAML too, and quotes what a path may hold.
    fn settings(&self, only_reads: bool, http: Value) -> Value {
        let data = self.layout.containers().join("registry/data");
        json!({
            "version": "0.1",
            "log": {"level": "warn", "accesslog": {"disabled": true}},
            "storage": {
                "filesystem": {"rootdirectory": data},
                "maintenance": {"readonly": {"enabled": only_reads}},
            },
            "http": http,
        })
    }
}

/// A second process of the registry, which stores images.
pub struct Writer {
    address: Address,
    process: Child,
}

impl Writer {
    /// Stores an image under its name: what it is made of first, then the manifest that names those.
    pub async fn push(
        &self,
        name: &Reference,
        layer: &Layer,
        configuration: (&str, Bytes),
        manifest: Bytes,
    ) -> Result<()> {
        let what = format!("storing image {name} in the lab's registry");
        let content = || Content::file(&layer.path);
        self.blob(name, &layer.digest, content, &what).await?;
        let (digest, bytes) = configuration;
        self.blob(name, digest, || Ok(Content::Bytes(bytes.clone())), &what)
            .await?;
        let path = format!("/v2/{}/manifests/{}", name.repository(), name.tag());
        let stored = self
            .address
            .send(
                Method::PUT,
                &path,
                &[(CONTENT_TYPE, MANIFEST)],
                Content::Bytes(manifest),
            )
            .await;
        expect(stored, 201, &what).map(drop)
    }

    async fn blob(
        &self,
        name: &Reference,
        digest: &str,
        content: impl FnOnce() -> std::io::Result<Content>,
        what: &str,
    ) -> Result<()> {
        let blobs = format!("/v2/{}/blobs", name.repository());
        if head(&self.address, &format!("{blobs}/{digest}")).await {
            return Ok(());
        }
        let begin = self
            .address
            .send(Method::POST, &format!("{blobs}/uploads/"), &[], Content::none())
            .await;
        let location = expect(begin, 202, what)?.location.unwrap_or_default();
        // It names itself in full; the connection is to it anyway.
        let path = match location.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("", |start| &rest[start..]),
            None => &location,
        };
        let join = if path.contains('?') { '&' } else { '?' };
        let content = content().map_err(|error| failed(what, &error))?;
        let stored = self
            .address
            .send(
                Method::PUT,
                &format!("{path}{join}digest={digest}"),
                &[(CONTENT_TYPE, BYTES)],
                content,
            )
            .await;
        expect(stored, 201, what).map(drop)
    }
}

async fn answers(address: &Address) -> bool {
    let answer = address.get("/v2/").await;
    answer.is_ok_and(|answer| answer.status.is_success())
}

async fn head(address: &Address, path: &str) -> bool {
    address
        .send(Method::HEAD, path, &[(ACCEPT, MANIFEST)], Content::none())
        .await
        .is_ok_and(|answer| answer.status.is_success())
}

fn expect(answer: std::io::Result<HttpReply>, status: u16, what: &str) -> Result<HttpReply> {
    let answer = answer.map_err(|error| failed(what, &error))?;
    match answer.status.as_u16() == status {
        true => Ok(answer),
        false => Err(failed(what, &answer.words())),
    }
}

fn settings_file(layout: &Layout) -> PathBuf {
    layout.containers().join("registry/config.yml")
}

pub fn daemon(layout: &Layout) -> Daemon<'_> {
    let settings = settings_file(layout).display().to_string();
    Daemon::with_arguments(layout, REGISTRY, vec!["serve".into(), settings])
}
