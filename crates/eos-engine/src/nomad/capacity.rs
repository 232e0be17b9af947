//! What is free on the nodes that take allocations.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{NomadClient, Request, null_is_empty};
use crate::error::EngineError;

/// What one node has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// In MiB.
    pub memory: i64,
    /// In MHz.
    pub cpu: i64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Resources {
    cpu: Cpu,
    memory: Memory,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Cpu {
    cpu_shares: i64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Memory {
    #[serde(rename = "MemoryMB")]
    mib: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Node {
    #[serde(rename = "ID")]
    id: String,
    status: String,
    scheduling_eligibility: String,
    #[serde(default)]
    node_resources: Resources,
    #[serde(default)]
    reserved_resources: Option<Resources>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Placed {
    #[serde(rename = "NodeID")]
    node_id: String,
    #[serde(rename = "JobID")]
    job_id: String,
    namespace: String,
    client_status: String,
    #[serde(default)]
    allocated_resources: Option<Allocated>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Allocated {
    #[serde(default, deserialize_with = "null_is_empty")]
    tasks: BTreeMap<String, Resources>,
}

impl NomadClient {
    /// What each eligible node has left for a job, whose own instances would make room.
    pub async fn capacity(&self, namespace: &str, job: &str) -> Result<Vec<Capacity>, EngineError> {
        let nodes = self.get::<Vec<Node>>(Request {
            object: "nodes",
            path: "nodes",
            query: &[("resources", "true")],
        });
        let placed = self.get::<Vec<Placed>>(Request {
            object: "allocations",
            path: "allocations",
            query: &[("namespace", "*"), ("resources", "true")],
        });
        let (nodes, placed) = tokio::try_join!(nodes, placed)?;
        let is_another = |one: &&Placed| (one.namespace.as_str(), one.job_id.as_str()) != (namespace, job);
        let uses = |one: &&Placed| matches!(one.client_status.as_str(), "running" | "pending");
        let taking = nodes
            .iter()
            .filter(|node| node.status == "ready" && node.scheduling_eligibility == "eligible");
        Ok(taking
            .map(|node| {
                let others = placed.iter().filter(is_another).filter(uses);
                let used = others
                    .filter(|one| one.node_id == node.id)
                    .filter_map(|one| one.allocated_resources.as_ref())
                    .flat_map(|allocated| allocated.tasks.values())
                    .chain(node.reserved_resources.as_ref());
                used.fold(
                    Capacity {
                        memory: node.node_resources.memory.mib,
                        cpu: node.node_resources.cpu.cpu_shares,
                    },
                    |left, used| Capacity {
                        memory: left.memory - used.memory.mib,
                        cpu: left.cpu - used.cpu.cpu_shares,
                    },
                )
            })
            .collect())
    }
}
