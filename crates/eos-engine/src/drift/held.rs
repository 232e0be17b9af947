//! Components that an operation is about just now: what differs of them is that operation's business.

use std::collections::BTreeMap;

use eos_core::drift::Held;
use eos_core::plan::{Work, earlier};

use crate::component_lock::Holder;
use crate::engines::Engines;
use crate::error::EngineError;
use crate::estate::Estate;
use crate::http::Request;
use crate::lock::{Target, is_held};
use crate::store::Outcome;

/// What operations hold of an environment; and whether one is at work at all, which then may be writing files.
pub async fn ask(
    estate: &Estate,
    engines: &Engines,
    environment: &str,
) -> Result<(Vec<Held>, bool), EngineError> {
    let mut held: BTreeMap<String, Held> = BTreeMap::new();
    let mut is_busy = false;
    for operation in estate.store_to_read()?.unfinished()? {
        // One that waits for its approval has changed nothing.
        if operation.outcome == Outcome::Waiting {
            continue;
        }
        let is_at_work = is_held(&estate.root, Target::Operation(&operation.id))?;
        is_busy |= is_at_work;
        if operation.environment != environment {
            continue;
        }
        let plan = operation.back.unwrap_or(operation.plan);
        let steps = earlier::read(plan).map_or_else(|_| Vec::new(), |plan| plan.steps);
        for step in steps {
            if step.work != Work::Deliver && step.environment == environment {
                let one = Held {
                    component: step.component.clone(),
                    operation: operation.id.clone(),
                    is_at_work,
                };
                held.insert(step.component, one);
            }
        }
    }
    for (component, operation) in elsewhere(engines, environment).await {
        held.entry(component.clone()).or_insert(Held {
            component,
            operation,
            is_at_work: true,
        });
    }
    Ok((held.into_values().collect(), is_busy))
}

/// Those that operations of other machines hold, by their locks in Consul. If it does not answer, that is told where its
/// services are asked for.
async fn elsewhere(engines: &Engines, environment: &str) -> Vec<(String, String)> {
    let Some(consul) = &engines.consul else {
        return Vec::new();
    };
    let request = Request {
        object: "locks",
        path: &format!("kv/terraform/{environment}/"),
        query: &[("keys", "true")],
    };
    let keys: Vec<String> = consul.get(request).await.unwrap_or_default();
    let mut held = Vec::new();
    for key in keys {
        let rest = key.strip_prefix(&format!("terraform/{environment}/"));
        let Some(component) = rest.and_then(|rest| rest.strip_suffix("/lock")) else {
            continue;
        };
        let found = consul.key(&key).await.ok().flatten();
        if let Some(found) = found.filter(|found| found.session.is_some()) {
            let holder = serde_json::from_slice::<Holder>(&found.value).ok();
            let operation = holder.map_or("somebody".to_owned(), |holder| holder.operation);
            held.push((component.to_owned(), operation));
        }
    }
    held
}
