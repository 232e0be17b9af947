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
pub struct Standings {
    root: PathBuf,
    undone: BTreeSet<String>,
}

impl Standings {
    pub fn read(estate: &Estate, store: &Store) -> Result<Self, EngineError> {
        Self::of_store(&estate.root, store)
    }

    fn of_store(root: &Path, store: &Store) -> Result<Self, EngineError> {
        let mut undone = BTreeSet::new();
        // Newest first: what was undone itself took nothing back for good.
        for (by, of) in store.undoings()? {
            if !undone.contains(&by) {
                undone.insert(of);
            }
        }
        Ok(Self {
            root: root.to_owned(),
            undone,
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Actor;
    use crate::lock::Lock;
    use crate::store::NewOperation;

    const ADA: Actor<'_> = Actor {
        who: "ada",
        user: "eos-architect",
    };

    struct Site {
        directory: tempfile::TempDir,
        store: Store,
    }

    impl Site {
        fn begin(&mut self, takes_back: Option<&str>) -> String {
            let id = Store::new_operation_id();
            let new = NewOperation {
                environment: "production",
                components: &["web".to_owned()],
                words: "eos create web",
                by: ADA,
                plan: &serde_json::json!({"steps": []}),
                takes_back,
            };
            self.store.begin_operation(&id, &new).unwrap();
            id
        }

        fn end(&mut self, outcome: Outcome, takes_back: Option<&str>) -> String {
            let id = self.begin(takes_back);
            self.store.end_operation(&id, outcome, ADA).unwrap();
            id
        }

        fn standing(&self, id: &str) -> Standing {
            let standings = Standings::of_store(self.directory.path(), &self.store).unwrap();
            standings.of(&self.store.operation(id).unwrap().unwrap())
        }
    }

    fn site() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        Site { directory, store }
    }

    #[test]
    fn an_operation_is_undone_until_its_undo_is() {
        let mut site = site();
        let done = site.end(Outcome::Done, None);
        assert_eq!(site.standing(&done), Standing::Done);
        site.end(Outcome::TakenBack, Some(&done));
        assert_eq!(
            site.standing(&done),
            Standing::Done,
            "an undo that was refused undid nothing"
        );
        let undo = site.end(Outcome::Done, Some(&done));
        assert_eq!(site.standing(&done), Standing::Undone);
        site.end(Outcome::Done, Some(&undo));
        assert_eq!(site.standing(&undo), Standing::Undone);
        assert_eq!(site.standing(&done), Standing::Done, "it was done again");
    }

    #[test]
    fn what_was_refused_was_never_rolled_back() {
        let mut site = site();
        let refused = site.end(Outcome::TakenBack, None);
        assert_eq!(site.standing(&refused), Standing::NotBegun);
        let back = site.begin(None);
        site.store.begin_back(&back, &serde_json::json!({}), ADA).unwrap();
        site.store.end_operation(&back, Outcome::TakenBack, ADA).unwrap();
        assert_eq!(site.standing(&back), Standing::RolledBack);
    }

    #[test]
    fn one_that_runs_has_no_next_command_and_one_whose_process_died_has() {
        let mut site = site();
        let id = site.begin(None);
        let root = site.directory.path().to_owned();
        let alive = Lock::try_acquire(&root, Target::Operation(&id), Some(&id)).unwrap();
        assert_eq!(site.standing(&id), Standing::Running);
        assert_eq!(Standing::Running.next(&id), None);
        drop(alive);
        assert_eq!(site.standing(&id), Standing::Interrupted);
        assert_eq!(
            Standing::Interrupted.next("01M7").as_deref(),
            Some("eos resume 01M7, or eos rollback 01M7")
        );
    }
}
