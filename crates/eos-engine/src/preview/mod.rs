//! The joint plan: every engine that would act is asked what its steps would do, all at the same time, and nothing is
//! changed. What they say becomes the effects of the plan.
//!
//! What was last applied is mostly what is there. So the engines are asked about the plan that follows from it while they
//! are still being observed; what the observation adds is asked afterwards.

mod ground;
mod questions;
mod secrets;

use std::collections::BTreeMap;
use std::pin::pin;

use eos_core::plan::Plan;
use eos_core::plan::effects::{Engine, Refused, Unasked};

use self::ground::Unknown;
use self::questions::Heard;
use crate::delivery::remove_abandoned;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
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

/// What the engines are asked about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// All that its steps would do: a person reads it.
    Effects,
    /// Only whether Terraform and Nomad refuse it: nobody confirms it, or somebody has already.
    Refusals,
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
    let (planned, heard) = plan_and_ask(estate, engines, &prepared, &guess, Asks::Effects).await;
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
    let heard = heard_of(engines, &prepared, &plan, &guess, heard, Asks::Effects).await;
    heard.tell(&mut plan, &prepared);
    Ok(Joint {
        planned: prepared.planned(plan),
        silent: None,
    })
}

/// The plan for a wish that nobody confirms, with what the engines refuse of it.
pub(crate) async fn unconfirmed_plan(
    estate: &Estate,
    engines: &Engines,
    wish: &Wish,
) -> Result<Planned, Failure> {
    let prepared = Prepared::new(estate, wish).await?;
    // What was there before is put back whatever an engine says of it.
    let mut plan = if prepared.takes_back() {
        prepared.observed_plan(estate, engines).await?
    } else {
        let guess = prepared.plan(None);
        remove_abandoned(&engines.endpoints.delivery);
        let (planned, heard) = plan_and_ask(estate, engines, &prepared, &guess, Asks::Refusals).await;
        let mut plan = planned?;
        let heard = heard_of(engines, &prepared, &plan, &guess, heard, Asks::Refusals).await;
        heard.tell_refusals(&mut plan, &prepared);
        plan
    };
    plan.unasked
        .push(unasked("Eos applies the plan without confirmation"));
    Ok(prepared.planned(plan))
}

/// A plan that somebody confirmed before, with what the engines refuse of it by now. One that was overtaken is not asked
/// about: its operation refuses it.
pub(crate) async fn confirmed_plan(
    estate: &Estate,
    engines: &Engines,
    wish: &Wish,
    mut plan: Plan,
) -> Result<Planned, Failure> {
    match Prepared::new(estate, wish).await {
        Ok(prepared) if prepared.compilation.release == plan.release => {
            remove_abandoned(&engines.endpoints.delivery);
            let heard = hear(engines, &prepared, &plan, Asks::Refusals, Heard::default()).await;
            heard.tell_refusals(&mut plan, &prepared);
        }
        Ok(_) | Err(Failure::Input(_)) => {}
        Err(failure) => return Err(failure),
    }
    Ok(Planned::exact(plan))
}

/// Refuses a plan that an engine refuses.
pub fn accepted(plan: &Plan) -> Result<(), Failure> {
    let refused = plan.refused.iter().map(|refused| {
        let Refused {
            engine,
            object,
            words,
            hint,
        } = refused;
        EngineError::new(questions::layer(*engine), ErrorKind::Refused, object, words).with_hint(hint)
    });
    match refused.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        refused => Err(Failure::Refused(refused)),
    }
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
    asks: Asks,
) -> (Result<Plan, Failure>, Option<Heard>) {
    let mut planning = pin!(prepared.observed_plan(estate, engines));
    let mut asking = pin!(hear(engines, prepared, guess, asks, Heard::default()));
    // What is refused is refused whatever the engines would say, and a Salt that does not answer answers nothing else.
    let is_end = |failure: &Failure| match (failure, asks) {
        (Failure::Engine(error), Asks::Effects) => error.layer == Layer::Salt,
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

/// What was heard of the guess, if that is the plan; else of the plan.
async fn heard_of(
    engines: &Engines,
    prepared: &Prepared<'_>,
    plan: &Plan,
    guess: &Plan,
    heard: Option<Heard>,
    asks: Asks,
) -> Heard {
    match heard {
        Some(heard) if plan.steps == guess.steps => heard,
        known => hear(engines, prepared, plan, asks, known.unwrap_or_default()).await,
    }
}

/// Asks about all steps of a plan that were not asked about yet.
async fn hear(engines: &Engines, prepared: &Prepared<'_>, plan: &Plan, asks: Asks, known: Heard) -> Heard {
    if plan.steps.is_empty() {
        return known;
    }
    let unknown = Unknown::of(engines, prepared, plan, asks).await;
    let jobs = async {
        match asks {
            Asks::Effects => ground::jobs(engines, plan).await,
            Asks::Refusals => Ok(BTreeMap::new()),
        }
    };
    let (jobs, answers) = tokio::join!(
        jobs,
        questions::ask(engines, prepared, plan, &unknown, asks, known.answers),
    );
    Heard {
        unknown,
        jobs,
        answers,
    }
}
