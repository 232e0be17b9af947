//! The lab's own registry of images: the first place where its Docker looks for them.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use tokio::time::{Instant, sleep};

use crate::containers::ContainerChoices;
use crate::containers::docker::failed;
use crate::containers::http::{Address, Answer, Content};
use crate::containers::layer::Layer;
use crate::containers::reference::Reference;
use crate::daemon::{Daemon, Start};
use crate::durable;
use crate::error::Result;
use crate::layout::Layout;

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
        // JSON is YAML too, and quotes what a path may hold.
        let settings = serde_json::json!({
            "version": "0.1",
            "log": {"level": "warn", "accesslog": {"disabled": true}},
            "storage": {"filesystem": {"rootdirectory": home.join("data")}, "delete": {"enabled": true}},
            "http": {"addr": self.chosen.registry()},
        });
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
        self.address
            .get("/v2/")
            .await
            .is_ok_and(|answer| answer.status.is_success())
    }

    pub async fn stop(&self) -> Result<()> {
        self.daemon.stop(STOP).await
    }

    /// Whether it holds an image, byte for byte this one.
    pub async fn has(&self, name: &Reference, manifest_digest: &str) -> bool {
        let path = format!("/v2/{}/manifests/{manifest_digest}", name.repository());
        self.head(&path).await
    }

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
        let path = format!("/v2/{}/manifests/{}", name.repository(), name.tag);
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
        if self.head(&format!("{blobs}/{digest}")).await {
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

    async fn head(&self, path: &str) -> bool {
        self.address
            .send(Method::HEAD, path, &[(ACCEPT, MANIFEST)], Content::none())
            .await
            .is_ok_and(|answer| answer.status.is_success())
    }
}

fn expect(answer: std::io::Result<Answer>, status: u16, what: &str) -> Result<Answer> {
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
    Daemon::new(layout, REGISTRY, vec!["serve".into(), settings])
}
