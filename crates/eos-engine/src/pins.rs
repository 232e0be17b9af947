//! What a plan is pinned to, read from git and the engines; and the refusal of a plan whose pins have moved.

use std::collections::BTreeMap;

use eos_core::diagnostic::Diagnostic;
use eos_core::name::ENVIRONMENTS;
use eos_core::pillar::{COMMON_FILE, PillarFiles, environment_file};
use eos_core::pins::{PillarPin, Pinned, Pins, TerraformPin};
use eos_core::plan::Plan;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::consul::ConsulClient;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind};
use crate::estate::{Estate, pillar_digest};
use crate::failure::Failure;
use crate::http::Request;
use crate::planning::OBSERVE;

/// What Nomad's list says of a job.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct JobStub {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(default)]
    pub stop: bool,
    pub job_modify_index: u64,
    pub meta: Option<BTreeMap<String, String>>,
}

/// The jobs of a namespace; none where there is no such namespace.
pub(crate) async fn jobs(engines: &Engines, namespace: &str) -> Result<Vec<JobStub>, EngineError> {
    let request = Request {
        object: "jobs",
        path: "jobs",
        query: &[("namespace", namespace), ("meta", "true")],
    };
    engines.nomad.get(request).await
}

/// What workspaces and jobs an environment had when a plan was made: the same answers that the plan was made from.
pub(crate) struct Seen<'a> {
    pub environment: &'a str,
    /// The answer of `eos.observe`.
    pub workspaces: &'a Value,
    pub jobs: &'a [JobStub],
}

impl Seen<'_> {
    /// Pins what the plan is about to what was seen.
    pub async fn pins(
        &self,
        estate: &Estate,
        engines: &Engines,
        files: &PillarFiles,
        pinned: &Pinned,
    ) -> Result<Pins, EngineError> {
        let (pillar, consul) = tokio::try_join!(pillar_pin(estate, files), consul_pins(engines, pinned))?;
        let workspaces = pinned.workspaces.iter();
        let jobs = pinned.jobs.iter();
        Ok(Pins {
            pillar,
            workspaces: workspaces
                .map(|name| (name.clone(), self.workspace(name)))
                .collect(),
            jobs: jobs.map(|name| (name.clone(), self.job(name))).collect(),
            consul,
        })
    }

    fn workspace(&self, name: &str) -> Option<TerraformPin> {
        let found = self.workspaces.get("workspace")?.get(name)?;
        Some(TerraformPin {
            lineage: found.get("lineage")?.as_str()?.to_owned(),
            serial: found.get("serial")?.as_u64()?,
        })
    }

    fn job(&self, name: &str) -> Option<u64> {
        let (namespace, name) = name.split_once('/')?;
        let mut jobs = self.jobs.iter().filter(|_| namespace == self.environment);
        jobs.find(|job| job.id == name).map(|job| job.job_modify_index)
    }
}

/// Refuses a plan if anything that it is pinned to has moved since, naming all that has.
pub async fn require(estate: &Estate, engines: &Engines, plan: &Plan) -> Result<(), Failure> {
    // It has no pins, and is refused for that by whoever carries plans out.
    if !plan.observed {
        return Ok(());
    }
    let pinned = Pinned::of(plan);
    let files = estate.pillar_files()?;
    let arguments = json!({"parts": {"workspace": pinned.workspaces}});
    let control = &engines.endpoints.control;
    let (workspaces, jobs) = tokio::try_join!(
        engines.salt.call(control, "eos.observe", arguments, OBSERVE),
        jobs(engines, &plan.environment)
    )?;
    let seen = Seen {
        environment: &plan.environment,
        workspaces: &workspaces,
        jobs: &jobs,
    };
    let now = seen.pins(estate, engines, &files, &pinned).await?;
    let mut moved: Vec<Diagnostic> = plan
        .pins
        .moved(&now)
        .iter()
        .map(|moved| Diagnostic::new(format!("The plan is stale: {moved}")))
        .collect();
    match moved.pop() {
        None => Ok(()),
        Some(last) => {
            moved.push(last.hint("Nothing was changed; make a new plan"));
            Err(Failure::Input(moved))
        }
    }
}

async fn pillar_pin(estate: &Estate, files: &PillarFiles) -> Result<PillarPin, EngineError> {
    let environments = ENVIRONMENTS.iter().map(|name| environment_file(name));
    let paths: Vec<String> = std::iter::once(COMMON_FILE.to_owned())
        .chain(environments)
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let repository = estate.repository();
    let commit = match repository.is_clean(&paths).await? {
        true => repository.last_change(&paths).await?,
        false => None,
    };
    Ok(PillarPin {
        digest: pillar_digest(files),
        commit,
    })
}

/// Nothing in an estate without Consul.
async fn consul_pins(
    engines: &Engines,
    pinned: &Pinned,
) -> Result<Option<BTreeMap<String, Option<u64>>>, EngineError> {
    let Some(consul) = &engines.consul else {
        return Ok(None);
    };
    let mut pins = BTreeMap::new();
    for service in &pinned.services {
        let (registered, intentions) =
            tokio::try_join!(registered_by_hand(consul, service), intentions(consul, service))?;
        pins.insert(format!("service/{service}"), registered);
        pins.insert(format!("service-intentions/{service}"), intentions);
    }
    Ok(Some(pins))
}

/// The newest registration under this name that is not Nomad's. Nomad's own come and go as it moves tasks, which is no
/// change of what was planned; whether somebody changed the job says the pin of the job.
async fn registered_by_hand(consul: &ConsulClient, service: &str) -> Result<Option<u64>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Registered {
        #[serde(rename = "ServiceID")]
        service_id: String,
        modify_index: u64,
    }
    let request = Request {
        object: &format!("service {service}"),
        path: &format!("catalog/service/{service}"),
        query: &[],
    };
    let found: Vec<Registered> = consul.get(request).await?;
    let by_hand = found.iter().filter(|one| !one.service_id.starts_with("_nomad-"));
    Ok(by_hand.map(|one| one.modify_index).max())
}

async fn intentions(consul: &ConsulClient, service: &str) -> Result<Option<u64>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Entry {
        modify_index: u64,
    }
    let request = Request {
        object: &format!("intentions of {service}"),
        path: &format!("config/service-intentions/{service}"),
        query: &[],
    };
    match consul.get::<Entry>(request).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        answer => answer.map(|entry| Some(entry.modify_index)),
    }
}
