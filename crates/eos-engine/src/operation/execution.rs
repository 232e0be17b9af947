//! The steps of an operation, each begun as soon as those it waits for have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use eos_core::kinds::secret::{How, Moved, Previous};
use eos_core::plan::{Step, Work};
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};

use super::event::{Event, StepOf};
use super::fresh::serves;
use super::records;
use super::run::{Run, to_json};
use super::take_back;
use crate::error::EngineError;
use crate::estate::pillar_digest;
use crate::failure::Failure;
use crate::secrets::{APART, SecretPath, Secrets, kept_path};
use crate::steps::{self, Verified};

/// How many steps go on at the same time: more wait than work, since engines mostly wait for health.
const AT_ONCE: usize = 8;

/// Why the steps came to no end.
pub(super) enum Halt {
    Failed {
        number: usize,
        step: Box<Step>,
        error: EngineError,
    },
    /// A person wanted it; all that had begun has ended.
    Stopped { done: usize },
}

impl Run<'_> {
    /// Carries out the steps that did not end before, each as soon as those it waits for have ended. Gives the effects.
    pub(super) async fn steps(&mut self) -> Result<Vec<String>, Halt> {
        let plan = self.subject.plan.clone();
        let halt = |error| Halt::Failed {
            number: 0,
            step: Box::new(plan.steps[0].clone()),
            error,
        };
        if plan.steps.is_empty() {
            return Ok(Vec::new());
        }
        let mut ended = self.ended().map_err(halt)?;
        let begun = self.begun().map_err(halt)?;
        let mut open: Vec<(usize, &Step)> = (1..)
            .zip(&plan.steps)
            .filter(|(_, step)| !ended.contains(&step.id))
            .collect();
        let mut effects = Vec::new();
        let mut halt: Option<Halt> = None;
        let this = &*self;
        let mut running = FuturesUnordered::new();
        loop {
            let is_stopped = halt.is_some() || this.stop.is_wanted();
            while !is_stopped && running.len() < AT_ONCE {
                let is_ready = |(_, step): &(usize, &Step)| step.after.iter().all(|id| ended.contains(id));
                let Some(at) = open.iter().position(is_ready) else {
                    break;
                };
                let (number, step) = open.remove(at);
                running.push(this.step(number, step, begun.get(&step.id)));
            }
            let next = tokio::select! {
                next = running.next() => next,
                () = this.stop.wanted() => {
                    let words = "Finishing the steps in progress, then stopping; press Ctrl-C again to stop \
                        now";
                    this.events.waiting(words);
                    continue;
                }
            };
            let Some((number, step, performed)) = next else {
                break;
            };
            match performed {
                Ok(effect) => {
                    ended.insert(step.id.clone());
                    effects.push(effect);
                }
                // The first failure is the one to tell of; what goes on beside it comes to its own end.
                Err(error) => {
                    let step = Box::new(step.clone());
                    halt.get_or_insert(Halt::Failed { number, step, error });
                }
            }
        }
        let done = plan.steps.len() - open.len();
        match halt {
            Some(halt) => Err(halt),
            None if open.is_empty() => Ok(effects),
            None => Err(Halt::Stopped { done }),
        }
    }

    pub(super) async fn step<'s>(
        &self,
        number: usize,
        step: &'s Step,
        begun: Option<&Value>,
    ) -> (usize, &'s Step, Result<String, EngineError>) {
        self.events.send(Event::Step(StepOf::new(number, step)));
        let started = Instant::now();
        let performed = self.perform(number, step, begun).await;
        if let Ok(effect) = &performed {
            self.events.send(Event::Done {
                of: StepOf::new(number, step),
                effect: effect.clone(),
                took: started.elapsed(),
            });
        }
        (number, step, performed)
    }

    pub(super) async fn perform(
        &self,
        number: usize,
        step: &Step,
        begun: Option<&Value>,
    ) -> Result<String, EngineError> {
        self.locks.still_held().await?;
        let id = &self.subject.id;
        let mut detail = json!({"title": step.work.title()});
        let previous = self.previous(step, begun).await?;
        if let Some(previous) = &previous {
            detail["previous"] = to_json(previous);
        }
        self.store.borrow_mut().begin_step(id, &step.id, &detail)?;
        let mut progress = |message: &str| self.events.progress(number, message);
        let verified = match &step.work {
            Work::Deliver => self.deliver().await?,
            Work::Make(_) | Work::Unmake(_) | Work::Act(_) | Work::Prove(_) | Work::Secret(_) => {
                let context = steps::Context {
                    engines: self.engines,
                    compilation: self.compilation(),
                    operation: id,
                };
                let mut seen = |message: &str| self.events.progress(number, message);
                // On the heap: without optimisation the work of all kinds of steps fills the stack.
                let work = Box::pin(steps::perform(&context, step, &mut progress));
                self.witness.during(self.engines, step, &mut seen, work).await?
            }
        };
        let (words, seen) = verified.into_parts();
        let detail = json!({"effect": words, "seen": seen});
        self.store.borrow_mut().end_step(id, &step.id, &detail)?;
        Ok(words)
    }

    /// What a step finds in the secrets engine before it writes there; of a step that began before, what it found then. The
    /// control minion keeps a copy of what the engine itself does not keep.
    pub(super) async fn previous(
        &self,
        step: &Step,
        begun: Option<&Value>,
    ) -> Result<Option<Previous>, EngineError> {
        let Work::Secret(Moved { path, how, .. }) = &step.work else {
            return Ok(None);
        };
        if let Some(known) = begun.and_then(take_back::previous_in) {
            return Ok(Some(known));
        }
        let secrets = self.engines.secrets();
        let at = |namespace, path| SecretPath { namespace, path };
        let there = secrets.version(at(&step.environment, path)).await?;
        if secrets.keeps_versions() && !matches!(how, How::Remove {}) {
            return Ok(Some(there.map_or(Previous::Nothing, Previous::Version)));
        }
        let kept = kept_path(&self.subject.id, &step.environment, &step.component);
        let is_there = there.is_some() || secrets.version(at(APART, &kept)).await?.is_some();
        Ok(Some(match is_there {
            true => Previous::Kept(kept),
            false => Previous::Nothing,
        }))
    }

    /// What the pillar compiles to by now, which another operation may have added to, becomes what Salt serves.
    pub(super) async fn deliver(&self) -> Result<Verified, EngineError> {
        let _guard = self.estate_lock().await?;
        let plan = &self.subject.plan;
        let from = pillar_digest(&self.estate.pillar_files()?);
        if self.compiled.as_ref().is_some_and(|known| known.from == from) {
            return steps::deliver(self.engines, self.compilation(), &self.subject.id, &plan.steps).await;
        }
        let newer = self.estate.compile().map_err(Failure::into_engine_error)?;
        serves(plan, &newer)?;
        steps::deliver(self.engines, &newer, &self.subject.id, &plan.steps).await
    }

    pub(super) fn begun(&self) -> Result<BTreeMap<String, Value>, EngineError> {
        self.store.borrow().beginnings(&self.subject.id)
    }

    pub(super) fn ended(&self) -> Result<BTreeSet<String>, EngineError> {
        records::ended(&self.store.borrow(), &self.subject.id)
    }
}
