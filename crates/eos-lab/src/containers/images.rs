//! The images that a lab made: from programs that a person names, and for the recipes of the catalog.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::choices::Choices;
use crate::containers::docker::{self, Engine, OwnDocker};
use crate::containers::image::{Settings, Store};
use crate::containers::layer::{Account, Contents, Layer};
use crate::containers::registry::Registry;
use crate::containers::software::{self, Plan, RecipeImage};
use crate::containers::{programs, why_not};
use crate::durable;
use crate::error::{Error, Result};
use crate::lab::Lab;
use crate::layout::Layout;
use crate::progress::{Progress, Running};
use eos_core::image::Reference;

/// What a person wants packed.
#[derive(Debug, Clone, Default)]
pub struct ImageInput {
    pub name: String,
    /// By path, or by name if they are on PATH.
    pub programs: Vec<String>,
    pub files: Vec<PathBuf>,
    pub directories: Vec<PathBuf>,
    /// The first program, if this is empty.
    pub entrypoint: Vec<String>,
    pub command: Vec<String>,
    /// `NAME=VALUE`
    pub environment: Vec<String>,
    /// `USER` or `USER:GROUP`, in numbers.
    pub user: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PackedImage {
    pub name: String,
    pub files: usize,
    pub bytes: u64,
    /// What is run when nothing else is said.
    pub runs: Vec<String>,
    /// `registry` or `docker`: where it was stored.
    pub stored: &'static str,
}

/// One image as the lab remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageStatus {
    pub name: String,
    /// `PostgreSQL 15.18`, `stand-in`, or why there is none.
    pub holds: String,
    /// It answers in place of software that cannot be had.
    pub stand_in: bool,
    /// None: it could not be made.
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
}

/// By what an image is found to be there, and to be made of what would be packed now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    digest: String,
    fingerprint: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct ContainersStatus {
    /// Which Docker there is, or why there is none.
    pub docker: String,
    pub images: Vec<ImageStatus>,
}

impl Lab {
    /// Which Docker the lab has, and the images that it made.
    pub fn containers(&self) -> Result<Option<ContainersStatus>> {
        let Some(choices) = Choices::read(&self.layout)? else {
            return Ok(None);
        };
        let docker = match (&choices.containers, docker::found()) {
            (Some(_), _) => "the lab's own Docker".into(),
            (None, Some(endpoint)) => format!("the Docker at {endpoint}"),
            (None, None) => match why_not() {
                Some(why) => format!("none: {why}"),
                None => "none: eos lab up --containers starts one".into(),
            },
        };
        let images = recorded(&self.layout)?.into_values().collect();
        Ok(Some(ContainersStatus { docker, images }))
    }

    /// Makes the images that recipes run, but for those that are as they would be made now.
    pub async fn make_images(&self, images: &[RecipeImage], progress: &dyn Progress) -> Result<()> {
        let _lock = self.lock(progress).await?;
        let choices = Choices::read(&self.layout)?.ok_or_else(not_up)?;
        let store = store(&self.layout, &choices).await?;
        let usual = Some(Duration::from_secs(20));
        let step = Running::start(progress, "images", "make the images of recipes", usual);
        let place = self.layout.containers().join("layers");
        durable::directory(&place, 0o700)?;
        let mut layers = BTreeMap::new();
        for (done, image) in images.iter().enumerate() {
            step.advance(done as u64, images.len() as u64, "images");
            let status = self.make_image(image, &store, &place, &mut layers, &step).await?;
            record(&self.layout, status)?;
        }
        if choices.mesh.is_some() {
            for (name, plan) in software::of_mesh(&choices).await? {
                let name = parse(&name)?;
                let status = self
                    .make_planned(&name, plan, &store, &place, &mut layers)
                    .await?;
                record(&self.layout, status)?;
            }
        }
        durable::remove(&place)?;
        step.done();
        Ok(())
    }

    async fn make_image(
        &self,
        image: &RecipeImage,
        store: &Store<'_>,
        place: &Path,
        layers: &mut BTreeMap<String, Layer>,
        step: &Running<'_>,
    ) -> Result<ImageStatus> {
        let name = parse(&image.name)?;
        let absent = |why: String| {
            step.note(&format!("{name} is not made: {why}"));
            ImageStatus {
                name: name.to_string(),
                holds: why,
                stand_in: false,
                bytes: None,
                made: None,
            }
        };
        if store.is_taken(&name).await? {
            return Ok(absent(
                "Docker has another image of that name, which stays".into(),
            ));
        }
        let plan = software::plan(image, &name, &self.layout.bin().join("eos")).await?;
        let plan = match plan {
            Ok(plan) => plan,
            Err(package) => return Ok(absent(format!("missing: apt install {package}"))),
        };
        self.make_planned(&name, plan, store, place, layers).await
    }

    /// Makes an image, unless it is there as it would be made now.
    async fn make_planned(
        &self,
        name: &Reference,
        plan: Plan,
        store: &Store<'_>,
        place: &Path,
        layers: &mut BTreeMap<String, Layer>,
    ) -> Result<ImageStatus> {
        let contents = plan.contents.fingerprint()?;
        let fingerprint = plan.settings.fingerprint(&contents);
        let before = recorded(&self.layout)?.remove(&name.to_string());
        if let Some(Some(made)) = before.as_ref().map(|before| &before.made)
            && made.fingerprint == fingerprint
            && store.has(name, &made.digest, &plan.settings.holds).await?
        {
            return before.ok_or_else(not_up);
        }
        if !layers.contains_key(&contents) {
            let layer = write(plan.contents, place.join(format!("{contents}.tar"))).await?;
            layers.insert(contents.clone(), layer);
        }
        let layer = &layers[&contents];
        let stored = store.put(name, &plan.settings, layer).await?;
        Ok(ImageStatus {
            name: name.to_string(),
            holds: plan.settings.holds,
            stand_in: plan.stand_in,
            bytes: Some(layer.bytes),
            made: Some(Made {
                digest: stored.digest,
                fingerprint,
            }),
        })
    }

    /// Packs programs, with what they need, into an image that jobs of this lab can run under its name.
    pub async fn pack_image(&self, input: &ImageInput, progress: &dyn Progress) -> Result<PackedImage> {
        let name = parse(&input.name)?;
        let _lock = self.lock(progress).await?;
        let choices = Choices::read(&self.layout)?.ok_or_else(not_up)?;
        let store = store(&self.layout, &choices).await?;
        let step = Running::start(progress, "images", format!("pack image {name}"), None);
        let account = match &input.user {
            None => None,
            Some(user) => Some(Account::read(user, "app").ok_or_else(|| Error::NoSuchImage {
                why: format!("a user is a number, or two with a colon between, not \"{user}\""),
            })?),
        };
        let mut contents = Contents::new(account.as_ref());
        let mut first = None;
        for program in &input.programs {
            let path = match program.contains('/') {
                true => std::path::absolute(program).unwrap_or_else(|_| program.into()),
                false => programs::find(program).ok_or_else(|| Error::NoSuchImage {
                    why: format!("there is no program {program} on PATH"),
                })?,
            };
            contents.program(&path, &path).await?;
            first.get_or_insert(path);
        }
        for file in &input.files {
            let path = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            contents.file(&path, &path)?;
        }
        for directory in &input.directories {
            let path = std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
            contents.directory(&path)?;
        }
        let mut entrypoint = input.entrypoint.clone();
        if entrypoint.is_empty() {
            entrypoint.extend(first.map(|path| path.display().to_string()));
        }
        let mut environment = input.environment.clone();
        if !environment.iter().any(|entry| entry.starts_with("PATH=")) {
            environment.push("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into());
        }
        let settings = Settings {
            entrypoint,
            command: input.command.clone(),
            environment,
            user: input.user.clone(),
            stop_signal: None,
            holds: input.programs.join(" "),
        };
        let files = contents.count();
        let fingerprint = settings.fingerprint(&contents.fingerprint()?);
        durable::directory(&self.layout.containers(), 0o700)?;
        let layer = write(contents, self.layout.containers().join("layer.tar")).await?;
        let put = store.put(&name, &settings, &layer).await;
        durable::remove(&layer.path)?;
        let status = ImageStatus {
            name: name.to_string(),
            holds: settings.holds,
            stand_in: false,
            bytes: Some(layer.bytes),
            made: Some(Made {
                digest: put?.digest,
                fingerprint,
            }),
        };
        record(&self.layout, status)?;
        step.done();
        Ok(PackedImage {
            name: name.to_string(),
            files,
            bytes: layer.bytes,
            runs: [settings.entrypoint, settings.command].concat(),
            stored: match store.registry_for(&name) {
                Some(_) => "registry",
                None => "docker",
            },
        })
    }
}

/// Where images of this lab go.
async fn store<'a>(layout: &'a Layout, choices: &'a Choices) -> Result<Store<'a>> {
    if let Some(chosen) = &choices.containers {
        let registry = Registry::new(layout, chosen);
        let docker = OwnDocker::new(layout, choices, chosen).engine();
        if !registry.answers().await || !docker.answers().await {
            return Err(not_up());
        }
        let writer = registry.writer(choices.sockets.join("registry.sock")).await?;
        return Ok(Store {
            docker,
            registry: Some((registry, writer)),
        });
    }
    let Some(endpoint) = docker::found() else {
        let why = why_not().unwrap_or_else(|| "the lab has no Docker yet".into());
        return Err(Error::NoContainers { why });
    };
    let docker = Engine::at(&endpoint).ok_or_else(|| Error::NoContainers {
        why: format!("only Docker's own client can reach the Docker at {endpoint}"),
    })?;
    match docker.answers().await {
        true => Ok(Store {
            docker,
            registry: None,
        }),
        false => Err(not_up()),
    }
}

fn not_up() -> Error {
    Error::NoContainers {
        why: "its Docker does not answer".into(),
    }
}

fn parse(name: &str) -> Result<Reference> {
    let name: Reference = name.parse().map_err(|why| Error::NoSuchImage { why })?;
    match name.digest {
        None => Ok(name),
        Some(_) => Err(Error::NoSuchImage {
            why: format!("\"{name}\" has a digest, which only an image that is made already has"),
        }),
    }
}

/// Reading and digesting takes a while; an interruption is not to wait for it.
async fn write(contents: Contents, to: PathBuf) -> Result<Layer> {
    let written = tokio::task::spawn_blocking(move || contents.write(&to)).await;
    written
        .map_err(|error| docker::failed("packing an image", &error))
        .flatten()
}

fn file(layout: &Layout) -> PathBuf {
    layout.containers().join("images.json")
}

fn recorded(layout: &Layout) -> Result<BTreeMap<String, ImageStatus>> {
    Ok(durable::read_json(&file(layout), "the images of a lab")?.unwrap_or_default())
}

fn record(layout: &Layout, image: ImageStatus) -> Result<()> {
    let mut all = recorded(layout)?;
    all.insert(image.name.clone(), image);
    Ok(durable::write_json(&file(layout), &all, 0o600)?)
}
