//! The joint plan: every engine that would act is asked what its steps would do, all at the same time, and nothing is
//! changed. What they say becomes the effects of the plan.
//!
//! What was last applied is mostly what is there. So the engines are asked about the plan that follows from it while they
//! are still being observed; what the observation adds is asked afterwards.

mod ground;
mod questions;
mod secrets;

use std::pin::pin;

use eos_core::plan::Plan;
use eos_core::plan::effects::{Engine, Unasked};

use self::ground::Ground;
use self::questions::Heard;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::planning::{Answers, Prepared, Wish};

/// A plan with what the engines say of it.
pub struct Joint {
    pub plan: Plan,
    /// The engine that would not say what it has: the plan is then made against what was last applied, and says of the
    /// others only what they answered.
    pub silent: Option<EngineError>,
}

impl Joint {
    /// The plan, if it was made against what all engines have.
    pub fn observed(self) -> Result<Plan, Failure> {
        match self.silent {
            None => Ok(self.plan),
            Some(error) => Err(error.into()),
        }
    }
}

/// The joint plan for a wish.
pub async fn joint_plan(estate: &Estate, engines: Option<&Engines>, wish: Wish) -> Result<Joint, Failure> {
    let prepared = Prepared::new(estate, wish)?;
    let mut guess = prepared.plan(None);
    let Some(engines) = engines else {
        guess.unasked.push(unasked("there are none"));
        return Ok(Joint {
            plan: guess,
            silent: None,
        });
    };
    let (observed, heard) = observe_and_ask(engines, &prepared, &guess).await;
    let observed = match observed {
        Ok(answers) => answers,
        Err(error) if matches!(error.layer, Layer::Estate | Layer::Git) => return Err(error.into()),
        Err(error) => {
            match heard {
                Some(heard) => heard.tell(&mut guess, &prepared),
                None => guess.unasked.push(unasked(&error.words)),
            }
            return Ok(Joint {
                plan: guess,
                silent: Some(error),
            });
        }
    };
    let mut plan = prepared.settle(estate, engines, &observed).await?;
    let heard = match heard {
        Some(heard) if plan.steps == guess.steps => heard,
        known => hear(engines, &prepared, &plan, known.unwrap_or_default()).await,
    };
    heard.tell(&mut plan, &prepared);
    Ok(Joint { plan, silent: None })
}

/// Marks a plan that is carried out without a question: nobody would read what the engines say of it.
pub fn without_preview(plan: &mut Plan) {
    plan.unasked
        .push(unasked("the plan is carried out without being confirmed"));
}

fn unasked(why: &str) -> Unasked {
    Unasked {
        engine: Engine::Engines,
        object: "all steps".to_owned(),
        why: why.to_owned(),
    }
}

/// Both at the same time. Where Salt does not answer the observation, nobody waits for what else it was asked.
async fn observe_and_ask(
    engines: &Engines,
    prepared: &Prepared,
    guess: &Plan,
) -> (Result<Answers, EngineError>, Option<Heard>) {
    let mut observing = pin!(prepared.ask(engines));
    let mut asking = pin!(hear(engines, prepared, guess, Heard::default()));
    let is_silent = |error: &EngineError| error.layer == Layer::Salt && error.kind == ErrorKind::Unreachable;
    tokio::select! {
        observed = &mut observing => match observed {
            Err(error) if is_silent(&error) => (Err(error), None),
            observed => (observed, Some(asking.await)),
        },
        heard = &mut asking => (observing.await, Some(heard)),
    }
}

/// Asks about all steps of a plan that were not asked about yet.
async fn hear(engines: &Engines, prepared: &Prepared, plan: &Plan, known: Heard) -> Heard {
    if plan.steps.is_empty() {
        return known;
    }
    let ground = Ground::of(engines, prepared, plan).await;
    questions::ask(engines, prepared, plan, ground, known).await
}
