//! Delivery over Salt's API: the control minion says which pieces it lacks, gets those, and makes the release current.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use eos_core::emit::sha256;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Files;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};

/// As the formula cuts files.
const PIECE: usize = 1 << 18;
/// Of one call: Salt's API takes requests below 1 MiB, and base64 makes four bytes of three.
const MOST_BYTES: usize = 600 << 10;
/// A release of tens of MiB is on a slow disk by then.
const CALL: Duration = Duration::from_secs(180);

/// What the master serves.
#[derive(Deserialize)]
pub(super) struct Served {
    pub current: Option<String>,
    /// All files with their digests, where they do not fit the release's name.
    pub files: Option<BTreeMap<PathBuf, String>>,
}

/// Where files are delivered to.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// What is served; the approval of the operation counts.
    Release { operation: &'a str },
    /// An environment of its own.
    Plan { name: &'a str },
}

#[derive(Deserialize)]
struct Taken {
    missing: Vec<String>,
    current: Option<String>,
}

pub(super) async fn served(engines: &Engines) -> Result<Served, EngineError> {
    ask(engines, json!({})).await
}

/// Brings the files of a release, or of a plan, under this digest. The answer is the release that is current then.
pub(super) async fn deliver(
    engines: &Engines,
    release: &str,
    files: &Files<'_>,
    target: Target<'_>,
) -> Result<Option<String>, EngineError> {
    let mut pieces = BTreeMap::new();
    let named = files.iter().map(|(path, bytes)| {
        let digests = cut(bytes, &mut pieces);
        (path.display().to_string(), digests.into())
    });
    let manifest = Value::Object(named.collect()).to_string().into_bytes();
    let named = cut(&manifest, &mut pieces);

    // Without a release that has just this manifest, its pieces are missing.
    let mut missing = named.clone();
    // Each call brings a piece at least. Another operation of the same user may have taken some away meanwhile.
    for _ in 0..2 * pieces.len() + 4 {
        let mut arguments =
            json!({"release": release, "manifest": named, "contents": batch(&missing, &pieces)?});
        match target {
            Target::Release { operation } => arguments["operation"] = operation.into(),
            Target::Plan { name } => arguments["plan"] = name.into(),
        }
        let taken: Taken = ask(engines, arguments).await?;
        if taken.missing.is_empty() {
            return Ok(taken.current);
        }
        missing = taken.missing;
    }
    let words = format!(
        "the minion keeps none of the pieces that it gets: {} are missing",
        missing.len()
    );
    Err(refused(engines, words))
}

/// The digests of the pieces of a file, which are put to the others.
fn cut<'a>(bytes: &'a [u8], pieces: &mut BTreeMap<String, &'a [u8]>) -> Vec<String> {
    let named = bytes.chunks(PIECE).map(|piece| {
        let digest = sha256(piece);
        pieces.insert(digest.clone(), piece);
        digest
    });
    named.collect()
}

/// As many of the missing pieces as one call carries.
fn batch(missing: &[String], pieces: &BTreeMap<String, &[u8]>) -> Result<Value, EngineError> {
    let mut contents = serde_json::Map::new();
    let mut room = MOST_BYTES;
    for digest in missing {
        let Some(piece) = pieces.get(digest) else {
            let words = format!("the minion asks for {digest}, which is no piece of the release");
            let object = "delivery";
            return Err(EngineError::new(Layer::Salt, ErrorKind::Invalid, object, words));
        };
        // A digest takes room, too: a thousand small files have a thousand.
        let Some(left) = room.checked_sub(piece.len() + digest.len()) else {
            break;
        };
        room = left;
        contents.insert(digest.clone(), BASE64_STANDARD.encode(piece).into());
    }
    Ok(contents.into())
}

async fn ask<T: DeserializeOwned>(engines: &Engines, arguments: Value) -> Result<T, EngineError> {
    let control = &engines.endpoints.control;
    let answer = engines.salt.call(control, "eos.deliver", arguments, CALL).await?;
    serde_json::from_value(answer)
        .map_err(|error| refused(engines, format!("its answer is of another form: {error}")))
}

fn refused(engines: &Engines, words: String) -> EngineError {
    let object = format!("delivery to minion {}", engines.endpoints.control);
    EngineError::new(Layer::Salt, ErrorKind::Invalid, object, words)
        .with_hint("Bring the formula of this Eos to the minion")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_into_pieces_that_name_themselves() {
        let bytes = vec![7; PIECE + 3];
        let mut pieces = BTreeMap::new();
        let named = cut(&bytes, &mut pieces);
        assert_eq!(named, [sha256(&bytes[..PIECE]), sha256(&[7, 7, 7])]);
        assert_eq!(pieces[&named[1]], [7, 7, 7]);
        assert_eq!(cut(b"", &mut pieces), Vec::<String>::new());
    }

    #[test]
    fn a_call_stays_below_what_salts_api_takes() {
        let files: Vec<Vec<u8>> = (0..4000_u32)
            .map(|number| [vec![1; 300], number.to_le_bytes().to_vec()].concat())
            .chain([vec![2; PIECE], vec![3; PIECE], vec![4; PIECE]])
            .collect();
        let mut pieces = BTreeMap::new();
        let mut missing: Vec<String> = files.iter().flat_map(|file| cut(file, &mut pieces)).collect();
        let mut calls = 0;
        while !missing.is_empty() {
            let contents = batch(&missing, &pieces).unwrap();
            assert!(contents.to_string().len() < 900 << 10);
            let brought = contents.as_object().unwrap();
            assert!(!brought.is_empty());
            missing.retain(|digest| !brought.contains_key(digest));
            calls += 1;
        }
        assert!((3..=6).contains(&calls), "{calls}");
    }

    #[test]
    fn what_is_asked_for_and_not_there_is_refused() {
        let error = batch(&["0".repeat(64)], &BTreeMap::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
}
