//! What the control minion says before an operation begins: who calls, in which role, and which machine is the home.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eos_core::recipe::Risk;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::home::Recorded;

const CALL: Duration = Duration::from_secs(30);
/// How long what was said beside an observation holds: as long as it takes to begin what nobody is asked to confirm.
const FRESH: Duration = Duration::from_secs(3);

/// What the control minion said of the caller when it was last observed.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Option<(Instant, Value)>>);

impl Heard {
    pub fn keep(&self, caller: Option<&Value>) {
        *self.last() = caller.map(|caller| (Instant::now(), caller.clone()));
    }

    /// Good for one use: the next one asks.
    fn take(&self) -> Option<Value> {
        let (at, caller) = self.last().take()?;
        (at.elapsed() < FRESH).then_some(caller)
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, Value)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an API user may do; each may do what the ones before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Operator,
    Architect,
}

impl Role {
    /// The least role that may ask for a thing of this risk, or approve it.
    pub fn for_risk(risk: Risk) -> Self {
        match risk {
            Risk::Low => Role::User,
            Risk::Medium => Role::Operator,
            Risk::High => Role::Architect,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Operator => "operator",
            Role::Architect => "architect",
        }
    }

    /// As a person writes it in a sentence.
    pub fn with_article(self) -> &'static str {
        match self {
            Role::User => "a user",
            Role::Operator => "an operator",
            Role::Architect => "an architect",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// Of Salt's API, as Salt's master has authenticated it.
    pub user: String,
    pub role: Role,
    pub home: Option<Recorded>,
}

#[derive(Deserialize)]
struct Info {
    user: Option<String>,
    role: Option<Role>,
    home: Option<Recorded>,
}

pub async fn ask(engines: &Engines) -> Result<Control, EngineError> {
    let minion = &engines.endpoints.control;
    let answer = match engines.heard.take() {
        Some(heard) => heard,
        None => engines.salt.call(minion, "eos.info", json!({}), CALL).await?,
    };
    let object = format!("eos.info of minion {minion}");
    let info: Info = serde_json::from_value(answer)
        .map_err(|error| EngineError::new(Layer::Salt, ErrorKind::Invalid, object, error.to_string()))?;
    let user = info.user.unwrap_or_else(|| engines.endpoints.salt.user.clone());
    let Some(role) = info.role else {
        let words = format!("it has no role on minion {minion}");
        let object = format!("API user {user}");
        return Err(EngineError::new(Layer::Salt, ErrorKind::Refused, object, words)
            .with_hint("An administrator gives it one: `eos: roles:` in the minion's own configuration"));
    };
    Ok(Control {
        user,
        role,
        home: info.home,
    })
}
