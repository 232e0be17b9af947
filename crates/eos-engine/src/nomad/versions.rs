//! The versions of a job that Nomad remembers, with what a group of one asks for.

use serde::Deserialize;

use super::{NomadClient, null_is_empty};
use crate::error::EngineError;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct JobVersion {
    #[serde(rename = "ID")]
    pub id: String,
    pub version: u64,
    pub job_modify_index: u64,
    /// Nanoseconds since 1970, by the clock of the server.
    #[serde(default)]
    pub submit_time: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub task_groups: Vec<TaskGroup>,
}

impl JobVersion {
    pub fn desired(&self) -> u64 {
        self.task_groups.iter().map(|group| group.count).sum()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TaskGroup {
    pub name: String,
    pub count: u64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub tasks: Vec<Task>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub services: Vec<GroupService>,
    #[serde(default)]
    pub update: Option<GroupUpdate>,
}

/// How a new version of a group takes the place of the old one.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupUpdate {
    /// Nanoseconds that an instance has to be healthy.
    #[serde(default)]
    pub healthy_deadline: u64,
}

impl TaskGroup {
    /// What one instance asks for, in MiB.
    pub fn memory(&self) -> u64 {
        self.tasks.iter().map(|task| task.resources.memory).sum()
    }

    /// In MHz.
    pub fn cpu(&self) -> u64 {
        self.tasks.iter().map(|task| task.resources.cpu).sum()
    }

    pub fn drivers(&self) -> Vec<String> {
        let mut drivers: Vec<String> = self.tasks.iter().map(|task| task.driver.clone()).collect();
        drivers.sort();
        drivers.dedup();
        drivers
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Task {
    pub name: String,
    #[serde(default)]
    pub driver: String,
    #[serde(default)]
    pub resources: Reserved,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Reserved {
    #[serde(rename = "CPU", default)]
    pub cpu: u64,
    #[serde(rename = "MemoryMB", default)]
    pub memory: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupService {
    pub name: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub checks: Vec<GroupCheck>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupCheck {
    pub r#type: String,
    #[serde(default)]
    pub path: String,
    #[serde(default)]
    pub command: String,
}

impl GroupCheck {
    /// `check GET /health`
    pub fn words(&self) -> String {
        match self.r#type.as_str() {
            "http" => format!("check GET {}", self.path),
            "script" => format!("check by {}", self.command),
            kind => format!("check {kind}"),
        }
    }
}

impl NomadClient {
    /// The newest version comes first. Nomad remembers the last six.
    pub async fn job_versions(&self, namespace: &str, job: &str) -> Result<Vec<JobVersion>, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Listing {
            #[serde(default, deserialize_with = "null_is_empty")]
            versions: Vec<JobVersion>,
        }
        let object = format!("versions of job {job}");
        let answer: Listing = self
            .get_of(namespace, &object, &format!("job/{job}/versions"))
            .await?;
        Ok(answer.versions)
    }
}
