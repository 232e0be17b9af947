//! What is there before a plan is carried out: whether namespace and secrets are known to those who come after them, and
//! the jobs with their instances.

use std::collections::BTreeMap;

use eos_core::emit::terraform::PLATFORM;
use eos_core::kinds::namespace;
use eos_core::plan::effects::nomad::JobNow;
use eos_core::plan::{Action, Plan, Step, Work};
use serde::Deserialize;
use serde_json::Value;

use super::Asks;
use super::secrets::{SecretEffects, secret_effects};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind};
use crate::http::Request;
use crate::planning::Prepared;

/// What a plan makes before others of its steps, so that those cannot know of it yet.
#[derive(Default)]
pub(super) struct Unknown {
    /// Whether the plan makes the namespace of its environment.
    pub namespace: bool,
    /// What Eos's own steps write; nothing where nobody wants to know which of them write anything.
    pub secrets: Option<SecretEffects>,
}

impl Unknown {
    pub async fn of(engines: &Engines, prepared: &Prepared<'_>, plan: &Plan, asks: Asks) -> Self {
        let secrets = async {
            match asks {
                Asks::Effects => Some(secret_effects(engines, &prepared.compilation, plan).await),
                Asks::Refusals => None,
            }
        };
        let (namespace, secrets) = tokio::join!(makes_namespace(engines, plan), secrets);
        Self { namespace, secrets }
    }

    /// Whether a step writes a secret, or may do so.
    pub fn writes(&self, step: &Step) -> bool {
        match &self.secrets {
            Some(effects) => matches!(effects.get(&step.id), Some(Ok(Some(_)) | Err(_))),
            None => matches!(step.work, Work::Secret(_)),
        }
    }
}

/// Job -> what Nomad has of it, or why nothing is known of any.
pub(super) type Jobs = Result<BTreeMap<String, JobNow>, EngineError>;

/// A namespace that the plan is to make may be there already, where an earlier operation did not come to its end.
async fn makes_namespace(engines: &Engines, plan: &Plan) -> bool {
    let address = namespace::address(&plan.environment);
    let mut changes = plan.changes.iter();
    if !changes.any(|change| change.address == address && change.action == Action::Create) {
        return false;
    }
    match engines.nomad.namespaces().await {
        Ok(all) => !all.iter().any(|one| one.name == plan.environment),
        Err(_) => true,
    }
}

/// The jobs of a plan's workspaces as Nomad has them.
pub(super) async fn jobs(engines: &Engines, plan: &Plan) -> Jobs {
    let with_job = plan
        .steps
        .iter()
        .filter(|step| step.work.is_workspace() && step.component != PLATFORM);
    let mut found = BTreeMap::new();
    for step in with_job {
        let job = job(engines, &step.environment, &step.component).await?;
        found.insert(
            step.component.clone(),
            JobNow {
                job,
                live: BTreeMap::new(),
            },
        );
    }
    if found.values().any(|now| now.job.is_some()) {
        for instance in allocations(engines, &plan.environment).await? {
            if let Some(now) = found.get_mut(&instance.job_id).filter(|_| instance.is_live()) {
                *now.live.entry(instance.task_group).or_default() += 1;
            }
        }
    }
    Ok(found)
}

async fn job(engines: &Engines, namespace: &str, name: &str) -> Result<Option<Value>, EngineError> {
    let request = Request {
        object: &format!("job {name}"),
        path: &format!("job/{name}"),
        query: &[("namespace", namespace)],
    };
    match engines.nomad.get(request).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        answer => answer.map(Some),
    }
}

/// What Nomad's list says of an allocation.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Instance {
    #[serde(rename = "JobID")]
    job_id: String,
    task_group: String,
    desired_status: String,
    client_status: String,
}

impl Instance {
    fn is_live(&self) -> bool {
        self.desired_status == "run" && matches!(self.client_status.as_str(), "pending" | "running")
    }
}

async fn allocations(engines: &Engines, namespace: &str) -> Result<Vec<Instance>, EngineError> {
    let request = Request {
        object: "allocations",
        path: "allocations",
        query: &[("namespace", namespace), ("task_states", "false")],
    };
    engines.nomad.get(request).await
}
