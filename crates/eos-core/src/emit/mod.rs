//! Emitting: lowered components become the bytes that Salt, Terraform and Nomad read.

pub(crate) mod graph;
mod hcl;
pub mod monitoring;
mod nomad;
pub mod salt;
mod task_templates;
pub mod terraform;
mod variables;

pub(crate) use variables::identifier;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Path below the estate -> bytes; the same for the same pillar and catalog (I7).
pub type Artifacts = BTreeMap<String, Vec<u8>>;

/// A document as JSON on lines of its own, after a first line such as `#!json`. A compilation keeps it: no room is left
/// at its end.
pub(crate) fn json_lines(first: &str, document: &impl Serialize) -> Vec<u8> {
    let mut bytes = first.as_bytes().to_vec();
    serde_json::to_writer_pretty(&mut bytes, document).expect("what is emitted has a JSON form");
    bytes.push(b'\n');
    bytes.shrink_to_fit();
    bytes
}

/// sha256 of some bytes, as hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// One digest for one value, the same whoever computes it: sha256 of JSON with sorted keys, no spaces, and UTF-8
/// unescaped. The formula's `eos_digest.of_json` is the same.
pub fn canonical_digest(value: &Value) -> String {
    sha256(sorted(value).to_string().as_bytes())
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let by_name: BTreeMap<&String, Value> =
                fields.iter().map(|(name, field)| (name, sorted(field))).collect();
            by_name
                .into_iter()
                .map(|(name, field)| (name.clone(), field))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// tests/formula/test_records.py holds the formula to the same digest.
    #[test]
    fn a_value_has_one_digest() {
        let value = serde_json::json!({
            "b": [{"z": 1, "a": null}], "a": "ü\u{2028}\u{7f}\u{1}\n\"\\/", "ä": true, "Z": 21_474_836_480_u64
        });
        let digest = "ae43dea9f992e2c745b620058291b755576a7078bdbe771e08fcd1db5a6701f4";
        assert_eq!(canonical_digest(&value), digest);
    }
}
