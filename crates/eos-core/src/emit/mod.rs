//! Emitting: lowered components become the bytes that Salt, Terraform and Nomad read.

mod backend;
pub(crate) mod graph;
mod hcl;
mod nomad;
mod outputs;
pub mod salt;
mod task_templates;
pub mod terraform;
mod variables;
mod words;

pub(crate) use variables::identifier;

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Path below the estate -> bytes; the same for the same pillar and catalog (I7).
pub type Artifacts = BTreeMap<String, Vec<u8>>;

/// Bytes that most files fit in. A text that begins with this much room is not moved while it grows.
const ROOM: usize = 8 << 10;

/// A document as JSON on lines of its own, after a first line such as `#!json`. A compilation keeps it: no room is left
/// at its end.
pub(crate) fn json_lines(first: &str, document: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ROOM);
    bytes.extend_from_slice(first.as_bytes());
    serde_json::to_writer_pretty(&mut bytes, document).expect("what is emitted has a JSON form");
    bytes.push(b'\n');
    bytes.shrink_to_fit();
    bytes
}

/// sha256 of some bytes, as hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// One digest of several parts. Each goes in with its length, so that no two lists of parts run together.
pub fn digest_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hex::encode(hasher.finalize())
}

/// What names a release: all artifacts that are delivered, which the graph is not.
pub fn release_digest(artifacts: &Artifacts) -> String {
    let delivered = artifacts.iter().filter(|(path, _)| !path.starts_with("graph/"));
    digest_of(delivered.flat_map(|(path, bytes)| [path.as_bytes(), bytes.as_slice()]))
}
