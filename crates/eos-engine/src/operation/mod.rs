//! Operations: a plan carried out step by step, each step durable in the journal before the engine is asked, and
//! done only when its effect was read back. What was killed on the way is resumed or taken back from the journal.
//!
//! | module | owns |
//! |---|---|
//! | `run` | one operation under way, from its beginning to its end |
//! | `fresh` | whether its plan still holds |
//! | `commit` | the pillar edit and what it compiles to, in git |
//! | `event` | the events that others subscribe to |
//! | `execution` | its steps, as they wait for one another |
//! | `way_back` | what becomes of it when a step fails |
//! | `take_back` | what an operation left, and the plan that takes it back |
//! | `dismiss` | the end of one that nobody goes on with and nobody rolls back |
//! | `locks` | the locks of the components it is about, in whichever way the profile has them |
//! | `records` | which operation a person means |

mod commit;
mod dismiss;
mod event;
mod execution;
mod fresh;
mod locks;
mod records;
mod run;
mod standing;
mod take_back;
mod way_back;

use std::cell::Cell;
use std::time::Duration;

use eos_core::compile::Compilation;
use eos_core::plan::Plan;
use tokio::sync::Notify;

use crate::audit::Actor;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::home;
use crate::lock::{Lock, Target};
use crate::planning::Planned;
use crate::preview;
use crate::request::{Request, Requester};
use crate::secrets;
use crate::steps;
use crate::store::{NewOperation, Operation, Outcome, Store};
use run::{Run, Subject, to_json};

use event::Events;

pub use dismiss::{Dismissed, dismiss};
pub use event::{Event, StepOf, Subscriber};
pub use records::{find, newest_to_undo};
pub use standing::{Standing, Standings, is_alive};
pub use take_back::{require_undoable, rollback};

/// How many operations may begin while one waits for an approval. Counted, because no clock says that nobody waits.
const WAITED_FOR: i64 = 50;

/// A person's wish, from outside, that no further step begins.
#[derive(Debug, Default)]
pub struct Stop {
    is_wanted: Cell<bool>,
    changed: Notify,
}

impl Stop {
    pub fn want(&self) {
        self.is_wanted.set(true);
        self.changed.notify_one();
    }

    pub fn is_wanted(&self) -> bool {
        self.is_wanted.get()
    }

    /// Returns once it is wanted, and only to the first who waits.
    async fn wanted(&self) {
        self.changed.notified().await;
    }
}

/// Where an operation is carried out, by whom, and how it is stopped.
#[derive(Clone, Copy)]
struct Site<'a> {
    estate: &'a Estate,
    engines: &'a Engines,
    by: &'a Requester,
    stop: &'a Stop,
}

impl<'a> Site<'a> {
    /// For the audit: who carries an operation out.
    fn actor(self) -> Actor<'a> {
        Actor {
            who: &self.by.who,
            user: &self.engines.endpoints.salt.user,
        }
    }
}

#[derive(Debug)]
pub struct Finished {
    pub operation: String,
    pub plan: Plan,
    /// What the components offer now, such as their address.
    pub outputs: Vec<(String, String)>,
    pub took: Duration,
    /// What of it went into waiting for engines.
    pub waited: Duration,
    /// It was taken back: each step's effect in words.
    pub taken_back: Option<Vec<String>>,
}

/// Carries out the plan of a request.
pub async fn apply<'a>(
    estate: &'a Estate,
    engines: &'a Engines,
    request: &'a Request,
    planned: Planned,
    stop: &'a Stop,
    subscriber: &'a mut Subscriber<'a>,
) -> Result<Finished, Failure> {
    let Planned {
        plan,
        beforehand,
        exact,
    } = planned;
    let site = Site {
        estate,
        engines,
        by: &request.by,
        stop,
    };
    let events = Events::new(subscriber);
    if !plan.observed {
        return Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            "the plan",
            "it was made without the engines",
        )
        .with_hint("Plan again now that they answer")
        .into());
    }
    preview::accepted(&plan)?;
    let by = site.actor();
    let control = home::require(engines, estate, by).await?;
    let mut store = estate.store()?;
    let id = Store::new_operation_id();
    let alive = Lock::try_acquire(&estate.root, Target::Operation(&id), Some(&id))?;
    store.begin_operation(
        &id,
        &NewOperation {
            environment: &plan.environment,
            components: &plan.components,
            words: &request.by.words,
            by,
            plan: &to_json(&plan),
            takes_back: request.takes_back(),
        },
    )?;
    if let Err(error) = end_forgotten(estate, engines, &mut store, &id, by).await {
        events.warn(format!("Eos did not end what waits for approval: {error}"));
    }
    let subject = Subject {
        id,
        who: &request.by.who,
        words: &request.by.words,
        plan,
        takes_back: request.takes_back().map(str::to_owned),
        _alive: alive,
    };
    let mut run = Run::new(site, store, subject, control, events);
    run.beforehand = beforehand;
    run.exact = exact;
    run.start(request.secrets()).await
}

/// Ends operations that waited for their first approval while many others began, and removes the secrets given for them.
async fn end_forgotten(
    estate: &Estate,
    engines: &Engines,
    store: &mut Store,
    newest: &str,
    by: Actor<'_>,
) -> Result<(), EngineError> {
    let newest = store.operation(newest)?.map_or(0, |newest| newest.number);
    for Operation { id, .. } in store.waiting_before(newest - WAITED_FOR)? {
        let Ok(_alive) = Lock::try_acquire(&estate.root, Target::Operation(&id), Some(&id)) else {
            continue;
        };
        // It may have gone on meanwhile; one that waits for another approval on its way has changed something.
        let still = store.operation(&id)?;
        let waits = still.is_some_and(|still| still.outcome == Outcome::Waiting);
        // What this caller's role may not remove is left to another's operation.
        if waits && store.beginnings(&id)?.is_empty() && secrets::forget(engines, &id).await?.is_empty() {
            store.end_operation(&id, Outcome::TakenBack, by)?;
        }
    }
    Ok(())
}

/// Goes on with an operation that was stopped or failed: the one named, else the only one there is. One that is being
/// taken back is taken back to the end.
pub async fn resume<'a>(
    estate: &'a Estate,
    engines: &'a Engines,
    operation: Option<&str>,
    by: &'a Requester,
    stop: &'a Stop,
    subscriber: &'a mut Subscriber<'a>,
) -> Result<Finished, Failure> {
    let store = estate.store()?;
    let operation = records::resumable(&store, operation)?;
    let site = Site {
        estate,
        engines,
        by,
        stop,
    };
    reopen(site, store, &operation, Events::new(subscriber))
        .await?
        .go_on(&operation)
        .await
}

/// Takes back an operation that did not come to its end.
pub async fn take_back<'a>(
    estate: &'a Estate,
    engines: &'a Engines,
    operation: &'a Operation,
    by: &'a Requester,
    stop: &'a Stop,
    subscriber: &'a mut Subscriber<'a>,
) -> Result<Finished, Failure> {
    let store = estate.store()?;
    require_undoable(&store, operation)?;
    let site = Site {
        estate,
        engines,
        by,
        stop,
    };
    reopen(site, store, operation, Events::new(subscriber))
        .await?
        .give_up(operation)
        .await
}

/// The operation as it stands in the journal; nobody else is at work on it.
async fn reopen<'a>(
    site: Site<'a>,
    store: Store,
    operation: &'a Operation,
    events: Events<'a>,
) -> Result<Run<'a>, EngineError> {
    let id = &operation.id;
    let alive = Lock::try_acquire(&site.estate.root, Target::Operation(id), Some(id))
        .map_err(|error| error.with_hint("It runs in another process: wait for its end"))?;
    let control = home::require(site.engines, site.estate, site.actor()).await?;
    let subject = Subject {
        id: id.clone(),
        who: &operation.who,
        words: &operation.words,
        plan: records::plan_of(operation)?,
        takes_back: operation.takes_back.clone(),
        _alive: alive,
    };
    Ok(Run::new(site, store, subject, control, events))
}

/// What a component offers now, rendered with where its service answers.
pub async fn outputs(
    engines: &Engines,
    compilation: &Compilation,
    environment: &str,
    component: &str,
) -> Result<Vec<(String, String)>, EngineError> {
    match compilation.component(environment, component) {
        Some(lowered) => steps::outputs(engines, lowered).await,
        None => Ok(Vec::new()),
    }
}

/// Whether an operation could still be gone on with.
pub fn is_resumable(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Running | Outcome::Failed | Outcome::Interrupted | Outcome::Waiting
    )
}
