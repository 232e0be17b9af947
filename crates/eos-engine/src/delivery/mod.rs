//! Brings artifacts to the Salt master, as a release that is current or as a plan: through a directory, or Salt's API.

mod api;
pub mod directory;
mod plan;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use eos_core::drift::{FileChange, FileSeen};
use eos_core::emit::{release_digest, sha256};

pub(crate) use self::plan::{deliver_plan, remove_abandoned};
use crate::endpoints::Delivery;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};

/// The file in a release that holds its digest, for a minion to read back what it is served.
const RELEASE_FILE: &str = "salt/release";

/// Makes the release of these artifacts current on behalf of an operation, and removes the oldest ones. The answer is the release that is current
/// then, as it was read back.
pub async fn deliver(
    engines: &Engines,
    artifacts: &BTreeMap<String, Vec<u8>>,
    operation: &str,
) -> Result<Option<String>, EngineError> {
    match &engines.endpoints.delivery {
        Delivery::Directory { path } => {
            directory::deliver(path, artifacts)?;
            directory::remove_old_releases(path, directory::KEEP)?;
            directory::current(path)
        }
        Delivery::Api {} => {
            let target = api::Target::Release { operation };
            api::deliver(engines, &release_digest(artifacts), &placed(artifacts)?, target).await
        }
    }
}

/// The digest of the release that is current, or nothing before the first delivery.
pub async fn current(engines: &Engines) -> Result<Option<String>, EngineError> {
    match &engines.endpoints.delivery {
        Delivery::Directory { path } => directory::current(path),
        Delivery::Api {} => Ok(api::served(engines).await?.current),
    }
}

/// Which files of the current release are not those of the artifacts it was made from.
pub async fn damage(
    engines: &Engines,
    artifacts: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<FileSeen>, EngineError> {
    let found = match &engines.endpoints.delivery {
        Delivery::Directory { path } => directory::digests_of(path, Path::new("current"))?,
        Delivery::Api {} => match api::served(engines).await?.files {
            Some(files) => files,
            None => return Ok(Vec::new()),
        },
    };
    let release_file = format!("{}\n", release_digest(artifacts)).into_bytes();
    let mut wanted = placed(artifacts)?;
    wanted.insert(PathBuf::from(RELEASE_FILE), &release_file);
    let seen = |path: &Path, how| {
        // In a release Terraform's files are below `files/`; a person knows them by their place in the estate.
        let path = path.strip_prefix("files").unwrap_or(path);
        let path = path.display().to_string();
        FileSeen { path, how }
    };
    let mut damage = Vec::new();
    for (path, bytes) in &wanted {
        match found.get(path) {
            None => damage.push(seen(path, FileChange::Missing)),
            Some(digest) if *digest != sha256(bytes) => damage.push(seen(path, FileChange::Changed)),
            Some(_) => {}
        }
    }
    let strange = found.keys().filter(|path| !wanted.contains_key(*path));
    damage.extend(strange.map(|path| seen(path, FileChange::Strange)));
    Ok(damage)
}

/// Whether the current release, which this is, holds what its name stands for.
pub async fn is_whole(engines: &Engines, current: &str) -> Result<bool, EngineError> {
    match &engines.endpoints.delivery {
        Delivery::Directory { path } => directory::is_whole(path, current),
        Delivery::Api {} => {
            let served = api::served(engines).await?;
            Ok(served.files.is_none() && served.current.as_deref() == Some(current))
        }
    }
}

type Files<'a> = BTreeMap<PathBuf, &'a Vec<u8>>;

/// Which artifacts a release holds, and where in it.
fn placed(artifacts: &BTreeMap<String, Vec<u8>>) -> Result<Files<'_>, EngineError> {
    let mut files = Files::new();
    for (path, bytes) in artifacts {
        let invalid = |words: &str| {
            EngineError::new(
                Layer::Estate,
                ErrorKind::Invalid,
                format!("artifact {path}"),
                words,
            )
        };
        if path.is_empty()
            || !Path::new(path)
                .components()
                .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(invalid("its path does not stay inside the estate"));
        }
        if path == RELEASE_FILE {
            return Err(invalid("delivery itself writes this file"));
        }
        // The intent (`pillar/infrastructure`) and the graph are the estate's own affair.
        let for_minions = path == "pillar/top.sls"
            || ["salt/", "pillar/hosts/", "pillar/credentials/"]
                .iter()
                .any(|folder| path.starts_with(folder));
        if for_minions {
            files.insert(PathBuf::from(path), bytes);
        } else if path.starts_with("terraform/") {
            files.insert(Path::new("files").join(path), bytes);
        }
    }
    Ok(files)
}
