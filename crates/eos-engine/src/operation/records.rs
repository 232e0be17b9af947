//! Which operation a person means, and which stand in the way of a new one.

use std::collections::BTreeSet;

use eos_core::plan::{Key, Plan, earlier};

use super::{is_alive, is_resumable};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::store::{Event, Operation, Outcome, Store};

fn not_found(named: Option<&str>, words: &str) -> EngineError {
    let object = named.map_or("operation to continue".to_owned(), |id| format!("operation {id}"));
    EngineError::new(Layer::Estate, ErrorKind::NotFound, object, words)
        .with_hint("`eos history` shows them all")
}

/// The operation with this id, or the only one whose id begins so.
pub fn find(store: &Store, beginning: &str) -> Result<Operation, EngineError> {
    let mut matching = store.beginning_with(&beginning.to_uppercase())?;
    match matching.len() {
        1 => Ok(matching.remove(0)),
        0 => Err(not_found(Some(beginning), "no id begins with these letters")),
        count => Err(not_found(
            Some(beginning),
            &format!("{count} ids begin with these letters: give more of them"),
        )),
    }
}

/// The operation to go on with: the one named, else the one that was stopped, else the latest if it failed.
pub(super) fn resumable(store: &Store, named: Option<&str>) -> Result<Operation, EngineError> {
    let found = match named {
        Some(name) => find(store, name)?,
        None => {
            let latest = store
                .history(1)?
                .into_iter()
                .find(|operation| operation.outcome == Outcome::Failed);
            store
                .unfinished()?
                .into_iter()
                .next()
                .or(latest)
                .ok_or_else(|| not_found(None, "no operation is unfinished"))?
        }
    };
    match is_resumable(found.outcome) {
        true => Ok(found),
        false => Err(not_found(named, &format!("it is {}", found.outcome.shown()))),
    }
}

/// The newest operation that is done, takes none back, and was not taken back.
pub fn newest_to_undo(store: &Store) -> Result<Operation, EngineError> {
    let nothing = || {
        EngineError::new(
            Layer::Estate,
            ErrorKind::NotFound,
            "operation to undo",
            "every finished operation is rolled back",
        )
        .with_hint("`eos history` shows the operations; `eos rollback OPERATION` rolls back any of them")
    };
    store.newest_to_undo()?.ok_or_else(nothing)
}

/// The steps of an operation that ended.
pub(super) fn ended(store: &Store, operation: &str) -> Result<BTreeSet<String>, EngineError> {
    let entries = store.journal(operation)?.into_iter();
    let ends = entries.filter(|entry| entry.event == Event::End);
    Ok(ends.map(|entry| entry.step).collect())
}

pub(super) fn plan_of(operation: &Operation) -> Result<Plan, EngineError> {
    read_plan(&operation.id, operation.plan.clone())
}

pub(super) fn read_plan(operation: &str, plan: serde_json::Value) -> Result<Plan, EngineError> {
    earlier::read(plan).map_err(|why| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            format!("plan of operation {operation}"),
            why,
        )
        .with_hint(format!(
            "Another version of Eos made it: continue with that version, or close it: eos rollback {operation} \
             --dismiss REASON"
        ))
    })
}

/// An operation that died must be ended before another begins on the same components: its pillar edit is there, its
/// effects may be. One that is alive holds their locks.
pub(super) fn refuse_unfinished(
    estate: &Estate,
    store: &Store,
    own: &str,
    components: &BTreeSet<Key>,
) -> Result<(), EngineError> {
    for operation in store.unfinished()? {
        if operation.id == own {
            continue;
        }
        let touches = plan_of(&operation)?.locked();
        if touches.is_disjoint(components) || is_alive(estate, &operation) {
            continue;
        }
        let id = &operation.id;
        return Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Conflict,
            format!("operation {id}"),
            format!("it stopped before its end: {}", operation.words),
        )
        .with_hint(format!(
            "Continue it: eos resume {id}; or roll it back: eos rollback {id}"
        )));
    }
    Ok(())
}
