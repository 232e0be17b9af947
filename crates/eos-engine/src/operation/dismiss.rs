//! The end of an operation that nobody continues and nobody rolls back: a person closes it as it stands, and says why.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::plan::earlier;
use serde::Serialize;
use serde_json::Value;

use super::commit::COMMIT;
use super::records::ended;
use super::{is_resumable, take_back};
use crate::audit::Actor;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::home;
use crate::lock::{Lock, Target};
use crate::secrets;
use crate::store::Operation;

/// An operation that was dismissed, and what of it is still there.
#[derive(Debug, Clone, Serialize)]
pub struct Dismissed {
    pub operation: String,
    pub environment: String,
    pub reason: String,
    /// In words, one thing each.
    pub stays: Vec<String>,
}

/// Closes an operation that did not come to its end. Changes nothing but its record, and removes the secrets that it kept
/// for its way back. It needs no plan: that of another version of Eos cannot be read.
pub async fn dismiss(
    estate: &Estate,
    engines: &Engines,
    operation: &Operation,
    reason: &str,
    by: Actor<'_>,
) -> Result<Dismissed, EngineError> {
    let id = &operation.id;
    let refused = |words: &str, hint: &str| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            format!("dismissal of operation {id}"),
            words,
        )
        .with_hint(hint)
    };
    if !is_resumable(operation.outcome) {
        let words = format!("it is {}", operation.outcome.shown());
        return Err(refused(&words, "`eos history` shows the operations"));
    }
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(refused(
            "the reason is empty",
            "Say why, for the readers of the audit",
        ));
    }
    let _alive = Lock::try_acquire(&estate.root, Target::Operation(id), Some(id))
        .map_err(|error| error.with_hint("It runs in another process: wait for its end"))?;
    home::require(engines, estate, by).await?;
    let mut store = estate.store()?;
    let begun = store.beginnings(id)?;
    let mut stays = what_stays(operation, &begun, &ended(&store, id)?);
    let left = secrets::forget(engines, id).await?;
    stays.extend(
        left.into_iter()
            .map(|path| format!("{path} of the secrets engine")),
    );
    store.dismiss_operation(id, reason, &stays, by)?;
    Ok(Dismissed {
        operation: id.clone(),
        environment: operation.environment.clone(),
        reason: reason.to_owned(),
        stays,
    })
}

/// What the journal knows that the operation did and did not undo.
fn what_stays(
    operation: &Operation,
    begun: &BTreeMap<String, Value>,
    ended: &BTreeSet<String>,
) -> Vec<String> {
    let read = |plan: &Value| earlier::read(plan.clone()).ok();
    let mut stays = Vec::new();
    if let Some(commit) = &operation.commit_after
        && ended.contains(COMMIT)
        && !ended.contains(take_back::COMMIT)
    {
        let commit = commit.get(..12).unwrap_or(commit);
        stays.push(format!("the pillar as commit {commit} left it"));
    }
    let Some(plan) = read(&operation.plan) else {
        let words = "all that its steps did: another version of Eos made its plan";
        return [stays, vec![words.to_owned()]].concat();
    };
    let back = operation.back.as_ref().and_then(read);
    let is_undone = |component: &str| {
        let steps = back.iter().flat_map(|back| &back.steps);
        let mut steps = steps.filter(|step| step.component == component).peekable();
        steps.peek().is_some() && steps.all(|step| ended.contains(&step.id))
    };
    let begun = plan.steps.iter().filter(|step| begun.contains_key(&step.id));
    let left = begun.filter(|step| step.work.changes() && !is_undone(&step.component));
    stays.extend(left.map(|step| {
        let how_far = match ended.contains(&step.id) {
            true => "done",
            false => "begun",
        };
        let title = step.work.title();
        format!("{title} of {} in {}: {how_far}", step.component, step.environment)
    }));
    stays
}
