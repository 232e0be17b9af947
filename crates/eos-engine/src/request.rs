//! A request: what somebody wants of an estate, in which words and on which terms. Every front end makes one, be it a
//! command line, a form or another program, and the engine plans and applies it.

use std::collections::BTreeMap;

use eos_core::plan::Plan;
use secrecy::SecretString;

use crate::engines::Engines;
use crate::estate::Estate;
use crate::failure::Failure;
use crate::planning::{Planned, Wish};
use crate::preview::{Joint, confirmed_plan, joint_plan, unconfirmed_plan};

/// Who asks, in which words, and how it is to go.
#[derive(Clone, Debug, Default)]
pub struct Requester {
    /// A person, for the record. Salt knows the user of its API by itself.
    pub who: String,
    /// For the record; secrets in them are `***`.
    pub words: String,
    pub terms: Terms,
}

/// How a person wants an operation to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Nobody confirms the plan.
    pub yes: bool,
    /// Leave all as it is where a step fails, for a look.
    pub keep: bool,
    /// Refuse at once where another is at work on the same components.
    pub no_wait: bool,
}

/// What somebody wants.
pub struct Request {
    pub by: Requester,
    wish: Wish,
    /// Values given with it: they go to the secrets engine and nowhere else.
    secrets: BTreeMap<String, SecretString>,
}

impl Request {
    pub fn new(by: Requester, wish: Wish) -> Self {
        Self {
            by,
            wish,
            secrets: BTreeMap::new(),
        }
    }

    /// With values of secret options. The plan knows their names alone.
    pub fn with_secrets(mut self, secrets: BTreeMap<String, SecretString>) -> Self {
        self.wish.given = secrets.keys().cloned().collect();
        self.secrets = secrets;
        self
    }

    pub fn secrets(&self) -> &BTreeMap<String, SecretString> {
        &self.secrets
    }

    /// The operation that it rolls back, as another operation.
    pub(crate) fn takes_back(&self) -> Option<&str> {
        self.wish.take_back.as_ref()?.operation.as_deref()
    }

    /// The plan to be confirmed, against all engines. Where nobody confirms it, the engines are only asked what they refuse:
    /// they do the rest next.
    pub async fn plan(&self, estate: &Estate, engines: Option<&Engines>) -> Result<Planned, Failure> {
        match (engines, self.by.terms.yes) {
            (Some(engines), true) => unconfirmed_plan(estate, engines, &self.wish).await,
            (Some(_), false) | (None, _) => joint_plan(estate, engines, &self.wish).await?.observed(),
        }
    }

    /// A plan that was made and confirmed before, with what the engines refuse of it by now.
    pub async fn again(&self, estate: &Estate, engines: &Engines, plan: Plan) -> Result<Planned, Failure> {
        confirmed_plan(estate, engines, &self.wish, plan).await
    }

    /// The plan to look at, as far as the engines answer.
    pub async fn look(&self, estate: &Estate, engines: Option<&Engines>) -> Result<Joint, Failure> {
        joint_plan(estate, engines, &self.wish).await
    }
}
