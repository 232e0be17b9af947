//! Approvals: which plans need one, who may give it, and giving it. Eos asks for it early; Salt's minions enforce it.
//!
//! An approval is bound to the plan's hash and names the very calls that the plan's steps make. It lies on every minion
//! that one of them is for, ends by itself, and does not serve the user who gave it.

use std::collections::BTreeMap;
use std::time::Duration;

use eos_core::plan::{Plan, earlier};
use eos_core::recipe::Risk;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::{Action, Actor, NewEntry};
use crate::calls::call_of;
use crate::control::{self, Control, Role};
use crate::endpoints::Delivery;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::store::{Operation, Outcome, Store};

const CALL: Duration = Duration::from_secs(30);
/// How the formula begins to say that a call lacks an approval.
const REFUSAL: &str = "needs approval: ";

/// What a plan needs beside the word of who asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Needed {
    pub risk: Risk,
    /// The least role of who may approve it.
    pub role: Role,
}

impl Needed {
    /// Of a plan whose call Salt refused for want of an approval: what is on the minion may be riskier than the plan knew.
    /// The minion says in its words how risky.
    pub fn by_salt(plan: &Plan, refusal: &EngineError) -> Self {
        let said = [Risk::High, Risk::Medium]
            .into_iter()
            .find(|risk| refusal.words.contains(&format!(" is of {} risk ", risk.word())));
        let risk = plan.risk().max(said.unwrap_or(Risk::Medium));
        Needed {
            risk,
            role: Role::for_risk(risk),
        }
    }
}

/// Low risk is for any role, medium risk for operators; high risk is for nobody alone.
pub fn needed(plan: &Plan, role: Role) -> Option<Needed> {
    let risk = plan.risk();
    let least = Role::for_risk(risk);
    let suffices = risk != Risk::High && role >= least;
    (!suffices).then_some(Needed { risk, role: least })
}

/// Whether a minion refused a call because it lacks an approval, or has one no longer.
pub fn is_missing(error: &EngineError) -> bool {
    error.layer == Layer::Salt && error.words.starts_with(REFUSAL)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    pub operation: String,
    /// The hash of the plan.
    pub plan: String,
    /// The API user who gave it.
    pub by: String,
    pub role: Role,
    pub until: Timestamp,
    /// Where it was recorded and read back.
    pub minions: Vec<String>,
}

/// The approval of an operation that still holds, as the audit has it.
pub fn given(store: &Store, operation: &str, plan: &Plan) -> Result<Option<Approval>, EngineError> {
    let (hash, now) = (plan.hash(), Timestamp::now());
    let entries = store.audit_of(operation)?;
    let approvals = entries
        .iter()
        .rev()
        .filter(|entry| entry.action == Action::Approve.words() && entry.outcome == DONE);
    let mut holding = approvals.filter_map(|entry| {
        let detail = serde_json::from_value::<Detail>(entry.detail.clone()).ok()?;
        (detail.plan == hash && detail.until > now).then(|| Approval {
            operation: operation.to_owned(),
            plan: detail.plan,
            by: entry.user.clone(),
            role: detail.role,
            until: detail.until,
            minions: detail.minions,
        })
    });
    Ok(holding.next())
}

const DONE: &str = "done";

/// What the audit keeps of an approval.
#[derive(Serialize, Deserialize)]
struct Detail {
    plan: String,
    role: Role,
    until: Timestamp,
    minions: Vec<String>,
}

/// The API user who asked for an operation.
pub fn requester(store: &Store, operation: &str) -> Result<String, EngineError> {
    let entries = store.audit_of(operation)?;
    let begun = entries
        .into_iter()
        .find(|entry| entry.action == Action::Begin.words());
    begun.map(|entry| entry.user).ok_or_else(|| {
        refused(operation, "the audit does not name its requester").with_hint("Ask for it again")
    })
}

/// The plan of an operation that waits, after all that speaks against approving it was looked at.
pub async fn consider(
    engines: &Engines,
    store: &mut Store,
    operation: &Operation,
    who: &str,
) -> Result<(Plan, Control), EngineError> {
    let id = &operation.id;
    if !matches!(
        operation.outcome,
        Outcome::Waiting | Outcome::Failed | Outcome::Interrupted
    ) {
        let words = format!(
            "it does not wait for approval, it is {}",
            operation.outcome.shown()
        );
        return Err(
            EngineError::new(Layer::Estate, ErrorKind::Conflict, approval_of(id), words)
                .with_hint("`eos history` shows the operations that wait"),
        );
    }
    // Of one that is being taken back, it is the way back that is approved.
    let plan = operation.back.as_ref().unwrap_or(&operation.plan);
    let plan = earlier::read(plan.clone()).map_err(|why| {
        let object = format!("plan of operation {id}");
        EngineError::new(Layer::Estate, ErrorKind::Invalid, object, why)
    })?;
    let control = control::ask(engines).await?;
    let by = Actor {
        who,
        user: &control.user,
    };
    match refuse_caller(id, plan.risk(), &requester(store, id)?, &control) {
        Ok(()) => Ok((plan, control)),
        Err(error) => {
            store.audit(&entry(by, id, "refused", json!({"why": error.words})))?;
            Err(error)
        }
    }
}

/// Who asked cannot approve, nor can a role that could not ask.
fn refuse_caller(operation: &str, risk: Risk, requester: &str, caller: &Control) -> Result<(), EngineError> {
    let least = Role::for_risk(risk);
    let user = &caller.user;
    let words = if user == requester {
        format!("{user} asked for it, and cannot approve it")
    } else if caller.role < least {
        format!(
            "{user} is {}, and its risk is {}",
            caller.role.with_article(),
            risk.word()
        )
    } else {
        return Ok(());
    };
    let hint = format!(
        "It needs {} other than {requester}: eos approve {operation} --as USER",
        least.with_article()
    );
    Err(refused(operation, words).with_hint(hint))
}

/// Records the approval on every minion that a step of the plan is for, reads it back, and writes it into the audit.
pub async fn approve(
    engines: &Engines,
    estate: &Estate,
    operation: &str,
    plan: &Plan,
    caller: &Control,
    minutes: u32,
    who: &str,
) -> Result<Approval, EngineError> {
    let recorded = record(engines, operation, plan, caller, minutes).await;
    let (outcome, detail) = match &recorded {
        Ok(approval) => {
            let detail = Detail {
                plan: approval.plan.clone(),
                role: approval.role,
                until: approval.until,
                minions: approval.minions.clone(),
            };
            (DONE, serde_json::to_value(detail).expect("it has a JSON form"))
        }
        Err(error) => ("failed", json!({"why": error.to_string()})),
    };
    let by = Actor {
        who,
        user: &caller.user,
    };
    estate.store()?.audit(&entry(by, operation, outcome, detail))?;
    recorded
}

fn entry<'a>(by: Actor<'a>, operation: &'a str, outcome: &'a str, detail: Value) -> NewEntry<'a> {
    NewEntry {
        by,
        action: Action::Approve,
        object: operation,
        outcome,
        detail,
    }
}

async fn record(
    engines: &Engines,
    operation: &str,
    plan: &Plan,
    caller: &Control,
    minutes: u32,
) -> Result<Approval, EngineError> {
    let hash = plan.hash();
    let mut until = Timestamp::now() + SignedDuration::from_mins(minutes.into());
    let mut minions = Vec::new();
    let mut calls = calls_by_minion(operation, plan);
    if let Delivery::Api {} = engines.endpoints.delivery {
        // It judges the delivery, in which the parts of all minions come.
        let all = calls.values().flatten();
        let all = all.map(|(step, call)| (step.clone(), call.clone())).collect();
        calls.insert(engines.endpoints.control.clone(), all);
    }
    for (minion, calls) in calls {
        let arguments = json!({"operation": operation, "plan": hash, "calls": calls, "minutes": minutes});
        let answer = engines.salt.call(&minion, "eos.approve", arguments, CALL).await?;
        let there = read_back(&minion, answer, operation, &hash, &calls, caller)?;
        until = until.min(there);
        minions.push(minion);
    }
    Ok(Approval {
        operation: operation.to_owned(),
        plan: hash,
        by: caller.user.clone(),
        role: caller.role,
        until,
        minions,
    })
}

/// Minion -> step -> digest of its call.
fn calls_by_minion(operation: &str, plan: &Plan) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut minions: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for step in &plan.steps {
        if let Some(call) = call_of(step, operation) {
            let digest = call.digest();
            minions
                .entry(call.minion)
                .or_default()
                .insert(step.id.clone(), digest);
        }
    }
    minions
}

/// The approval as the minion has it is the one that was meant; the answer is when it ends there.
fn read_back(
    minion: &str,
    answer: Value,
    operation: &str,
    plan: &str,
    calls: &BTreeMap<String, String>,
    caller: &Control,
) -> Result<Timestamp, EngineError> {
    #[derive(Deserialize)]
    struct Recorded {
        operation: String,
        plan: String,
        calls: BTreeMap<String, String>,
        by: String,
        until: Timestamp,
    }
    let object = format!("approval on minion {minion}");
    let recorded: Recorded = serde_json::from_value(answer)
        .map_err(|error| EngineError::new(Layer::Salt, ErrorKind::Invalid, &object, error.to_string()))?;
    let as_meant = recorded.operation == operation
        && recorded.plan == plan
        && recorded.calls == *calls
        && recorded.by == caller.user;
    match as_meant {
        true => Ok(recorded.until),
        false => {
            let words = "Salt reported success, but another approval is recorded there";
            Err(EngineError::new(Layer::Salt, ErrorKind::Failed, object, words))
        }
    }
}

fn approval_of(operation: &str) -> String {
    format!("the approval of operation {operation}")
}

fn refused(operation: &str, words: impl Into<String>) -> EngineError {
    EngineError::new(Layer::Estate, ErrorKind::Refused, approval_of(operation), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(risks: &[&str]) -> Plan {
        let step = |(number, risk): (usize, &&str)| {
            json!({
                "id": format!("{number}-terraform"), "environment": "production", "component": "hello", "risk": risk,
                "work": "unmake", "kind": "workspace", "minion": if number == 0 { "control" } else { "node1" },
            })
        };
        let steps: Vec<Value> = risks.iter().enumerate().map(step).collect();
        serde_json::from_value(json!({
            "version": 5, "environment": "production", "components": [], "hosts": [], "intent": null, "base": "", "pillar": {},
            "release": "", "observed": true, "changes": [], "acts": [], "steps": steps,
        }))
        .unwrap()
    }

    fn caller(user: &str, role: Role) -> Control {
        Control {
            user: user.to_owned(),
            role,
            home: None,
        }
    }

    #[test]
    fn a_plan_is_as_risky_as_its_riskiest_step() {
        use Role::{Architect, Operator, User};
        for (risks, role, wanted) in [
            (&["low"][..], User, None),
            (&[], User, None),
            (&["low", "medium"], User, Some((Risk::Medium, Operator))),
            (&["low", "medium"], Operator, None),
            (&["medium"], Architect, None),
            (&["low", "high", "medium"], User, Some((Risk::High, Architect))),
            (&["high"], Operator, Some((Risk::High, Architect))),
            (&["high"], Architect, Some((Risk::High, Architect))),
        ] {
            let found = needed(&plan(risks), role).map(|needed| (needed.risk, needed.role));
            assert_eq!(found, wanted, "{risks:?} by {role:?}");
        }
    }

    #[test]
    fn neither_who_asked_nor_a_lower_role_may_approve() {
        let words = |risk, user: &str, role| {
            refuse_caller("01OP", risk, "ada", &caller(user, role))
                .err()
                .map(|error| (error.words, error.hint.unwrap()))
        };
        assert_eq!(words(Risk::High, "eve", Role::Architect), None);
        assert_eq!(words(Risk::Medium, "eve", Role::Operator), None);
        let hint = "It needs an architect other than ada: eos approve 01OP --as USER".to_owned();
        assert_eq!(
            words(Risk::High, "ada", Role::Architect),
            Some(("ada asked for it, and cannot approve it".to_owned(), hint.clone()))
        );
        assert_eq!(
            words(Risk::High, "eve", Role::Operator),
            Some(("eve is an operator, and its risk is high".to_owned(), hint))
        );
    }

    #[test]
    fn every_call_is_named_on_its_own_minion() {
        let calls = calls_by_minion("01OP", &plan(&["low", "high", "low"]));
        let steps: Vec<_> = calls
            .iter()
            .map(|(minion, calls)| {
                (
                    minion.as_str(),
                    calls.keys().map(String::as_str).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            steps,
            [
                ("control", vec!["0-terraform"]),
                ("node1", vec!["1-terraform", "2-terraform"])
            ]
        );
    }

    #[test]
    fn an_approval_that_says_something_else_is_not_taken_for_the_one_that_was_given() {
        let calls = BTreeMap::from([("1-terraform".to_owned(), "d1".to_owned())]);
        let there = json!({
            "operation": "01OP", "plan": "p1", "calls": calls, "by": "eve", "role": "architect",
            "until": "2026-11-16T07:00:00+00:00",
        });
        let read = |answer: Value| {
            read_back(
                "control",
                answer,
                "01OP",
                "p1",
                &calls,
                &caller("eve", Role::Architect),
            )
        };
        assert_eq!(
            read(there.clone()).unwrap(),
            "2026-11-16T07:00:00Z".parse().unwrap()
        );
        for (field, other) in [
            ("operation", json!("01OQ")),
            ("plan", json!("p2")),
            ("calls", json!({"1-terraform": "d2"})),
            ("by", json!("ada")),
        ] {
            let mut changed = there.clone();
            changed[field] = other;
            assert_eq!(read(changed).unwrap_err().kind, ErrorKind::Failed, "{field}");
        }
    }

    #[test]
    fn an_approval_holds_for_its_plan_and_its_time_only() {
        let estate = tempfile::tempdir().unwrap();
        let mut store = Store::open(estate.path()).unwrap();
        let (approved, other) = (plan(&["high"]), plan(&["high", "low"]));
        let write = |store: &mut Store, until: Timestamp, outcome: &str| {
            let detail = Detail {
                plan: approved.hash(),
                role: Role::Architect,
                until,
                minions: vec!["control".to_owned()],
            };
            let entry = NewEntry {
                by: Actor {
                    who: "eve",
                    user: "eos-architect",
                },
                action: Action::Approve,
                object: "01OP",
                outcome,
                detail: serde_json::to_value(detail).unwrap(),
            };
            store.audit(&entry).unwrap();
        };
        let hour = SignedDuration::from_hours(1);
        write(&mut store, Timestamp::now() - hour, DONE);
        write(&mut store, Timestamp::now() + hour, "failed");
        assert_eq!(given(&store, "01OP", &approved).unwrap(), None);
        write(&mut store, Timestamp::now() + hour, DONE);
        let found = given(&store, "01OP", &approved).unwrap().unwrap();
        assert_eq!(
            (found.by.as_str(), found.role),
            ("eos-architect", Role::Architect)
        );
        assert_eq!(given(&store, "01OP", &other).unwrap(), None);
        assert_eq!(given(&store, "01OQ", &approved).unwrap(), None);
    }

    #[test]
    fn a_minions_refusal_is_known_by_its_first_words() {
        let refusal = |words: &str| EngineError::new(Layer::Salt, ErrorKind::Failed, "eos.make", words);
        assert!(is_missing(&refusal(
            "needs approval: step 2-terraform of operation 01OP"
        )));
        assert!(!is_missing(&refusal("volume needs approval: no")));
    }
}
