//! Provenance: which option, recipe line, environment default, host fact or pass set a value.

use serde::{Deserialize, Serialize};
use serde_json::Value;
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
    /// Given to what it uses by the recipe of another component.
    Consumer {
        component: String,
        recipe: String,
        line: u32,
    },
    /// An option of a component that this one uses.
    Used {
        component: String,
        option: String,
        from: Box<Source>,
    },
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
            Self::Consumer {
                component,
                recipe,
                line,
            } => write!(f, "recipe {recipe} (line {line}), which {component} uses it by"),
            Self::Used {
                component,
                option,
                from,
            } => write!(f, "option {option} of {component}, set by {from}"),
            Self::Pass { pass, reason } => write!(f, "pass {pass}: {reason}"),
        }
    }
}

/// A value that remembers where it came from, and what it won over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sourced<T> {
    pub value: T,
    pub from: Source,
    pub over: Vec<Overruled>,
}

/// A value that another source would have given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overruled {
    pub value: Value,
    pub from: Source,
}

impl<T> Sourced<T> {
    pub fn new(value: T, from: Source) -> Self {
        Self {
            value,
            from,
            over: Vec::new(),
        }
    }

    pub fn over(mut self, over: Vec<Overruled>) -> Self {
        self.over = over;
        self
    }

    /// Another form of the same value.
    pub fn map<U>(&self, map: impl FnOnce(&T) -> U) -> Sourced<U> {
        Sourced {
            value: map(&self.value),
            from: self.from.clone(),
            over: self.over.clone(),
        }
    }
}
