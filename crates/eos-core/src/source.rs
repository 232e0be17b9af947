//! Provenance: which option, recipe line, environment default, host fact or pass set a value.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Source {
    /// Set in the pillar, by a flag or by hand.
    Option { option: String, file: String, line: u32 },
    /// Set by the recipe.
    Recipe { recipe: String, line: u32 },
    /// Default of the environment's table.
    Environment { environment: String, key: String },
    /// A fact about a host, from the pillar.
    Host { host: String, file: String, line: u32 },
    /// Decided by a pass of the compiler.
    Pass { pass: String, reason: String },
}

impl Source {
    pub fn pass(pass: &str, reason: impl Into<String>) -> Self {
        Self::Pass {
            pass: pass.to_owned(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { option, file, line } => write!(f, "option {option} ({file}:{line})"),
            Self::Recipe { recipe, line } => write!(f, "recipe {recipe} (line {line})"),
            Self::Environment { environment, key } => {
                write!(f, "environment {environment}, default for {key}")
            }
            Self::Host { host, file, line } => write!(f, "host {host} ({file}:{line})"),
            Self::Pass { pass, reason } => write!(f, "pass {pass}: {reason}"),
        }
    }
}

/// A value that remembers where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sourced<T> {
    pub value: T,
    pub from: Source,
}

impl<T> Sourced<T> {
    pub fn new(value: T, from: Source) -> Self {
        Self { value, from }
    }
}
