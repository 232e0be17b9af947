//! Why something was not done: the input was wrong, an engine said no, or a step of an operation failed.

use std::fmt;

use eos_core::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use crate::approval::Needed;
use crate::diagnose::Diagnosis;
use crate::error::{EngineError, ErrorKind, Layer};

#[derive(Debug)]
pub enum Failure {
    /// The pillar, a recipe or the command is wrong; nothing was changed.
    Input(Vec<Diagnostic>),
    /// An engine, or the estate on this machine; nothing was changed.
    Engine(EngineError),
    /// Engines refuse the plan; nothing was changed.
    Refused(Vec<EngineError>),
    /// A step of an operation failed.
    Step(Box<StepFailure>),
    /// A person stopped an operation.
    Stopped(Stopped),
    /// Somebody must approve the operation before it goes on.
    Waiting(Box<Waiting>),
}

#[derive(Debug)]
pub struct Waiting {
    pub operation: String,
    pub needed: Needed,
    /// The API user who asked for it, and so cannot approve it.
    pub requester: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct StepFailure {
    pub operation: String,
    pub number: usize,
    pub total: usize,
    pub title: String,
    pub error: EngineError,
    /// What the engines themselves say about the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    #[serde(skip)]
    pub aftermath: Aftermath,
}

/// What became of an operation after a step of it failed.
#[derive(Debug)]
pub enum Aftermath {
    /// All is as it was before, as far as each of these effects says.
    TakenBack { effects: Vec<String> },
    /// It stands where it failed, and can be gone on with.
    Stands { why: String },
}

impl Default for Aftermath {
    fn default() -> Self {
        Self::Stands { why: String::new() }
    }
}

/// An operation that a person stopped, between two steps.
#[derive(Debug)]
pub struct Stopped {
    pub operation: String,
    /// How many steps are done: all that had begun.
    pub done: usize,
    pub total: usize,
    /// It was being taken back.
    pub is_back: bool,
}

impl Failure {
    /// Another way to go on, where the engine's own hint would lead nowhere.
    pub fn with_hint(self, hint: &str) -> Self {
        match self {
            Self::Engine(error) => Self::Engine(error.with_hint(hint)),
            other => other,
        }
    }

    /// The same with one more way to go on.
    pub fn or_hint(self, way: &str) -> Self {
        let both = |hint: Option<String>| match hint {
            Some(hint) => format!("{hint}; {way}"),
            None => way.to_owned(),
        };
        match self {
            Self::Engine(mut error) => {
                error.hint = Some(both(error.hint.take()));
                Self::Engine(error)
            }
            Self::Input(mut found) => {
                for one in &mut found {
                    one.hint = Some(both(one.hint.take()));
                }
                Self::Input(found)
            }
            other => other,
        }
    }

    /// For where only an engine could fail: what is wrong with the input counts as the estate's.
    pub fn into_engine_error(self) -> EngineError {
        match self {
            Self::Engine(error) => error,
            Self::Step(step) => step.error,
            other => EngineError::new(Layer::Estate, ErrorKind::Invalid, "the pillar", other.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(found) => match found.first() {
                Some(first) => f.write_str(&first.message),
                None => f.write_str("the input is wrong"),
            },
            Self::Engine(error) => error.fmt(f),
            Self::Refused(refused) => match refused.first() {
                Some(first) => first.fmt(f),
                None => f.write_str("an engine refuses the plan"),
            },
            Self::Step(step) => write!(f, "step {} failed: {}", step.title, step.error),
            Self::Waiting(waiting) => write!(
                f,
                "it needs the approval of {} other than {}",
                waiting.needed.role.with_article(),
                waiting.requester
            ),
            Self::Stopped(stopped) => write!(f, "stopped after {} of {} steps", stopped.done, stopped.total),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(found: Vec<Diagnostic>) -> Self {
        Self::Input(found)
    }
}
