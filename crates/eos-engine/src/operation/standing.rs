//! How operations stand: the outcome on record, with what came of it since.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::EngineError;
use crate::estate::Estate;
use crate::lock::{self, Target};
use crate::store::{Operation, Outcome, Store};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A process is at work on it.
    Running,
    /// It stopped, or its process died.
    Interrupted,
    Waiting,
    Failed,
    Done,
    /// It was done, and a later operation took it back.
    Undone,
    RolledBack,
    /// It ended before its first step: it was refused, or given up while it waited.
    NotBegun,
    Dismissed,
}

impl Standing {
    pub fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Waiting => "waiting for approval",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Undone => "undone",
            Self::RolledBack => "rolled back",
            Self::NotBegun => "not begun",
            Self::Dismissed => "dismissed",
        }
    }

    /// What a person does next about an operation that stands in the way of others; `id` names it.
    pub fn next(self, id: &str) -> Option<String> {
        match self {
            Self::Interrupted | Self::Failed => Some(format!("eos resume {id}, or eos rollback {id}")),
            Self::Waiting => Some(format!("eos approve {id} --as USER, then eos resume {id}")),
            Self::Running
            | Self::Done
            | Self::Undone
            | Self::RolledBack
            | Self::NotBegun
            | Self::Dismissed => None,
        }
    }
}

/// What must be known beside an operation to say how it stands.
#[derive(Default)]
pub struct Standings {
    root: PathBuf,
    undone: BTreeSet<String>,
}

impl Standings {
    pub fn read(estate: &Estate, store: &Store) -> Result<Self, EngineError> {
        let mut undone = BTreeSet::new();
        // Newest first: what was undone itself took nothing back for good.
        for (by, of) in store.undoings()? {
            if !undone.contains(&by) {
                undone.insert(of);
            }
        }
        let root = estate.root.clone();
        Ok(Self { root, undone })
    }

    pub fn of(&self, operation: &Operation) -> Standing {
        match operation.outcome {
            Outcome::Done if self.undone.contains(&operation.id) => Standing::Undone,
            Outcome::Done => Standing::Done,
            Outcome::TakenBack if operation.back.is_none() => Standing::NotBegun,
            Outcome::TakenBack => Standing::RolledBack,
            Outcome::Dismissed => Standing::Dismissed,
            Outcome::Running | Outcome::Interrupted | Outcome::Failed | Outcome::Waiting
                if is_worked_on(&self.root, &operation.id) =>
            {
                Standing::Running
            }
            Outcome::Running | Outcome::Interrupted => Standing::Interrupted,
            Outcome::Failed => Standing::Failed,
            Outcome::Waiting => Standing::Waiting,
        }
    }
}

/// Whether a process is at work on the operation; one that cannot be asked about is taken to be.
pub fn is_alive(estate: &Estate, operation: &Operation) -> bool {
    is_worked_on(&estate.root, &operation.id)
}

fn is_worked_on(root: &Path, operation: &str) -> bool {
    !matches!(lock::held_by(root, Target::Operation(operation)), Ok(None))
}
