//! Nomad's HTTP API: typed answers for what Eos reads, plain JSON for the rest, and every way Nomad says no.
//!
//! Go writes an empty list or map as `null`, a plan that cannot be placed is HTTP 200, and a lost race is 409 or
//! 500 depending on the object; such traps are read here, and nowhere else.

mod capacity;
mod lists;
mod pull;
mod versions;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::endpoints::NomadEndpoint;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http::{ANSWER, Api, Dialect, read_json};

pub use crate::http::{Request, Streamed};
pub use capacity::Capacity;
pub use lists::{JobStatus, LatestDeployment, ListedJob, Member, OwnToken, current};
pub use versions::{GroupCheck, JobVersion, TaskGroup};

/// How long an answer may take that is not asked to wait.
/// Nomad lengthens a blocking query by up to a sixteenth, and answers only then.
const WAIT_GRACE: Duration = Duration::from_secs(10);
/// Nomad keeps no larger variable: bytes of all its names and values.
const LARGEST_VARIABLE: usize = 64 << 10;
/// One look of `wait_healthy`: short enough that what has no index of its own (placement, checks) is seen soon.
const LOOK: Duration = Duration::from_secs(2);

/// A value with the index after which Nomad can be asked to wait for its next change.
#[derive(Debug, Clone)]
pub struct Indexed<T> {
    pub value: T,
    pub index: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Job {
    #[serde(rename = "ID")]
    pub id: String,
    pub namespace: String,
    /// `service`, `batch`, `system`, `sysbatch`.
    pub r#type: String,
    pub status: String,
    #[serde(default)]
    pub stop: bool,
    pub version: u64,
    pub create_index: u64,
    pub job_modify_index: u64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub meta: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub task_groups: Vec<TaskGroup>,
    /// The set times of a job that has them.
    #[serde(default)]
    pub periodic: Option<Periodic>,
}

/// When Nomad starts a job by itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Periodic {
    pub enabled: bool,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub specs: Vec<String>,
    pub time_zone: String,
}

impl Job {
    /// How many allocations the job asks for; a system job's number depends on the nodes.
    pub fn desired(&self) -> u64 {
        self.task_groups.iter().map(|group| group.count).sum()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Allocation {
    #[serde(rename = "ID")]
    pub id: String,
    pub name: String,
    #[serde(rename = "NodeID")]
    pub node_id: String,
    #[serde(default)]
    pub node_name: String,
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub job_version: u64,
    pub task_group: String,
    /// `run`, `stop`, `evict`.
    pub desired_status: String,
    /// `pending`, `running`, `complete`, `failed`, `lost`, `unknown`.
    pub client_status: String,
    #[serde(default)]
    pub client_description: String,
    #[serde(default)]
    pub deployment_status: Option<AllocationHealth>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub task_states: BTreeMap<String, TaskRun>,
    #[serde(default)]
    pub create_time: i64,
}

impl Allocation {
    pub fn is_running(&self) -> bool {
        self.desired_status == "run" && self.client_status == "running"
    }

    /// It came to its end by itself, and well. Nomad calls one complete as well that somebody stopped.
    pub fn ended_well(&self) -> bool {
        self.desired_status == "run" && self.client_status == "complete"
    }

    /// It came to its end because somebody stopped it.
    pub fn was_stopped(&self) -> bool {
        self.desired_status != "run" && self.client_status == "complete"
    }

    /// What Nomad's deployment thinks of it; nothing as long as it has not decided.
    pub fn healthy(&self) -> Option<bool> {
        self.deployment_status.as_ref().and_then(|status| status.healthy)
    }

    /// It failed, or its deployment took it for unhealthy.
    pub fn is_bad(&self) -> bool {
        self.client_status == "failed" || self.healthy() == Some(false)
    }

    /// What last happened to its tasks, in Nomad's words.
    pub fn last_events(&self, count: usize) -> Vec<String> {
        let mut events: Vec<(i64, String)> = self
            .task_states
            .iter()
            .flat_map(|(task, run)| run.events.iter().map(move |event| (task, event)))
            .map(|(task, event)| {
                let words = format!("{task}: {}: {}", event.r#type, event.display_message);
                (event.time, words)
            })
            .collect();
        events.sort_by_key(|(time, _)| *time);
        let last = events.into_iter().map(|(_, words)| words);
        last.rev()
            .take(count)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect()
    }

    /// The last thing that went wrong in a task, in Nomad's words.
    pub fn trouble(&self) -> Option<String> {
        const CAUSES: [&str; 7] = [
            "Driver Failure",
            "Failed Validation",
            "Setup Failure",
            "Failed Artifact Download",
            "Task hook failed",
            "Template",
            "Terminated",
        ];
        // What follows from a cause comes later than it, but says less.
        const CONSEQUENCES: [&str; 2] = ["Alloc Unhealthy", "Restart Signaled"];
        self.last_event_of(&CAUSES)
            .or_else(|| self.last_event_of(&CONSEQUENCES))
    }

    fn last_event_of(&self, types: &[&str]) -> Option<String> {
        self.task_states
            .iter()
            .flat_map(|(task, run)| run.events.iter().map(move |event| (task, event)))
            .filter(|(_, event)| types.contains(&event.r#type.as_str()))
            .max_by_key(|(_, event)| event.time)
            .map(|(task, event)| format!("task {task}: {}: {}", event.r#type, event.display_message))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AllocationHealth {
    pub healthy: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TaskRun {
    pub state: String,
    #[serde(default)]
    pub failed: bool,
    #[serde(default)]
    pub restarts: u64,
    /// As Nomad writes it, to the nanosecond.
    #[serde(default)]
    pub started_at: Option<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub events: Vec<TaskEvent>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TaskEvent {
    pub r#type: String,
    #[serde(default)]
    pub time: i64,
    #[serde(default)]
    pub display_message: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub details: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Deployment {
    #[serde(rename = "ID")]
    pub id: String,
    pub job_version: u64,
    pub job_create_index: u64,
    /// `running`, `paused`, `successful`, `failed`, `cancelled`, `blocked`, `pending`, `unblocking`.
    pub status: String,
    #[serde(default)]
    pub status_description: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub task_groups: BTreeMap<String, DeploymentGroup>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DeploymentGroup {
    pub desired_total: u64,
    pub placed_allocs: u64,
    pub healthy_allocs: u64,
    pub unhealthy_allocs: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Evaluation {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(rename = "JobID", default)]
    pub job_id: String,
    pub status: String,
    #[serde(default)]
    pub status_description: String,
    #[serde(rename = "DeploymentID", default)]
    pub deployment_id: String,
    #[serde(default)]
    pub job_modify_index: u64,
    #[serde(rename = "FailedTGAllocs", default, deserialize_with = "null_is_empty")]
    pub unplaced: BTreeMap<String, Unplaced>,
    pub create_index: u64,
}

/// Why a group found no node.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Unplaced {
    #[serde(default)]
    pub nodes_evaluated: u64,
    #[serde(default)]
    pub nodes_filtered: u64,
    #[serde(default)]
    pub nodes_exhausted: u64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub constraint_filtered: BTreeMap<String, u64>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub dimension_exhausted: BTreeMap<String, u64>,
}

impl Unplaced {
    /// One sentence for a person.
    pub fn words(&self) -> String {
        let count = |(reason, nodes): (&String, &u64)| {
            format!("{reason} ({nodes} of {} nodes)", self.nodes_evaluated)
        };
        let reasons: Vec<String> = (self.constraint_filtered.iter().map(count))
            .chain(
                self.dimension_exhausted
                    .iter()
                    .map(|(what, nodes)| count((&format!("too little {what}"), nodes))),
            )
            .collect();
        if reasons.is_empty() {
            "no node is ready for it".to_owned()
        } else {
            reasons.join(", ")
        }
    }
}

/// One health check of `provider = "nomad"`, as the client last ran it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Check {
    pub service: String,
    #[serde(rename = "Check")]
    pub name: String,
    /// `success`, `failure`, `pending`.
    pub status: String,
    /// Of HTTP.
    #[serde(default)]
    pub status_code: u16,
    #[serde(default)]
    pub output: String,
}

impl Check {
    /// What it got for an answer.
    pub fn words(&self) -> String {
        match self.status_code {
            0 => self.output.trim().to_owned(),
            code => format!("{code} {}", self.output.trim()),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Service {
    pub service_name: String,
    #[serde(rename = "JobID")]
    pub job_id: String,
    #[serde(rename = "AllocID")]
    pub allocation_id: String,
    #[serde(rename = "NodeID")]
    pub node_id: String,
    pub address: String,
    pub port: u16,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Node {
    #[serde(rename = "ID")]
    pub id: String,
    pub name: String,
    pub datacenter: String,
    pub address: String,
    /// `ready`, `down`, `initializing`, `disconnected`. After a restart this may be what it was before.
    pub status: String,
    /// `eligible`, `ineligible`.
    pub scheduling_eligibility: String,
    /// Of Nomad, as it runs there.
    #[serde(default)]
    pub version: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub drivers: BTreeMap<String, Driver>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Driver {
    #[serde(default)]
    pub detected: bool,
    #[serde(default)]
    pub healthy: bool,
    #[serde(default)]
    pub health_description: String,
}

/// What Nomad says of a node that is asked for by itself.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NodeDetails {
    #[serde(default, deserialize_with = "null_is_empty")]
    attributes: BTreeMap<String, String>,
    node_resources: NodeResources,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NodeResources {
    #[serde(default, deserialize_with = "null_is_empty")]
    networks: Vec<Network>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Network {
    #[serde(default)]
    mode: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Namespace {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub meta: BTreeMap<String, String>,
}

/// A dynamic host volume.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Volume {
    #[serde(rename = "ID")]
    pub id: String,
    pub name: String,
    pub namespace: String,
    #[serde(rename = "NodeID")]
    pub node_id: String,
    /// `pending` for some seconds after registration, then `ready`.
    pub state: String,
}

/// A Nomad variable: the items' values are secrets.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Variable {
    pub path: String,
    pub modify_index: u64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub items: BTreeMap<String, SecretString>,
}

/// What Nomad would do with a job.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct JobPlan {
    pub job_modify_index: u64,
    /// Nomad's own diff, whose `Type` is `None`, `Added`, `Edited` or `Deleted`.
    pub diff: Value,
    #[serde(rename = "FailedTGAllocs", default, deserialize_with = "null_is_empty")]
    pub unplaced: BTreeMap<String, Unplaced>,
    #[serde(default)]
    pub warnings: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogStream {
    Stdout,
    Stderr,
}

impl LogStream {
    pub fn name(self) -> &'static str {
        match self {
            LogStream::Stdout => "stdout",
            LogStream::Stderr => "stderr",
        }
    }
}

/// What `wait_healthy` saw at its end.
#[derive(Debug, Clone)]
pub struct Healthy {
    pub version: u64,
    pub allocations: Vec<Allocation>,
}

impl Healthy {
    /// How many of them are of a group.
    pub fn of(&self, group: &str) -> usize {
        let own = self.allocations.iter().filter(|one| one.task_group == group);
        own.count()
    }
}

#[derive(Clone)]
pub struct NomadClient {
    api: Api,
}

/// What every engine's API can do.
impl Deref for NomadClient {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl NomadClient {
    pub fn new(endpoint: &NomadEndpoint) -> Result<Self, EngineError> {
        let api = Api::new(
            Dialect {
                layer: Layer::Nomad,
                token_header: "X-Nomad-Token",
                refusal: read_refusal,
            },
            &endpoint.address,
            endpoint.certificate.as_deref(),
            endpoint.token_file.as_deref(),
        )?;
        Ok(NomadClient { api })
    }

    /// Reads after `index` has passed, or after `wait` at the latest. With index 0 it reads at once.
    pub async fn get_after<T: DeserializeOwned>(
        &self,
        request: Request<'_>,
        index: u64,
        wait: Duration,
    ) -> Result<Indexed<T>, EngineError> {
        let (index, wait_words) = (index.to_string(), format!("{}ms", wait.as_millis()));
        let mut query = request.query.to_vec();
        query.extend([("index", index.as_str()), ("wait", wait_words.as_str())]);
        self.exchange(
            Method::GET,
            Request {
                query: &query,
                ..request
            },
            None,
            wait + WAIT_GRACE,
        )
        .await
    }

    pub async fn job(&self, namespace: &str, job: &str) -> Result<Job, EngineError> {
        self.get_of(namespace, &format!("job {job}"), &format!("job/{job}"))
            .await
    }

    /// The newest allocation comes first.
    pub async fn job_allocations(&self, namespace: &str, job: &str) -> Result<Vec<Allocation>, EngineError> {
        let mut found: Vec<Allocation> = self
            .get_of(
                namespace,
                &format!("allocations of job {job}"),
                &format!("job/{job}/allocations"),
            )
            .await?;
        found.sort_by_key(|allocation| std::cmp::Reverse(allocation.create_time));
        Ok(found)
    }

    /// The name of the node that an allocation is on.
    pub async fn allocation_node(&self, namespace: &str, id: &str) -> Result<String, EngineError> {
        // Read by itself, an allocation has other fields than in a list.
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Placed {
            node_name: String,
        }
        let object = format!("allocation {id}");
        let placed: Placed = self
            .get_of(namespace, &object, &format!("allocation/{id}"))
            .await?;
        Ok(placed.node_name)
    }

    /// The newest evaluation comes first.
    pub async fn job_evaluations(&self, namespace: &str, job: &str) -> Result<Vec<Evaluation>, EngineError> {
        let mut found: Vec<Evaluation> = self
            .get_of(
                namespace,
                &format!("evaluations of job {job}"),
                &format!("job/{job}/evaluations"),
            )
            .await?;
        found.sort_by_key(|evaluation| std::cmp::Reverse(evaluation.create_index));
        Ok(found)
    }

    /// The newest deployment comes first.
    pub async fn job_deployments(&self, namespace: &str, job: &str) -> Result<Vec<Deployment>, EngineError> {
        let mut found: Vec<Deployment> = self
            .get_of(
                namespace,
                &format!("deployments of job {job}"),
                &format!("job/{job}/deployments"),
            )
            .await?;
        found.sort_by_key(|deployment| {
            std::cmp::Reverse((deployment.job_create_index, deployment.job_version))
        });
        Ok(found)
    }

    pub async fn deployment(&self, id: &str) -> Result<Deployment, EngineError> {
        self.get(Request {
            object: &format!("deployment {id}"),
            path: &format!("deployment/{id}"),
            query: &[],
        })
        .await
    }

    /// The checks of the allocation's services in Nomad's own catalogue, asked of its client.
    pub async fn allocation_checks(
        &self,
        namespace: &str,
        allocation: &str,
    ) -> Result<Vec<Check>, EngineError> {
        let object = format!("checks of allocation {allocation}");
        let path = format!("client/allocation/{allocation}/checks");
        let checks: Option<BTreeMap<String, Check>> = self.get_of(namespace, &object, &path).await?;
        Ok(checks.unwrap_or_default().into_values().collect())
    }

    /// The instances of a service in Nomad's own catalogue; none if it is not known.
    pub async fn service(&self, namespace: &str, service: &str) -> Result<Vec<Service>, EngineError> {
        let object = format!("service {service}");
        match self
            .get_of::<Vec<Service>>(namespace, &object, &format!("service/{service}"))
            .await
        {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Vec::new()),
            answer => answer,
        }
    }

    pub async fn nodes(&self) -> Result<Vec<Node>, EngineError> {
        self.get(Request {
            object: "nodes",
            path: "nodes",
            query: &[],
        })
        .await
    }

    /// Lets the server write a snapshot of its state to its disk: when it starts again, it knows that at once.
    pub async fn save_snapshot(&self) -> Result<(), EngineError> {
        let request = Request {
            object: "snapshot",
            path: "operator/snapshot",
            query: &[],
        };
        // It answers with a copy, packed.
        self.send(Method::GET, request, None, ANSWER).await.map(drop)
    }

    /// The address of the server that leads.
    pub async fn leader(&self) -> Result<String, EngineError> {
        self.get(Request {
            object: "leader",
            path: "status/leader",
            query: &[],
        })
        .await
    }

    /// Whether a node can join the network of a task to a bridge: it has the bridge, and the plugin that does it.
    pub async fn has_bridge(&self, node: &Node) -> Result<bool, EngineError> {
        let found = self.details(node).await?;
        let is_bridge = |network: &Network| network.mode == "bridge";
        Ok(found.node_resources.networks.iter().any(is_bridge)
            && found.attributes.contains_key("plugins.cni.version.bridge"))
    }

    /// What the client of a node found there: the attributes that constraints of jobs name.
    pub async fn attributes(&self, node: &Node) -> Result<BTreeMap<String, String>, EngineError> {
        Ok(self.details(node).await?.attributes)
    }

    async fn details(&self, node: &Node) -> Result<NodeDetails, EngineError> {
        self.get(Request {
            object: &format!("node {}", node.name),
            path: &format!("node/{}", node.id),
            query: &[],
        })
        .await
    }

    pub async fn namespaces(&self) -> Result<Vec<Namespace>, EngineError> {
        self.get(Request {
            object: "namespaces",
            path: "namespaces",
            query: &[],
        })
        .await
    }

    pub async fn volumes(&self, namespace: &str) -> Result<Vec<Volume>, EngineError> {
        let query = [("type", "host"), ("namespace", namespace)];
        let request = Request {
            object: "host volumes",
            path: "volumes",
            query: &query,
        };
        Ok(self
            .get::<Option<Vec<Volume>>>(request)
            .await?
            .unwrap_or_default())
    }

    /// A variable with its values, or nothing if there is none at this path.
    pub async fn variable(&self, namespace: &str, path: &str) -> Result<Option<Variable>, EngineError> {
        match self
            .get_of(namespace, &format!("variable {path}"), &format!("var/{path}"))
            .await
        {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Writes a variable whole, if it is still the one of `index` (0: if there is none). Gives the new index.
    pub async fn put_variable(
        &self,
        namespace: &str,
        path: &str,
        items: &BTreeMap<String, SecretString>,
        index: u64,
    ) -> Result<u64, EngineError> {
        let plain: BTreeMap<&str, &str> = items
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        refuse_too_large(path, &plain)?;
        let index = index.to_string();
        let written: Variable = self
            .put(
                Request {
                    object: &format!("variable {path}"),
                    path: &format!("var/{path}"),
                    query: &[("namespace", namespace), ("cas", &index)],
                },
                &json!({"Namespace": namespace, "Path": path, "Items": plain}),
            )
            .await?;
        Ok(written.modify_index)
    }

    pub async fn delete_variable(&self, namespace: &str, path: &str) -> Result<(), EngineError> {
        self.delete(Request {
            object: &format!("variable {path}"),
            path: &format!("var/{path}"),
            query: &[("namespace", namespace)],
        })
        .await
    }

    /// Turns a job file into Nomad's JSON; `variables` is the text of a variables file.
    pub async fn parse(&self, hcl: &str, variables: &str) -> Result<Value, EngineError> {
        self.post(
            Request {
                object: "job file",
                path: "jobs/parse",
                query: &[],
            },
            &json!({"JobHCL": hcl, "Variables": variables, "Canonicalize": true}),
        )
        .await
    }

    /// Asks what would happen; that a group finds no node is in the answer, not an error.
    pub async fn plan(&self, namespace: &str, job: &str, definition: &Value) -> Result<JobPlan, EngineError> {
        self.post(
            Request {
                object: &format!("plan of job {job}"),
                path: &format!("job/{job}/plan"),
                query: &[("namespace", namespace)],
            },
            &json!({"Job": definition, "Diff": true}),
        )
        .await
    }

    /// The last `tail` bytes that a task wrote.
    pub async fn logs(
        &self,
        namespace: &str,
        allocation: &str,
        task: &str,
        stream: LogStream,
        tail: u64,
    ) -> Result<String, EngineError> {
        let request = Request {
            object: &format!("logs of task {task} in allocation {allocation}"),
            path: &format!("client/fs/logs/{allocation}"),
            query: &[
                ("namespace", namespace),
                ("task", task),
                ("type", stream.name()),
                ("origin", "end"),
                ("offset", &tail.to_string()),
                ("plain", "true"),
            ],
        };
        let (text, _) = self.send(Method::GET, request, None, ANSWER).await?;
        Ok(text)
    }

    /// What a task writes, as it writes it: from so many bytes before the end, or from the beginning.
    pub async fn follow_logs(
        &self,
        namespace: &str,
        allocation: &str,
        task: &str,
        stream: LogStream,
        tail: Option<u64>,
    ) -> Result<Streamed, EngineError> {
        let origin = if tail.is_some() { "end" } else { "start" };
        let request = Request {
            object: &format!("logs of task {task} in allocation {allocation}"),
            path: &format!("client/fs/logs/{allocation}"),
            query: &[
                ("namespace", namespace),
                ("task", task),
                ("type", stream.name()),
                ("origin", origin),
                ("offset", &tail.unwrap_or(0).to_string()),
                ("plain", "true"),
                ("follow", "true"),
            ],
        };
        self.api.stream(request).await
    }

    /// Waits until a service or system job, as it is now, runs in full, its deployment successful and every check.
    ///
    /// A failed deployment may be reverted by Nomad to an older version, which is then healthy; so the version
    /// seen first is the one waited for.
    pub async fn wait_healthy(
        &self,
        namespace: &str,
        job: &str,
        deadline: Duration,
        on_progress: &mut dyn FnMut(&str),
    ) -> Result<Healthy, EngineError> {
        let object = format!("job {job}");
        let ends = Instant::now() + deadline;
        let version = self.job(namespace, job).await?.version;
        let mut index = 0;
        let mut said = String::new();
        loop {
            let wait = LOOK.min(ends.saturating_duration_since(Instant::now()));
            let latest: Indexed<Option<Deployment>> = self
                .get_after(
                    Request {
                        object: &object,
                        path: &format!("job/{job}/deployment"),
                        query: &[("namespace", namespace)],
                    },
                    index,
                    wait,
                )
                .await?;
            // Index 0 would not wait at all.
            index = latest.index.max(1);
            let words = match self.look(namespace, job, version, latest.value).await? {
                RolloutNow::Healthy(allocations) => return Ok(Healthy { version, allocations }),
                RolloutNow::Failed(words) => {
                    return Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words));
                }
                RolloutNow::Waiting(words) => words,
            };
            if Instant::now() >= ends {
                let words = format!("not healthy after {} s: {words}", deadline.as_secs());
                return Err(EngineError::new(Layer::Nomad, ErrorKind::Timeout, object, words));
            }
            if said != words {
                on_progress(&words);
                said = words;
            }
        }
    }

    async fn look(
        &self,
        namespace: &str,
        name: &str,
        version: u64,
        latest: Option<Deployment>,
    ) -> Result<RolloutNow, EngineError> {
        let job = self.job(namespace, name).await?;
        let allocations = self.job_allocations(namespace, name).await?;
        let failed = |reason: String| {
            let trouble = allocations
                .iter()
                .filter(|found| found.job_version == version)
                .find_map(Allocation::trouble);
            RolloutNow::Failed(
                std::iter::once(reason)
                    .chain(trouble)
                    .collect::<Vec<_>>()
                    .join("; "),
            )
        };
        if job.version != version {
            return Ok(failed(format!(
                "version {} replaced version {version}",
                job.version
            )));
        }
        if job.stop {
            return Ok(failed("it is stopped".to_owned()));
        }
        // What the API calls the latest may still be that of the version before, or of a purged namesake.
        let deployment = latest.filter(|deployment| {
            deployment.job_version == job.version && deployment.job_create_index == job.create_index
        });
        match deployment {
            Some(deployment) if matches!(deployment.status.as_str(), "failed" | "cancelled") => {
                return Ok(failed(deployment.status_description));
            }
            Some(deployment) if deployment.status != "successful" => {
                return Ok(RolloutNow::Waiting(
                    self.why_not_yet(namespace, &job, &allocations).await?,
                ));
            }
            Some(_) => {}
            // Where nothing had to be placed anew there is no deployment, and the evaluation decides.
            None => {
                let evaluations = self.job_evaluations(namespace, name).await?;
                let current = evaluations
                    .iter()
                    .find(|found| found.job_modify_index == job.job_modify_index);
                // One with a deployment ended after the deployments were read: they must be read again.
                if current.is_none_or(|found| found.status != "complete" || !found.deployment_id.is_empty()) {
                    return Ok(RolloutNow::Waiting(
                        self.why_not_yet(namespace, &job, &allocations).await?,
                    ));
                }
            }
        }
        let running: Vec<Allocation> = allocations
            .iter()
            // An instance of the version before may run on for a moment; it proves nothing of this one.
            .filter(|found| found.is_running() && found.job_version == version)
            .cloned()
            .collect();
        let wanted = match job.r#type.as_str() {
            "system" => current_and_wanted(&allocations, version),
            _ => job.desired() as usize,
        };
        if running.is_empty() || running.len() < wanted {
            return Ok(RolloutNow::Waiting(
                self.why_not_yet(namespace, &job, &allocations).await?,
            ));
        }
        for allocation in &running {
            for check in self.allocation_checks(namespace, &allocation.id).await? {
                if check.status != "success" {
                    // What it got is left out: these words are kept, and a page may hold a secret.
                    let words = format!("the check of service {} does not pass", check.service);
                    return Ok(RolloutNow::Waiting(words));
                }
            }
        }
        Ok(RolloutNow::Healthy(running))
    }

    async fn why_not_yet(
        &self,
        namespace: &str,
        job: &Job,
        found: &[Allocation],
    ) -> Result<String, EngineError> {
        let evaluations = self.job_evaluations(namespace, &job.id).await?;
        let running = found.iter().filter(|allocation| allocation.is_running()).count() as u64;
        if running < job.desired()
            && let Some((group, unplaced)) = evaluations.iter().find_map(|found| found.unplaced.iter().next())
        {
            return Ok(format!("group {group} cannot be placed: {}", unplaced.words()));
        }
        let current = found
            .iter()
            .find(|allocation| allocation.job_version == job.version);
        let trouble = current
            .and_then(Allocation::trouble)
            .map(|words| format!("; {words}"))
            .unwrap_or_default();
        Ok(format!(
            "{running} of {} allocations running{trouble}",
            job.desired()
        ))
    }

    async fn get_of<T: DeserializeOwned>(
        &self,
        namespace: &str,
        object: &str,
        path: &str,
    ) -> Result<T, EngineError> {
        self.get(Request {
            object,
            path,
            query: &[("namespace", namespace)],
        })
        .await
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        method: Method,
        request: Request<'_>,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<Indexed<T>, EngineError> {
        let (text, index) = self.send(method, request, body, deadline).await?;
        Ok(Indexed {
            value: read_json(Layer::Nomad, request.object, &text)?,
            index,
        })
    }

    async fn send(
        &self,
        method: Method,
        request: Request<'_>,
        body: Option<&Value>,
        deadline: Duration,
    ) -> Result<(String, u64), EngineError> {
        let answer = self.api.send(method, request, body, deadline).await?;
        if !answer.status.is_success() {
            return Err(read_refusal(request.object, answer.status, &answer.text));
        }
        let index = answer
            .headers
            .get("X-Nomad-Index")
            .and_then(|header| header.to_str().ok())
            .and_then(|header| header.parse().ok())
            .unwrap_or(0);
        Ok((answer.text, index))
    }
}

/// How many instances of this version Nomad wants to run: of a system job it made one for each node.
fn current_and_wanted(allocations: &[Allocation], version: u64) -> usize {
    let wanted = allocations.iter().filter(|one| one.desired_status == "run");
    wanted.filter(|one| one.job_version == version).count()
}

enum RolloutNow {
    Healthy(Vec<Allocation>),
    Waiting(String),
    Failed(String),
}

pub(crate) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Nomad counts names and values, and answers a larger variable as if it were no variable at all.
fn refuse_too_large(path: &str, items: &BTreeMap<&str, &str>) -> Result<(), EngineError> {
    let size: usize = items.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size <= LARGEST_VARIABLE {
        return Ok(());
    }
    let words = format!(
        "its values have {size} bytes together, and Nomad keeps at most {LARGEST_VARIABLE} in one variable"
    );
    Err(
        EngineError::new(Layer::Nomad, ErrorKind::Refused, format!("variable {path}"), words).with_hint(
            "Give a shorter value: all secrets of a component are one variable. In the full profile Vault keeps them",
        ),
    )
}

fn read_refusal(object: &str, status: StatusCode, body: &str) -> EngineError {
    let error = |kind, words: &str| EngineError::new(Layer::Nomad, kind, object, words);
    match status {
        StatusCode::NOT_FOUND => error(ErrorKind::NotFound, body),
        // The body is what somebody else wrote meanwhile: of a variable, its values.
        StatusCode::CONFLICT => error(ErrorKind::Conflict, "another client changed it meanwhile"),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            error(ErrorKind::Refused, body).with_hint("Check the token that eos.toml names for Nomad")
        }
        StatusCode::BAD_REQUEST => error(ErrorKind::Invalid, body),
        StatusCode::INTERNAL_SERVER_ERROR if body.contains("Enforcing job modify index") => {
            error(ErrorKind::Conflict, body)
        }
        StatusCode::INTERNAL_SERVER_ERROR if body.contains("No cluster leader") => {
            error(ErrorKind::Unreachable, body)
                .with_hint("Nomad is starting or has lost its majority: try again soon")
        }
        _ => error(ErrorKind::Failed, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_a_kind_and_never_somebody_elses_values() {
        let conflict =
            r#"{"Namespace":"default","Path":"nomad/jobs/web","ModifyIndex":20,"Items":{"password":"v1"}}"#;
        let cases = [
            (404, "job not found", ErrorKind::NotFound, "job not found"),
            (
                409,
                conflict,
                ErrorKind::Conflict,
                "another client changed it meanwhile",
            ),
            (403, "Permission denied", ErrorKind::Refused, "Permission denied"),
            (
                400,
                "Failed to parse job: input.hcl:1,9-10: Unclosed configuration block; ...",
                ErrorKind::Invalid,
                "Failed to parse job: input.hcl:1,9-10: Unclosed configuration block; ...",
            ),
            (
                500,
                "Enforcing job modify index 3: job exists with conflicting job modify index: 11",
                ErrorKind::Conflict,
                "Enforcing job modify index 3: job exists with conflicting job modify index: 11",
            ),
            (
                500,
                "No cluster leader",
                ErrorKind::Unreachable,
                "No cluster leader",
            ),
            (
                500,
                "rpc error: something",
                ErrorKind::Failed,
                "rpc error: something",
            ),
        ];
        for (status, body, kind, words) in cases {
            let error = read_refusal("job web", StatusCode::from_u16(status).unwrap(), body);
            assert_eq!(
                (error.layer, error.kind, error.words.as_str()),
                (Layer::Nomad, kind, words)
            );
        }
    }

    #[test]
    fn an_answer_that_is_not_understood_is_not_quoted() {
        let error = read_json::<Variable>(
            Layer::Nomad,
            "variable x",
            r#"{"Path":"x","ModifyIndex":"hunter2"}"#,
        )
        .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn null_is_an_empty_list() {
        let plan = r#"{"Annotations":{"DesiredTGUpdates":{"web":{"Ignore":1}},"PreemptedAllocs":null},"FailedTGAllocs":null,"JobModifyIndex":28,"CreatedEvals":null,"Diff":{"Type":"None","ID":"web","Fields":null,"Objects":null,"TaskGroups":[]},"NextPeriodicLaunch":null,"Warnings":"","Index":28}"#;
        let plan: JobPlan = read_json(Layer::Nomad, "plan", plan).unwrap();
        assert_eq!((plan.job_modify_index, plan.unplaced.len()), (28, 0));
        assert_eq!(plan.diff["Type"], "None");
        let nothing: Option<Deployment> = read_json(Layer::Nomad, "deployment", "null").unwrap();
        assert!(nothing.is_none());
        let () = read_json(Layer::Nomad, "variable x", "").unwrap();
    }

    #[test]
    fn a_job_that_cannot_be_placed_says_why() {
        let plan = r#"{"FailedTGAllocs":{"web":{"NodesEvaluated":1,"NodesExhausted":1,"ConstraintFiltered":null,"DimensionExhausted":{"memory":1}}},"JobModifyIndex":0,"Diff":{"Type":"Added"}}"#;
        let plan: JobPlan = read_json(Layer::Nomad, "plan", plan).unwrap();
        assert_eq!(plan.unplaced["web"].words(), "too little memory (1 of 1 nodes)");
        let volume = r#"{"NodesEvaluated":1,"NodesFiltered":1,"ConstraintFiltered":{"missing compatible host volumes":1},"DimensionExhausted":null}"#;
        let volume: Unplaced = read_json(Layer::Nomad, "plan", volume).unwrap();
        assert_eq!(volume.words(), "missing compatible host volumes (1 of 1 nodes)");
        let nobody: Unplaced = read_json(Layer::Nomad, "plan", r#"{"NodesEvaluated":0}"#).unwrap();
        assert_eq!(nobody.words(), "no node is ready for it");
    }

    #[test]
    fn an_allocation_tells_its_last_trouble() {
        let allocation = r#"{"ID":"c0226f24","Name":"web.web[0]","NodeID":"8dc3a10b","NodeName":"vm","JobID":"web","JobVersion":0,"TaskGroup":"web","DesiredStatus":"run","ClientStatus":"pending","ClientDescription":"","DeploymentStatus":null,"CreateTime":1794775027992700400,
            "TaskStates":{"http":{"State":"pending","Failed":false,"Restarts":0,"Events":[
                {"Type":"Received","Time":1,"DisplayMessage":"Task received by client"},
                {"Type":"Template","Time":3,"DisplayMessage":"Missing: vault.read(secret/data/default/web/db)"},
                {"Type":"Task Setup","Time":4,"DisplayMessage":"Building Task Directory"}]},
             "proxy":{"State":"pending","Events":null}}}"#;
        let allocation: Allocation = read_json(Layer::Nomad, "allocation", allocation).unwrap();
        assert!(!allocation.is_running());
        assert_eq!(allocation.healthy(), None);
        assert_eq!(
            allocation.trouble().unwrap(),
            "task http: Template: Missing: vault.read(secret/data/default/web/db)"
        );
    }

    #[test]
    fn checks_and_services_are_read() {
        let checks = r#"{"3e7b":{"ID":"3e7b","Mode":"healthiness","Status":"success","StatusCode":200,"Output":"nomad: http ok","Timestamp":1794775032,"Group":"web.web[0]","Task":"","Service":"web","Check":"alive"}}"#;
        let checks: BTreeMap<String, Check> = read_json(Layer::Nomad, "checks", checks).unwrap();
        assert_eq!(
            (checks["3e7b"].name.as_str(), checks["3e7b"].status.as_str()),
            ("alive", "success")
        );
        let services = r#"[{"ID":"_nomad-task-c022","ServiceName":"web","Namespace":"default","NodeID":"8dc3","Datacenter":"dc1","JobID":"web","AllocID":"c022","Tags":[],"Address":"127.0.0.1","Port":30078,"CreateIndex":14,"ModifyIndex":14}]"#;
        let services: Vec<Service> = read_json(Layer::Nomad, "service", services).unwrap();
        assert_eq!(
            (services[0].address.as_str(), services[0].port),
            ("127.0.0.1", 30078)
        );
    }
}
