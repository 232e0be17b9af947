//! An image: one layer and how it is to be run, as registries and Docker take it.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use hyper::body::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, Header};

use crate::containers::docker::Engine;
use crate::containers::layer::Layer;
use crate::containers::registry::{MANIFEST, Registry, Writer};
use crate::durable;
use crate::error::{AtPath, Result};
use eos_core::image::Reference;

/// Says of every image that a lab made what it holds.
pub const LABEL: &str = "eos.holds";

/// How an image is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub entrypoint: Vec<String>,
    pub command: Vec<String>,
    /// `NAME=VALUE`
    pub environment: Vec<String>,
    /// `USER` or `USER:GROUP`, in numbers.
    pub user: Option<String>,
    /// The signal that Docker stops it with, if not SIGTERM.
    pub stop_signal: Option<String>,
    /// What it holds, as a person would say it.
    pub holds: String,
}

impl Settings {
    /// What of them is in the image.
    fn json(&self) -> Value {
        let mut settings = json!({
            "Entrypoint": self.entrypoint,
            "Cmd": self.command,
            "Env": self.environment,
            "User": self.user.clone().unwrap_or_default(),
            "WorkingDir": "/",
            "Labels": {LABEL: self.holds},
        });
        if let Some(signal) = &self.stop_signal {
            settings["StopSignal"] = signal.as_str().into();
        }
        settings
    }

    /// Distinguishes images that are made of the same files.
    pub fn fingerprint(&self, contents: &str) -> String {
        hex::encode(Sha256::digest(format!("{contents} {}", self.json())))
    }
}

/// Where an image goes: into a Docker, or, if that is the lab's own, to the registry from which it fetches.
pub struct Store<'a> {
    pub docker: Engine,
    pub registry: Option<(Registry<'a>, Writer)>,
}

/// What was stored, to be found again.
pub struct Stored {
    /// Of the manifest.
    pub digest: String,
}

impl<'a> Store<'a> {
    /// Whether what was stored is still there.
    pub async fn has(&self, name: &Reference, digest: &str, holds: &str) -> Result<bool> {
        match self.registry_for(name) {
            Some((registry, _)) => Ok(registry.has(name, digest).await),
            None => {
                let labels = self.docker.labels(name).await?;
                Ok(labels.is_some_and(|labels| labels[LABEL] == holds))
            }
        }
    }

    /// Whether somebody else's image has this name: the lab's own Docker has nobody else's.
    pub async fn is_taken(&self, name: &Reference) -> Result<bool> {
        if self.registry.is_some() {
            return Ok(false);
        }
        let labels = self.docker.labels(name).await?;
        Ok(labels.is_some_and(|labels| labels[LABEL].is_null()))
    }

    /// Of a name with a host of its own Docker asks that host, and no mirror.
    pub fn registry_for(&self, name: &Reference) -> Option<&(Registry<'a>, Writer)> {
        self.registry.as_ref().filter(|_| name.host.is_none())
    }

    pub async fn put(&self, name: &Reference, settings: &Settings, layer: &Layer) -> Result<Stored> {
        let configuration = configuration(settings, layer);
        let digest = digest(&configuration);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {
                "mediaType": "application/vnd.oci.image.config.v1+json",
                "digest": digest,
                "size": configuration.len(),
            },
            "layers": [{
                "mediaType": "application/vnd.oci.image.layer.v1.tar",
                "digest": layer.digest,
                "size": layer.bytes,
            }],
        });
        let manifest = Bytes::from(manifest.to_string());
        let stored = Stored {
            digest: self::digest(&manifest),
        };
        if let Some((_, writer)) = self.registry_for(name) {
            writer
                .push(name, layer, (&digest, configuration), manifest)
                .await?;
            self.docker.forget(name).await?;
        } else {
            let archive = layer.path.with_extension("image");
            write_archive(&archive, name, &configuration, layer).at("write", &archive)?;
            let loaded = self.docker.load(&archive, &name.to_string()).await;
            durable::remove(&archive)?;
            loaded?;
        }
        Ok(stored)
    }
}

fn configuration(settings: &Settings, layer: &Layer) -> Bytes {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let configuration = json!({
        "architecture": architecture,
        "os": "linux",
        // The same files and settings are the same image.
        "created": "1970-01-01T00:00:00Z",
        "config": settings.json(),
        "rootfs": {"type": "layers", "diff_ids": [layer.digest]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "eos lab image"}],
    });
    Bytes::from(configuration.to_string())
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

/// The form that `docker load` reads.
fn write_archive(to: &Path, name: &Reference, configuration: &[u8], layer: &Layer) -> std::io::Result<()> {
    let mut archive = Builder::new(BufWriter::new(File::create(to)?));
    let hex = |digest: &str| digest.trim_start_matches("sha256:").to_owned();
    let configuration_file = format!("{}.json", hex(&digest(configuration)));
    let layer_file = format!("{}/layer.tar", hex(&layer.digest));
    let manifest = json!([{
        "Config": configuration_file,
        "RepoTags": [name.to_string()],
        "Layers": [layer_file],
    }]);
    let mut header = Header::new_gnu();
    header.set_mode(0o644);
    for (place, bytes) in [
        (configuration_file.as_str(), configuration),
        ("manifest.json", manifest.to_string().as_bytes()),
    ] {
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, place, bytes)?;
    }
    header.set_size(layer.bytes);
    archive.append_data(&mut header, layer_file, File::open(&layer.path)?)?;
    std::io::Write::flush(&mut archive.into_inner()?)
}
