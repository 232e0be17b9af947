//! All there is of a kind in one namespace, by one request each, and what Nomad says of its own health.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Allocation, Evaluation, Node, NomadClient, null_is_empty};
use crate::error::EngineError;
use crate::http::Request;

/// One job as Nomad lists those that run, with how many instances it asks for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct JobStatus {
    #[serde(rename = "ID")]
    pub id: String,
    /// `service`, `batch`, `system`, `sysbatch`.
    pub r#type: String,
    /// `pending`, `running`, `dead`.
    pub status: String,
    #[serde(default)]
    pub stop: bool,
    pub version: u64,
    #[serde(rename = "GroupCountSum", default)]
    pub desired: u64,
    #[serde(default)]
    pub latest_deployment: Option<LatestDeployment>,
}

/// One job as Nomad lists all of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListedJob {
    #[serde(rename = "ID")]
    pub id: String,
    /// The job that it is a run of; empty for any other.
    #[serde(rename = "ParentID", default)]
    pub parent: String,
    /// `service`, `batch`, `system`, `sysbatch`.
    #[serde(rename = "Type")]
    pub kind: String,
    /// Whether Nomad starts it at set times.
    #[serde(default)]
    pub periodic: bool,
    /// `pending`, `running`, `dead`.
    pub status: String,
    /// When it was registered; of a run, when it began. In nanoseconds.
    #[serde(default)]
    pub submit_time: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub meta: BTreeMap<String, String>,
    #[serde(default)]
    pub job_summary: Option<JobSummary>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct JobSummary {
    /// By task group.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub summary: BTreeMap<String, GroupSummary>,
}

/// How many instances of a group are in each state.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupSummary {
    #[serde(default)]
    pub starting: u64,
    #[serde(default)]
    pub running: u64,
    #[serde(default)]
    pub complete: u64,
    #[serde(default)]
    pub failed: u64,
    #[serde(default)]
    pub lost: u64,
}

impl ListedJob {
    /// Whether it ended otherwise than well, as far as Nomad knows without its instances: a version before counts as well.
    pub fn has_failed(&self) -> bool {
        self.groups()
            .any(|group| group.failed + group.lost > 0 && group.complete == 0)
    }

    /// Whether some of it runs. Nomad calls a job dead that was told to stop, while its tasks are still ending.
    pub fn is_open(&self) -> bool {
        self.status != "dead" || self.groups().any(|group| group.running + group.starting > 0)
    }

    fn groups(&self) -> impl Iterator<Item = &GroupSummary> {
        let summary = self.job_summary.iter();
        summary.flat_map(|summary| summary.summary.values())
    }
}

impl JobStatus {
    /// Whether a deployment is yet to say what it thinks of the instances.
    pub fn is_deploying(&self) -> bool {
        self.latest_deployment
            .as_ref()
            .is_some_and(|deployment| deployment.is_active)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LatestDeployment {
    #[serde(default)]
    pub is_active: bool,
}

/// A server of Nomad, as the others know it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Member {
    pub name: String,
    /// `alive`, `failed`, `left`.
    pub status: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// The token that Nomad was asked with.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OwnToken {
    #[serde(rename = "AccessorID")]
    pub accessor: String,
    /// `client`, `management`.
    pub r#type: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub policies: Vec<String>,
    pub expiration_time: Option<jiff::Timestamp>,
}

impl OwnToken {
    /// Nomad answers even where it asks nobody for a token.
    pub fn is_needless(&self) -> bool {
        self.accessor == "acls-disabled"
    }
}

/// Nomad remembers for a day those that went away: one whose name is there again is no longer of interest.
pub fn current(mut nodes: Vec<Node>) -> Vec<Node> {
    let is_ready = |node: &Node| node.status == "ready";
    let ready: BTreeSet<String> = nodes
        .iter()
        .filter(|node| is_ready(node))
        .map(|node| node.name.clone())
        .collect();
    nodes.retain(|node| is_ready(node) || !ready.contains(&node.name));
    nodes.sort_by(|one, other| one.name.cmp(&other.name));
    nodes
}

impl NomadClient {
    /// The jobs of a namespace; a run of a periodic job is no job of its own.
    pub async fn job_statuses(&self, namespace: &str) -> Result<Vec<JobStatus>, EngineError> {
        self.get_of(namespace, "jobs", "jobs/statuses").await
    }

    /// All jobs of a namespace, with the runs of those that have a schedule.
    pub async fn listed_jobs(&self, namespace: &str) -> Result<Vec<ListedJob>, EngineError> {
        let request = Request {
            object: "jobs",
            path: "jobs",
            query: &[("namespace", namespace), ("meta", "true")],
        };
        self.get(request).await
    }

    /// The runs of a job with a schedule that have not ended yet.
    pub async fn runs_of(&self, namespace: &str, job: &str) -> Result<Vec<String>, EngineError> {
        let runs = self.all_runs(namespace, job).await?.into_iter();
        Ok(runs.filter(ListedJob::is_open).map(|run| run.id).collect())
    }

    /// The newest run of a job with a schedule that Nomad still knows.
    pub async fn last_run(&self, namespace: &str, job: &str) -> Result<Option<String>, EngineError> {
        let runs = self.all_runs(namespace, job).await?.into_iter();
        Ok(runs.max_by_key(|run| run.submit_time).map(|run| run.id))
    }

    async fn all_runs(&self, namespace: &str, job: &str) -> Result<Vec<ListedJob>, EngineError> {
        let request = Request {
            object: &format!("runs of job {job}"),
            path: "jobs",
            query: &[("namespace", namespace), ("prefix", &format!("{job}/"))],
        };
        let mut found: Vec<ListedJob> = self.get(request).await?;
        found.retain(|run| run.parent == job);
        Ok(found)
    }

    /// The newest allocation comes first.
    pub async fn allocations(&self, namespace: &str) -> Result<Vec<Allocation>, EngineError> {
        let mut found: Vec<Allocation> = self.get_of(namespace, "allocations", "allocations").await?;
        found.sort_by_key(|allocation| std::cmp::Reverse(allocation.create_time));
        Ok(found)
    }

    /// What waits for room on some node.
    pub async fn blocked_evaluations(&self, namespace: &str) -> Result<Vec<Evaluation>, EngineError> {
        self.get(Request {
            object: "evaluations",
            path: "evaluations",
            query: &[("namespace", namespace), ("status", "blocked")],
        })
        .await
    }

    /// The index of the last write to a variable, which whoever may list it is told.
    pub async fn variable_version(&self, namespace: &str, path: &str) -> Result<Option<u64>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Listed {
            path: String,
            modify_index: u64,
        }
        let request = Request {
            object: &format!("variable {path}"),
            path: "vars",
            query: &[("namespace", namespace), ("prefix", path)],
        };
        let found: Vec<Listed> = self.get(request).await?;
        let found = found.into_iter().find(|variable| variable.path == path);
        Ok(found.map(|variable| variable.modify_index))
    }

    /// Paths of the variables of a namespace.
    pub async fn variable_paths(&self, namespace: &str) -> Result<Vec<String>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Listed {
            path: String,
        }
        let found: Vec<Listed> = self.get_of(namespace, "variables", "vars").await?;
        Ok(found.into_iter().map(|one| one.path).collect())
    }

    /// Nomad's own health endpoint: what the agent that is asked says of itself where it is not well.
    pub async fn agent_health(&self) -> Result<Option<String>, EngineError> {
        #[derive(Deserialize)]
        struct Part {
            ok: bool,
            #[serde(default)]
            message: String,
        }
        let request = Request {
            object: "its health",
            path: "agent/health",
            query: &[],
        };
        // Of an agent that is only one of the two, the other is not there.
        let parts: BTreeMap<String, Option<Part>> = self.get(request).await?;
        let ill = parts
            .into_iter()
            .filter_map(|(name, part)| part.filter(|part| !part.ok).map(|part| (name, part)));
        let words: Vec<String> = ill
            .map(|(name, part)| format!("{name}: {}", part.message))
            .collect();
        Ok((!words.is_empty()).then(|| words.join("; ")))
    }

    /// The servers that know one another.
    pub async fn members(&self) -> Result<Vec<Member>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Listing {
            #[serde(default, deserialize_with = "null_is_empty")]
            members: Vec<Member>,
        }
        let request = Request {
            object: "servers",
            path: "agent/members",
            query: &[],
        };
        Ok(self.get::<Listing>(request).await?.members)
    }

    pub async fn own_token(&self) -> Result<OwnToken, EngineError> {
        self.get(Request {
            object: "the token of Eos",
            path: "acl/token/self",
            query: &[],
        })
        .await
    }
}
