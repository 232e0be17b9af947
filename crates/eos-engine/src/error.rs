//! What an engine said when it did not do what it was asked: the layer, the object, its own words, a hint.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    Salt,
    Terraform,
    Nomad,
    Consul,
    Vault,
    /// The estate on this machine: its files, settings, store and locks.
    Estate,
    Git,
    /// What watches the components of an environment.
    Prometheus,
    /// Where container images come from.
    Registry,
}

impl Layer {
    /// As a person writes it in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Salt => "Salt",
            Layer::Terraform => "Terraform",
            Layer::Nomad => "Nomad",
            Layer::Consul => "Consul",
            Layer::Vault => "Vault",
            Layer::Estate => "the estate",
            Layer::Git => "git",
            Layer::Prometheus => "Prometheus",
            Layer::Registry => "the registry",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Salt => "salt",
            Layer::Terraform => "terraform",
            Layer::Nomad => "nomad",
            Layer::Consul => "consul",
            Layer::Vault => "vault",
            Layer::Estate => "estate",
            Layer::Git => "git",
            Layer::Prometheus => "prometheus",
            Layer::Registry => "registry",
        })
    }
}

/// What a program can decide by; everything finer is in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// Nobody answered, or not as the engine would.
    Unreachable,
    /// The engine answered that this is not allowed.
    Refused,
    NotFound,
    /// Somebody else was faster: read again, then decide.
    Conflict,
    /// It was still going on when the time was over; it may yet happen.
    Timeout,
    /// The engine tried and did not succeed.
    Failed,
    /// What was asked for, or what was answered, makes no sense.
    Invalid,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineError {
    pub layer: Layer,
    pub kind: ErrorKind,
    /// What it was about, as a person would name it: `job grafana`, `minion control`.
    pub object: String,
    /// The engine's own words. Never a secret value.
    pub words: String,
    pub hint: Option<String>,
}

impl EngineError {
    pub fn new(layer: Layer, kind: ErrorKind, object: impl Into<String>, words: impl Into<String>) -> Self {
        let words = words.into();
        EngineError {
            layer,
            kind,
            object: object.into(),
            words: words.trim().to_owned(),
            hint: None,
        }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Gives a hint only where a better one is missing.
    pub(crate) fn with_default_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.kind {
            ErrorKind::Unreachable => "cannot be reached for",
            ErrorKind::Refused => "refused",
            ErrorKind::NotFound => "does not have",
            ErrorKind::Conflict => "found a conflict at",
            ErrorKind::Timeout => "ran out of time with",
            ErrorKind::Failed => "failed at",
            ErrorKind::Invalid => "cannot understand",
        };
        write!(f, "{} {verb} {}", self.layer, self.object)?;
        if !self.words.is_empty() {
            write!(f, ": {}", self.words)?;
        }
        Ok(())
    }
}

impl std::error::Error for EngineError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_layer_object_and_words() {
        let error = EngineError::new(
            Layer::Nomad,
            ErrorKind::Refused,
            "job grafana",
            "Permission denied\n",
        );
        assert_eq!(error.to_string(), "nomad refused job grafana: Permission denied");
        let silent = EngineError::new(Layer::Salt, ErrorKind::Timeout, "minion control", "");
        assert_eq!(silent.to_string(), "salt ran out of time with minion control");
    }
}
