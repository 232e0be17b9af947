//! What becomes of an operation when a step fails, and how it goes back.

use eos_core::kinds::secret::How;
use eos_core::plan::{Step, Work};

use super::Finished;
use super::event::Event;
use super::execution::Halt;
use super::fresh::{serves, stale};
use super::records::read_plan;
use super::run::{Run, Subject, to_json};
use super::take_back::{self, Turned};
use crate::approval::{self, Needed};
use crate::diagnose::{Failed, diagnose};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::failure::{Aftermath, Failure, StepFailure};
use crate::lock::Patience;
use crate::planning::Planned;
use crate::steps;
use crate::store::{Operation, Outcome};

impl Run<'_> {
    /// A step failed. What was done before it is taken back, unless there is a reason not to.
    pub(super) async fn failed(
        mut self,
        number: usize,
        title: &str,
        step: Option<&Step>,
        error: EngineError,
    ) -> Result<Finished, Failure> {
        // The approval ended on the way, or was for another plan: it goes on once there is a new one.
        if approval::is_missing(&error) {
            let waiting = self.waiting_for(Needed::by_salt(&self.subject.plan, &error))?;
            return self.wait(waiting).await;
        }
        let total = self.subject.plan.steps.len();
        // Before anything is taken back: what is gone cannot be read.
        let diagnosis = match step {
            Some(step) => {
                let failed = Failed {
                    operation: &self.subject.id,
                    step,
                    error: &error,
                    witness: &self.witness,
                };
                Some(diagnose(self.engines, failed).await)
            }
            None => None,
        };
        let mut failure = StepFailure {
            operation: self.subject.id.clone(),
            number,
            total,
            title: title.to_owned(),
            error,
            diagnosis,
            aftermath: Aftermath::default(),
        };
        self.store
            .borrow_mut()
            .record_failure(&self.subject.id, &to_json(&failure))?;
        failure.aftermath = match self.why_it_stands(&failure.error)? {
            Some(why) => {
                self.end(Outcome::Failed).await?;
                Aftermath::Stands { why }
            }
            None => match self.turn_back(title).await {
                Ok(effects) => Aftermath::TakenBack { effects },
                Err(second) => {
                    let why = match &second {
                        Failure::Waiting(waiting) => format!(
                            "the rollback waits: {second}; first of all: eos approve {} --as USER",
                            waiting.operation
                        ),
                        _ => format!("the rollback failed as well: {second}"),
                    };
                    let outcome = match second {
                        Failure::Waiting(_) => Outcome::Waiting,
                        Failure::Stopped(_) => Outcome::Interrupted,
                        _ => Outcome::Failed,
                    };
                    self.end(outcome).await?;
                    Aftermath::Stands { why }
                }
            },
        };
        Err(Failure::Step(Box::new(failure)))
    }

    /// Why a failed operation is not taken back by itself.
    pub(super) fn why_it_stands(&self, error: &EngineError) -> Result<Option<String>, EngineError> {
        if self.terms.keep {
            return Ok(Some("--keep leaves it for inspection".to_owned()));
        }
        if self.stop.is_wanted() {
            return Ok(Some("you stopped it".to_owned()));
        }
        let is_silent = error.kind == ErrorKind::Unreachable
            || (error.kind == ErrorKind::Timeout && error.layer == Layer::Salt);
        if is_silent {
            return Ok(Some(format!(
                "Eos cannot roll back while {} does not answer",
                error.layer.name()
            )));
        }
        if error.layer == Layer::Consul && error.kind == ErrorKind::Conflict {
            return Ok(Some(
                "another operation may be changing the same components".to_owned(),
            ));
        }
        let begun = self.begun()?;
        let is_past = |step: &&Step| step.work.is_final() && begun.contains_key(&step.id);
        let past = self.subject.plan.steps.iter().find(is_past);
        Ok(past.map(|step| format!("step {} began and cannot be rolled back", step.work.title())))
    }

    pub(super) async fn turn_back(&mut self, title: &str) -> Result<Vec<String>, Failure> {
        let turned = self.plan_back().await?;
        let why = format!("{title} failed: rolling back");
        self.go_by(turned, &why).await
    }

    pub(super) async fn go_back(mut self, operation: &Operation) -> Result<Finished, Failure> {
        let total = self.subject.plan.steps.len();
        self.events.begin(&self.subject.id, total);
        let gone = match self.way_back(operation).await {
            Ok(turned) => self.go_by(turned, "rolling back").await,
            Err(failure) => Err(failure),
        };
        match gone {
            Ok(effects) => Ok(self.finished(Vec::new(), Some(effects))),
            Err(Failure::Step(failure)) => {
                self.store
                    .borrow_mut()
                    .record_failure(&self.subject.id, &to_json(&failure))?;
                self.end(Outcome::Failed).await?;
                Err(Failure::Step(failure))
            }
            Err(Failure::Stopped(stopped)) => {
                self.end(Outcome::Interrupted).await?;
                Err(Failure::Stopped(stopped))
            }
            Err(waiting @ Failure::Waiting(_)) => self.wait(waiting).await,
            // It was not gone on with, and stands as it stood.
            Err(other) => {
                let outcome = match operation.outcome {
                    Outcome::Running => Outcome::Interrupted,
                    outcome => outcome,
                };
                self.end(outcome).await?;
                Err(take_back::with_way_out(other, &operation.id))
            }
        }
    }

    /// The plan of a way back that is under way, as long as it serves; else a new one.
    async fn way_back(&mut self, operation: &Operation) -> Result<Turned, Failure> {
        // Until its commit nothing of the way back was done, and others may have edited the pillar: it is planned anew.
        let ended = self.ended()?;
        let known = operation.back.as_ref();
        let Some(known) = known.filter(|_| ended.contains(take_back::COMMIT)) else {
            return self.plan_back().await;
        };
        let plan = read_plan(&operation.id, known.clone())?;
        // Its edit is gone from the pillar. Where others changed the same components since, theirs is what stays. A secret
        // that it has not put back yet is not known to be anybody else's.
        let restores =
            |step: &&Step| matches!(&step.work, Work::Secret(moved) if !matches!(moved.how, How::Remove {}));
        let is_restored = plan
            .steps
            .iter()
            .filter(restores)
            .all(|step| ended.contains(&step.id));
        if is_restored && serves(&plan, &self.estate.compile()?).is_err() {
            return self.plan_back().await;
        }
        Ok(Turned {
            planned: Planned::exact(plan),
            guard: None,
        })
    }

    pub(super) async fn plan_back(&mut self) -> Result<Turned, Failure> {
        let begun = self.begun()?;
        for step in self
            .subject
            .plan
            .steps
            .iter()
            .filter(|step| begun.contains_key(&step.id))
        {
            let compilation = self.compiled.as_ref().map(|compiled| &compiled.compilation);
            steps::settle(self.engines, compilation, &self.subject.id, step).await?;
        }
        let guard = self.estate_lock().await?;
        let operation = self.store.borrow().operation(&self.subject.id)?;
        let Some(operation) = operation else {
            return Err(stale("its operation is not in the store").with_hint("`eos history` shows them all"));
        };
        let planned = match self.ended()?.contains(take_back::COMMIT) {
            false => take_back::plan_unfinished(self.estate, self.engines, &operation, &begun).await?,
            true => take_back::plan_undone(self.estate, self.engines, &operation, &begun).await?,
        };
        self.store
            .borrow_mut()
            .begin_back(&self.subject.id, &to_json(&planned.plan), self.site.actor())?;
        Ok(Turned {
            planned,
            guard: Some(guard),
        })
    }

    /// Carries out the plan that takes the operation back; gives the effects of its steps.
    pub(super) async fn go_by(&mut self, turned: Turned, why: &str) -> Result<Vec<String>, Failure> {
        let Turned { planned, guard } = turned;
        self.is_back = true;
        self.subject.plan = planned.plan;
        self.beforehand = planned.beforehand;
        self.compiled = None;
        self.admit()?;
        // Who holds the estate's lock waits for nobody who may want it.
        let held = &mut |_: &EngineError| match guard {
            Some(_) => Patience::Over,
            None => Patience::Left,
        };
        let Subject { id, who, plan, .. } = &self.subject;
        let consul = self.engines.consul.as_ref();
        let components = plan.locked();
        self.locks
            .take(self.estate, consul, id, who, components, held)
            .await?;
        self.events.send(Event::TurnBack {
            why: why.to_owned(),
            steps: self.subject.plan.steps.len(),
        });
        if self.ended()?.contains(take_back::COMMIT) {
            self.recompile()?;
        } else {
            self.refresh().await?;
            self.commit(take_back::COMMIT).await?;
        }
        drop(guard);
        let effects = match self.steps().await {
            Ok(effects) => effects,
            Err(Halt::Stopped { done }) => return Err(Failure::Stopped(self.stop_of(done))),
            Err(Halt::Failed { error, .. }) if approval::is_missing(&error) => {
                return Err(self.waiting_for(Needed::by_salt(&self.subject.plan, &error))?);
            }
            Err(Halt::Failed { number, step, error }) => {
                return Err(Failure::Step(Box::new(StepFailure {
                    operation: self.subject.id.clone(),
                    number,
                    total: self.subject.plan.steps.len(),
                    title: step.work.title().to_owned(),
                    error,
                    diagnosis: None,
                    aftermath: Aftermath::Stands {
                        why: "it is being rolled back".to_owned(),
                    },
                })));
            }
        };
        self.finish().await?;
        // What was never begun has no step that takes it back, and is known no more all the same.
        self.store.borrow_mut().forget_unfinished(&self.subject.id)?;
        self.end(Outcome::TakenBack).await?;
        Ok(effects)
    }
}
