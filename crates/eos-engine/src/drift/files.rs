//! Generated files as they are on disk: in the estate, and in the release that is served.

use std::collections::BTreeSet;

use eos_core::compile::Compilation;
use eos_core::drift::{FileChange, FileSeen};

use crate::delivery;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::{Estate, PILLAR};

type Release = Result<Vec<FileSeen>, EngineError>;

/// What differs in the estate, and in the release.
pub async fn read(
    estate: &Estate,
    engines: &Engines,
    current: Result<Option<String>, EngineError>,
    wanted: &Compilation,
    applied: Option<&Compilation>,
) -> Result<(Vec<FileSeen>, Release), EngineError> {
    let served = match &current {
        Ok(Some(current)) => [Some(wanted), applied]
            .into_iter()
            .flatten()
            .find(|compilation| compilation.release == *current),
        _ => None,
    };
    let is_ahead = served.is_none_or(|served| served.release != wanted.release);
    let of_estate = estate_files(estate, wanted, is_ahead).await?;
    let release = match (current, served) {
        (Err(error), _) => Err(error),
        (Ok(None), _) => Ok(Vec::new()),
        (Ok(Some(_)), Some(served)) => delivery::damage(engines, &served.artifacts).await,
        (Ok(Some(current)), None) => {
            let is_edited = !estate.repository().is_clean(PILLAR).await?;
            unknown(engines, &current, is_edited).await
        }
    };
    Ok((of_estate, release))
}

/// Where the pillar was edited and not compiled yet, only what was changed since the last commit is a hand's work: the
/// rest is to be written still. The graph tells lines of the pillar, which move with every comment.
async fn estate_files(
    estate: &Estate,
    wanted: &Compilation,
    is_ahead: bool,
) -> Result<Vec<FileSeen>, EngineError> {
    let by_hand: BTreeSet<String> = estate
        .edited_by_hand(&wanted.artifacts)
        .await?
        .into_iter()
        .collect();
    let mut paths = by_hand.clone();
    if !is_ahead {
        let differing = estate.differing(&wanted.artifacts)?;
        paths.extend(differing.into_iter().filter(|path| !path.starts_with("graph/")));
    }
    Ok(paths
        .into_iter()
        .map(|path| {
            let is_there = estate.root.join(&path).exists();
            let how = match (wanted.artifacts.contains_key(&path), is_there) {
                (true, true) => FileChange::Changed,
                (true, false) => FileChange::Missing,
                (false, _) => FileChange::Strange,
            };
            FileSeen { path, how }
        })
        .collect())
}

/// A release that no pillar we know of compiles to. Unless the pillar is being edited, somebody else made it current.
async fn unknown(engines: &Engines, current: &str, is_edited: bool) -> Release {
    match delivery::is_whole(engines, current).await? {
        true if !is_edited => Ok(vec![FileSeen {
            path: "salt/release".to_owned(),
            how: FileChange::Changed,
        }]),
        true => Ok(Vec::new()),
        false => Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Invalid,
            format!("release {current}"),
            "its files do not fit its name, and Eos knows no pillar that compiles to them",
        )),
    }
}
