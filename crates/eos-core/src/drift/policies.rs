//! Policies in Vault that Eos relies on.

use super::{Difference, Layer, Look, Object, Verdict};

pub fn verdicts(look: &Look<'_>) -> Vec<Object> {
    let key = look.platform();
    let of = |name: &str, verdict| look.object(&key, format!("policy/{name}"), Layer::Vault, verdict);
    if !look.is_whole() {
        return Vec::new();
    }
    match &look.seen.vault {
        None => Vec::new(),
        Some(Err(silent)) => {
            let mut object = look.object(&key, "engine/vault", Layer::Vault, Verdict::Unreachable);
            object.note = Some(silent.words.clone());
            vec![object]
        }
        Some(Ok(vault)) => vault
            .policies
            .iter()
            .map(|(name, policy)| match &policy.real {
                None => of(name, Verdict::Missing),
                Some(real) if real.trim() == policy.wanted.trim() => of(name, Verdict::InStep),
                Some(real) => {
                    let mut object = of(name, Verdict::Changed);
                    object.attributes = vec![Difference::of("rules", policy.wanted.as_str(), real.as_str())];
                    object
                }
            })
            .collect(),
    }
}
