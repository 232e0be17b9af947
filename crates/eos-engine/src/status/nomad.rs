//! Nomad: its nodes, its jobs, and its own health.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{LOOK, Seen, Trouble, counted};
use crate::engines::Engines;
use crate::error::EngineError;
use crate::nomad::{Allocation, JobStatus, ListedJob, Node};

/// What Nomad was asked for one environment.
pub(super) struct NomadNow {
    pub nodes: Vec<Node>,
    /// What the agent says of itself where it is not well.
    pub health: Option<String>,
    pub jobs: Vec<JobStatus>,
    pub listed: Vec<ListedJob>,
    pub allocations: Vec<Allocation>,
    /// Jobs of which a part finds no node -> why.
    pub unplaced: BTreeMap<String, String>,
}

pub(super) async fn ask(engines: &Engines, environment: &str) -> Result<NomadNow, EngineError> {
    let nomad = &engines.nomad;
    let (nodes, health, jobs, listed, allocations, blocked) = tokio::try_join!(
        nomad.nodes(),
        nomad.agent_health(),
        nomad.job_statuses(environment),
        nomad.listed_jobs(environment),
        nomad.allocations(environment),
        nomad.blocked_evaluations(environment),
    )?;
    let unplaced = blocked.into_iter().filter_map(|evaluation| {
        let (group, why) = evaluation.unplaced.iter().next()?;
        let words = format!("group {group} cannot be placed: {}", why.words());
        Some((evaluation.job_id.clone(), words))
    });
    Ok(NomadNow {
        nodes: crate::nomad::current(nodes),
        health,
        jobs,
        listed,
        allocations,
        unplaced: unplaced.collect(),
    })
}

impl NomadNow {
    pub fn job(&self, name: &str) -> Option<&JobStatus> {
        self.jobs.iter().find(|job| job.id == name)
    }

    pub fn listed(&self, name: &str) -> Option<&ListedJob> {
        self.listed.iter().find(|job| job.id == name)
    }

    /// The runs of a job with a schedule that Nomad still knows.
    pub fn runs<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ListedJob> {
        self.listed.iter().filter(move |job| job.parent == name)
    }

    pub fn allocations_of(&self, job: &str) -> Vec<&Allocation> {
        self.allocations.iter().filter(|one| one.job_id == job).collect()
    }

    pub fn seen(self) -> NomadSeen {
        let running_on = |node: &Node| {
            let there = |one: &&Allocation| one.node_id == node.id && one.is_running();
            self.allocations.iter().filter(there).count()
        };
        let healthy_drivers = |node: &Node| {
            let healthy = node.drivers.iter().filter(|(_, driver)| driver.healthy);
            healthy.map(|(name, _)| name.clone()).collect()
        };
        let nodes = self
            .nodes
            .iter()
            .map(|node| NodeStatus {
                node: node.name.clone(),
                id: node.id.clone(),
                status: node.status.clone(),
                eligible: node.scheduling_eligibility == "eligible",
                address: node.address.clone(),
                version: node.version.clone(),
                drivers: healthy_drivers(node),
                running: running_on(node),
            })
            .collect();
        let running_of = |job: &JobStatus| {
            let of_it = |one: &&Allocation| one.job_id == job.id && one.is_running();
            self.allocations.iter().filter(of_it).count()
        };
        let jobs = self
            .jobs
            .iter()
            .map(|job| JobRow {
                job: job.id.clone(),
                kind: job.r#type.clone(),
                status: job.status.clone(),
                desired: if job.stop { 0 } else { job.desired },
                running: running_of(job),
                version: job.version,
            })
            .collect();
        NomadSeen {
            nodes,
            jobs,
            health: self.health,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct NomadSeen {
    pub nodes: Vec<NodeStatus>,
    /// Of the environment, also those that Eos did not make.
    pub jobs: Vec<JobRow>,
    /// What the agent says of itself where it is not well.
    pub health: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct NodeStatus {
    pub node: String,
    #[serde(skip)]
    pub id: String,
    pub status: String,
    pub eligible: bool,
    pub address: String,
    pub version: String,
    pub drivers: Vec<String>,
    /// Instances of the environment there.
    pub running: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct JobRow {
    pub job: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub desired: u64,
    pub running: usize,
    pub version: u64,
}

impl Seen for NomadSeen {
    fn words(&self) -> String {
        let ready = self.nodes.iter().filter(|node| node.status == "ready").count();
        match ready == self.nodes.len() {
            true => counted(ready, "node"),
            false => format!("{ready} of {}", counted(self.nodes.len(), "node")),
        }
    }

    fn troubles(&self) -> Vec<Trouble> {
        let health = self.health.iter().map(|words| Trouble::new("nomad", words, LOOK));
        let nodes = self.nodes.iter().filter_map(|node| {
            let about = format!("node {}", node.node);
            match (node.status.as_str(), node.eligible) {
                ("ready", true) => None,
                ("ready", false) => Some(Trouble::new(about, "Nomad places nothing new there", LOOK)),
                (status, _) => Some(Trouble::new(about, status, LOOK)),
            }
        });
        health.chain(nodes).collect()
    }
}
