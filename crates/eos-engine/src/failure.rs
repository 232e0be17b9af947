//! Why something was not done: the input was wrong, an engine said no, or a step of an operation failed.

use eos_core::diagnostic::Diagnostic;

use crate::approval::Needed;
use crate::error::EngineError;

#[derive(Debug)]
pub enum Failure {
    /// The pillar, a recipe or the command is wrong; nothing was changed.
    Input(Vec<Diagnostic>),
    /// An engine, or the estate on this machine; nothing was changed.
    Engine(EngineError),
    /// A step of an operation failed; the operation can be resumed.
    Step(Box<StepFailure>),
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

#[derive(Debug)]
pub struct StepFailure {
    pub operation: String,
    pub number: usize,
    pub total: usize,
    pub title: String,
    pub error: EngineError,
}

impl Failure {
    /// Another way to go on, where the engine's own hint would lead nowhere.
    pub fn with_hint(self, hint: &str) -> Self {
        match self {
            Self::Engine(error) => Self::Engine(error.with_hint(hint)),
            other => other,
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
