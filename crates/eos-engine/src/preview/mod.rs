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

use self::ground::Unknown;
use self::questions::Heard;
use crate::engines::Engines;
use crate::error::{EngineError, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::plan_delivery::remove_abandoned;
use crate::planning::{Planned, Prepared, Wish};

/// A plan with what the engines say of it.
pub struct Joint {
    pub planned: Planned,
    /// The engine that would not say what it has: the plan is then made against what was last applied, and says of the
    /// others only what they answered.
    pub silent: Option<EngineError>,
}

impl Joint {
    /// The plan, if it was made against what all engines have.
    pub fn observed(self) -> Result<Planned, Failure> {
        match self.silent {
            None => Ok(self.planned),
            Some(error) => Err(error.into()),
        }
    }
}

/// The joint plan for a wish.
pub async fn joint_plan(estate: &Estate, engines: Option<&Engines>, wish: &Wish) -> Result<Joint, Failure> {
    let prepared = Prepared::new(estate, wish).await?;
    let mut guess = prepared.plan(None);
    let Some(engines) = engines else {
        guess.unasked.push(unasked("there are none"));
        return Ok(Joint {
            planned: prepared.planned(guess),
            silent: None,
        });
    };
    remove_abandoned(&engines.endpoints.delivery);
    let (planned, heard) = plan_and_ask(estate, engines, &prepared, &guess).await;
    let mut plan = match planned {
        Ok(plan) => plan,
        Err(Failure::Engine(error)) if !matches!(error.layer, Layer::Estate | Layer::Git) => {
            match heard.filter(|_| error.layer != Layer::Salt) {
                Some(heard) => heard.tell(&mut guess, &prepared),
                None => guess.unasked.push(Unasked {
                    engine: questions::engine(error.layer),
                    ..unasked(&error.to_string())
                }),
            }
            return Ok(Joint {
                planned: prepared.planned(guess),
                silent: Some(error),
            });
        }
        Err(failure) => return Err(failure),
    };
    let heard = match heard {
        Some(heard) if plan.steps == guess.steps => heard,
        known => hear(engines, &prepared, &plan, known.unwrap_or_default()).await,
    };
    heard.tell(&mut plan, &prepared);
    Ok(Joint {
        planned: prepared.planned(plan),
        silent: None,
    })
}

/// Marks a plan that is carried out without a question: nobody would read what the engines say of it.
pub fn without_preview(plan: &mut Plan) {
    plan.unasked
        .push(unasked("Eos applies the plan without confirmation"));
}

fn unasked(why: &str) -> Unasked {
    Unasked {
        engine: Engine::Engines,
        object: "all steps".to_owned(),
        why: why.to_owned(),
    }
}

/// Both at the same time, but nobody waits for answers to a plan that there will not be.
async fn plan_and_ask(
    estate: &Estate,
    engines: &Engines,
    prepared: &Prepared<'_>,
    guess: &Plan,
) -> (Result<Plan, Failure>, Option<Heard>) {
    let mut planning = pin!(async {
        let answers = prepared.ask(engines).await?;
        prepared.settle(estate, engines, &answers).await
    });
    let mut asking = pin!(hear(engines, prepared, guess, Heard::default()));
    // What is refused is refused whatever the engines would say, and a Salt that does not answer answers nothing else.
    let is_end = |failure: &Failure| match failure {
        Failure::Engine(error) => error.layer == Layer::Salt,
        _ => true,
    };
    tokio::select! {
        planned = &mut planning => match planned {
            Err(failure) if is_end(&failure) => (Err(failure), None),
            planned => (planned, Some(asking.await)),
        },
        heard = &mut asking => (planning.await, Some(heard)),
    }
}

/// Asks about all steps of a plan that were not asked about yet.
async fn hear(engines: &Engines, prepared: &Prepared<'_>, plan: &Plan, known: Heard) -> Heard {
    if plan.steps.is_empty() {
        return known;
    }
    let unknown = Unknown::of(engines, prepared, plan).await;
    let (jobs, answers) = tokio::join!(
        ground::jobs(engines, plan),
        questions::ask(engines, prepared, plan, &unknown, known.answers),
    );
    Heard {
        unknown,
        jobs,
        answers,
    }
}
