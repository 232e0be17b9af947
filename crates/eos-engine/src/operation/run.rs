//! One operation under way.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::emit::terraform::PLATFORM;
use eos_core::kinds::secret::Previous;
use eos_core::plan::{Key, Plan, Step, Work};
use eos_core::scope::Scope;
use secrecy::SecretString;
use serde_json::Value;

use super::commit::COMMIT;
use super::event::Events;
use super::execution::Halt;
use super::fresh::refuse_hand_edits;
use super::locks::{Locks, waiting};
use super::records::refuse_unfinished;
use super::take_back;
use super::{Finished, Site, Stop};
use crate::approval::{self, Needed};
use crate::compiling::{Beforehand, Compiled};
use crate::control::Control;
use crate::diagnose::Witness;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind};
use crate::estate::Estate;
use crate::failure::{Failure, Waiting};
use crate::hosts;
use crate::lock::{self, Lock, Target};
use crate::pins;
use crate::request::Terms;
use crate::secrets::{self, APART, SecretPath, Secrets, given_path};
use crate::store::{Applied, Operation, Outcome, Store};
use crate::waiting::{Spent, Stopwatch};

/// How long others that commit or deliver are waited for to mark what is applied.
const FOR_THE_MARK: Duration = Duration::from_secs(60);

/// What an operation is, whoever carries it out.
pub(super) struct Subject<'a> {
    pub id: String,
    /// Who asked for it, and in which words.
    pub who: &'a str,
    pub words: &'a str,
    pub plan: Plan,
    /// The operation that it takes back.
    pub takes_back: Option<String>,
    /// Held as long as this process is at work on it.
    pub _alive: Lock,
}

pub(super) struct Run<'a> {
    pub(super) estate: &'a Estate,
    pub(super) engines: &'a Engines,
    pub(super) store: RefCell<Store>,
    pub(super) events: Events<'a>,
    pub(super) site: Site<'a>,
    pub(super) terms: Terms,
    pub(super) stop: &'a Stop,
    /// The plan was made before, and is not made again if it was overtaken.
    pub(super) exact: bool,
    pub(super) subject: Subject<'a>,
    /// Who carries it out, as Salt knows them.
    pub(super) caller: Control,
    pub(super) locks: Locks,
    /// What was compiled for the plan before the locks.
    pub(super) beforehand: Option<Beforehand>,
    pub(super) compiled: Option<Compiled>,
    pub(super) stopwatch: Stopwatch,
    /// Whether the plan is the one that takes the operation back.
    pub(super) is_back: bool,
    /// What was seen of the steps while they ran.
    pub(super) witness: Witness,
}

impl<'a> Run<'a> {
    pub fn new(
        site: Site<'a>,
        store: Store,
        subject: Subject<'a>,
        caller: Control,
        events: Events<'a>,
    ) -> Self {
        Run {
            estate: site.estate,
            engines: site.engines,
            store: RefCell::new(store),
            events,
            site,
            terms: site.by.terms,
            stop: site.stop,
            exact: false,
            subject,
            caller,
            locks: Locks::default(),
            beforehand: None,
            compiled: None,
            stopwatch: Stopwatch::start(),
            is_back: false,
            witness: Witness::default(),
        }
    }

    /// A new operation. Until its commit nothing is changed, and what stands in the way ends it without a trace.
    pub async fn start(mut self, secrets: &BTreeMap<String, SecretString>) -> Result<Finished, Failure> {
        match self.prepare(secrets).await {
            Ok(guard) => match self.admit() {
                Ok(()) => Box::pin(self.go(Some(guard))).await,
                // What was given with the command stays where it waits: it is gone on with from there.
                Err(waiting) => self.wait(waiting).await,
            },
            Err(failure) => {
                // The failure is what a person must know; beside it, where a given secret may still lie.
                if !secrets.is_empty()
                    && let Err(error) = self.remove_staged().await
                {
                    let words = format!("The secrets engine may still hold a given secret: {error}");
                    self.events.warn(words);
                }
                self.end(Outcome::TakenBack).await?;
                Err(failure)
            }
        }
    }

    pub(super) async fn prepare(
        &mut self,
        secrets: &BTreeMap<String, SecretString>,
    ) -> Result<Lock, Failure> {
        self.enter().await?;
        let components = self.subject.plan.locked();
        refuse_unfinished(self.estate, &self.store.borrow(), &self.subject.id, &components)?;
        let guard = self.estate_lock().await?;
        if self.exact {
            pins::require(self.estate, self.engines, &self.subject.plan).await?;
        }
        self.refresh().await?;
        refuse_hand_edits(self.estate, self.compilation()).await?;
        self.stage(secrets).await?;
        Ok(guard)
    }

    /// Goes on where the journal ends.
    pub async fn go_on(mut self, operation: &Operation) -> Result<Finished, Failure> {
        if operation.outcome == Outcome::Waiting && operation.back.is_none() {
            self.admit()?;
        }
        self.enter().await?;
        self.resume()?;
        if operation.back.is_some() {
            return self.go_back(operation).await;
        }
        let refreshed = match self.ended()?.contains(COMMIT) {
            true => self.recompile().map(drop),
            false => {
                let guard = self.estate_lock().await?;
                // What was approved is what was shown: it holds as long as nothing has moved.
                let held = match operation.outcome {
                    Outcome::Waiting => pins::require(self.estate, self.engines, &self.subject.plan).await,
                    _ => Ok(()),
                };
                if let Err(failure) = held {
                    self.remove_staged().await?;
                    self.end(Outcome::TakenBack).await?;
                    return Err(failure);
                }
                match self.refresh().await {
                    Ok(()) => {
                        return match self.admit() {
                            Ok(()) => Box::pin(self.go(Some(guard))).await,
                            Err(waiting) => self.wait(waiting).await,
                        };
                    }
                    Err(failure) => Err(failure),
                }
            }
        };
        if let Err(failure) = refreshed {
            // It can never go on, and as long as it counts as unfinished nothing else could begin.
            self.end(Outcome::Failed).await?;
            let apply = "`eos plan` shows the remaining changes, `eos apply` applies them";
            return Err(failure
                .with_hint(apply)
                .or_hint(&take_back::or_dismiss(&self.subject.id)));
        }
        match self.admit() {
            Ok(()) => Box::pin(self.go(None)).await,
            Err(waiting) => self.wait(waiting).await,
        }
    }

    pub(super) fn resume(&self) -> Result<(), EngineError> {
        let by = self.site.actor();
        self.store.borrow_mut().resume_operation(&self.subject.id, by)
    }

    /// What the plan's risk asks for beside the caller's role is there.
    pub(super) fn admit(&self) -> Result<(), Failure> {
        let Subject { id, plan, .. } = &self.subject;
        let Some(needed) = approval::needed(plan, self.caller.role) else {
            return Ok(());
        };
        let store = self.store.borrow();
        if approval::given(&store, id, plan)?.is_some() {
            return Ok(());
        }
        Err(self.waiting_for(needed)?)
    }

    pub(super) fn waiting_for(&self, needed: Needed) -> Result<Failure, EngineError> {
        let operation = self.subject.id.clone();
        let requester = approval::requester(&self.store.borrow(), &operation)?;
        Ok(Failure::Waiting(Box::new(Waiting {
            operation,
            needed,
            requester,
        })))
    }

    /// Ends for now: somebody has to approve it.
    pub(super) async fn wait(mut self, waiting: Failure) -> Result<Finished, Failure> {
        self.end(Outcome::Waiting).await?;
        Err(waiting)
    }

    /// Takes back what the journal says was done.
    pub async fn give_up(mut self, operation: &Operation) -> Result<Finished, Failure> {
        // It waits for its first approval. One that waits for another on its way has changed something.
        if operation.outcome == Outcome::Waiting && self.begun()?.is_empty() {
            let total = self.subject.plan.steps.len();
            self.events.begin(&self.subject.id, total);
            self.remove_staged().await?;
            self.end(Outcome::TakenBack).await?;
            return Ok(self.finished(Vec::new(), Some(Vec::new())));
        }
        self.enter().await?;
        self.resume()?;
        self.go_back(operation).await
    }

    pub(super) async fn enter(&mut self) -> Result<(), EngineError> {
        if let Some(vault) = &self.engines.vault {
            vault.keep_token().await?;
        }
        let are_known = !self.store.borrow().applied(Scope::Estate.prefix())?.is_empty();
        if !are_known {
            let known = hosts::committed_rows(self.estate, &self.subject.id).await?;
            self.store.borrow_mut().set_first_hosts(&known)?;
        }
        let components = self.subject.plan.locked();
        self.lock(components).await
    }

    pub(super) async fn lock(&mut self, components: BTreeSet<Key>) -> Result<(), EngineError> {
        let events = &self.events;
        let mut held = waiting(self.terms, self.stop, |message| events.waiting(message));
        let Subject { id, who, .. } = &self.subject;
        let consul = self.engines.consul.as_ref();
        self.locks
            .take(self.estate, consul, id, who, components, &mut held)
            .await
    }

    /// Held to edit, commit and deliver, and given back at once.
    pub(super) async fn estate_lock(&self) -> Result<Lock, EngineError> {
        let mut held = waiting(self.terms, self.stop, |message| self.events.waiting(message));
        Lock::wait(
            &self.estate.root,
            Target::Estate,
            Some(&self.subject.id),
            &mut held,
        )
        .await
    }

    /// Given secrets wait in the person's own place of the secrets engine, so that an operation killed on the way still
    /// has them.
    pub(super) async fn stage(&self, secrets: &BTreeMap<String, SecretString>) -> Result<(), EngineError> {
        let Subject { id, plan, .. } = &self.subject;
        let named = plan
            .intent
            .as_ref()
            .and_then(|intent| intent.sentence.component());
        let Some(component) = named.filter(|_| !secrets.is_empty()) else {
            return Ok(());
        };
        let user = &self.engines.endpoints.salt.user;
        let path = given_path(user, id, &plan.environment, component);
        let at = SecretPath {
            namespace: APART,
            path: &path,
        };
        self.engines.secrets().set_items(at, secrets).await.map(drop)
    }

    pub(super) async fn go(mut self, guard: Option<Lock>) -> Result<Finished, Failure> {
        let total = self.subject.plan.steps.len();
        self.events.begin(&self.subject.id, total);
        if !self.ended()?.contains(COMMIT) {
            let committed = self.commit(COMMIT).await;
            drop(guard);
            if let Err(error) = committed {
                return Box::pin(self.failed(0, "commit", None, error)).await;
            }
        }
        self.record_unfinished()?;
        match Box::pin(self.steps()).await {
            Ok(_) => {}
            Err(Halt::Failed { number, step, error }) => {
                let title = step.work.title();
                return Box::pin(self.failed(number, title, Some(&step), error)).await;
            }
            Err(Halt::Stopped { done }) => return self.stopped(done).await,
        }
        match self.finish().await {
            Ok(outputs) => {
                self.end(Outcome::Done).await?;
                Ok(self.finished(outputs, None))
            }
            Err(error) => Box::pin(self.failed(total, "record", None, error)).await,
        }
    }

    pub(super) fn finished(
        &self,
        outputs: Vec<(String, String)>,
        taken_back: Option<Vec<String>>,
    ) -> Finished {
        let Spent { took, waited } = self.stopwatch.read();
        Finished {
            operation: self.subject.id.clone(),
            plan: self.subject.plan.clone(),
            outputs,
            took,
            waited,
            taken_back,
        }
    }

    pub(super) async fn stopped(mut self, done: usize) -> Result<Finished, Failure> {
        let stopped = self.stop_of(done);
        self.end(Outcome::Interrupted).await?;
        Err(Failure::Stopped(stopped))
    }

    pub(super) fn stop_of(&self, done: usize) -> crate::failure::Stopped {
        crate::failure::Stopped {
            operation: self.subject.id.clone(),
            done,
            total: self.subject.plan.steps.len(),
            is_back: self.is_back,
        }
    }

    /// Nobody else begins with its components before its end is written.
    pub(super) async fn end(&mut self, outcome: Outcome) -> Result<(), EngineError> {
        let ended = self.write_end(outcome).await;
        for error in self.locks.release().await {
            self.events.warn(format!("Eos did not release the lock: {error}"));
        }
        ended
    }

    async fn write_end(&self, outcome: Outcome) -> Result<(), EngineError> {
        let by = self.site.actor();
        let id = &self.subject.id;
        self.store.borrow_mut().add_spent(id, self.stopwatch.read())?;
        // At the very end: as long as it could be taken back, what it overwrote is kept.
        if outcome == Outcome::Done || (outcome == Outcome::TakenBack && self.is_back) {
            self.remove_staged().await?;
        }
        self.store.borrow_mut().end_operation(id, outcome, by)
    }

    /// A component that is new is known from here on, so that what a failed operation leaves of it can be deleted.
    pub(super) fn record_unfinished(&mut self) -> Result<(), EngineError> {
        for step in &self.subject.plan.steps {
            if !matches!(step.work, Work::Make(_)) {
                continue;
            }
            let key = step.key();
            let known = self.store.borrow().applied(&key.0)?;
            if known.iter().all(|one| one.component != key.1) {
                self.record(key, String::new())?;
            }
        }
        Ok(())
    }

    fn forget(&self, key: &Key) -> Result<(), EngineError> {
        self.store.borrow_mut().clear_applied(&key.0, &key.1)
    }

    pub(super) fn record(&self, key: Key, digest: String) -> Result<(), EngineError> {
        let nodes = to_json(&self.compilation().nodes(&key));
        self.store.borrow_mut().set_applied(&Applied {
            environment: key.0,
            component: key.1,
            digest,
            nodes,
            operation: self.subject.id.clone(),
        })
    }

    /// What was applied is written down, and what the components offer is asked for.
    pub(super) async fn finish(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        let plan = &self.subject.plan;
        for key in plan.touched() {
            match self.compilation().digest(&key) {
                Some(digest) => self.record(key, digest)?,
                None => self.forget(&key)?,
            }
        }
        let mut outputs = Vec::new();
        for component in plan.components.iter().filter(|component| *component != PLATFORM) {
            let compilation = self.compilation();
            outputs.extend(super::outputs(self.engines, compilation, &plan.environment, component).await?);
        }
        self.advance().await?;
        Ok(outputs)
    }

    /// The environment is applied up to here, unless another operation is on its way in it. Others commit under the lock
    /// of the estate: what is HEAD while it is held is of those that have begun.
    pub(super) async fn advance(&self) -> Result<(), EngineError> {
        let Subject { id, plan, .. } = &self.subject;
        // Whoever does not get it leaves that to the next: the operation is done all the same.
        let mut patience = lock::patience(FOR_THE_MARK);
        let taken = Lock::wait(&self.estate.root, Target::Estate, Some(id), &mut patience).await;
        let _guard = match taken {
            Err(error) if error.kind == ErrorKind::Conflict => return Ok(()),
            taken => taken?,
        };
        let unfinished = self.store.borrow().unfinished()?;
        let is_alone = unfinished
            .iter()
            .all(|other| other.id == *id || other.environment != plan.environment);
        // A host belongs to no environment: none is further than it was.
        if !is_alone || plan.is_of_hosts() {
            return Ok(());
        }
        let repository = self.estate.repository();
        match repository.head().await? {
            Some(head) => repository.set_applied(&plan.environment, &head).await,
            None => Ok(()),
        }
    }

    /// Removes the secrets that were given with it, and those that it kept for its way back, if there can be any.
    pub(super) async fn remove_staged(&self) -> Result<(), EngineError> {
        let Subject { id, plan, .. } = &self.subject;
        let is_given = |step: &Step| step.work.writes().iter().any(|item| item.given);
        let is_kept = |detail: &Value| matches!(take_back::previous_in(detail), Some(Previous::Kept(_)));
        // The plan of the way back does not say what was given.
        let can_be = self.is_back || plan.steps.iter().any(is_given) || self.begun()?.values().any(is_kept);
        if !can_be {
            return Ok(());
        }
        for path in secrets::forget(self.engines, id).await? {
            let words = format!("{path} of the secrets engine stays: only an operator may remove it");
            self.events.warn(words);
        }
        Ok(())
    }
}

pub(super) fn to_json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("plans, nodes and failures have a JSON form")
}
