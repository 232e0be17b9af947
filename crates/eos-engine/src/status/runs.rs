//! Jobs that do not run for good: how the last run ended, and what a failed one wrote last.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::nomad::NomadNow;
use super::{Trouble, moment};
use crate::diagnose::Hidden;
use crate::engines::Engines;
use crate::nomad::{Allocation, ListedJob, LogStream};

/// So much is read from the end of what a failed run wrote, and so many lines of it are shown.
const BYTES: u64 = 2000;
const LINES: usize = 3;

/// What a component's job is that runs to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Runs {
    /// Nomad starts it at set times.
    pub scheduled: bool,
    pub last: Option<LastRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LastRun {
    /// The job in Nomad that it is.
    pub job: String,
    pub began: Option<Timestamp>,
    pub outcome: RunOutcome,
    /// The last lines that a failed one wrote, without secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    Running,
    Ended,
    Failed,
}

impl RunOutcome {
    pub fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ended => "ended well",
            Self::Failed => "failed",
        }
    }
}

impl Runs {
    /// Of the job of this name, if it runs to its end. Nomad forgets one that ran `once`, some time after its end.
    pub(super) fn of(asked: &NomadNow, name: &str, once: bool) -> Option<Self> {
        let job = asked.listed(name);
        let scheduled = match job {
            Some(job) if job.kind == "batch" => job.periodic,
            None if once => false,
            Some(_) | None => return None,
        };
        let last = match scheduled {
            true => asked.runs(name).max_by_key(|run| run.submit_time),
            false => job,
        };
        Some(Self {
            scheduled,
            last: last.map(|run| LastRun::of(asked, run)),
        })
    }

    /// What is wrong with it; a run that failed is, until one ends well.
    pub(super) fn trouble(&self, asked: &NomadNow, name: &str, more: &str) -> Option<Trouble> {
        let failed = self
            .last
            .as_ref()
            .filter(|last| last.outcome == RunOutcome::Failed)?;
        let instances = newest(asked.allocations_of(&failed.job));
        let stopped = instances.iter().any(|one| one.was_stopped());
        let why = match stopped {
            true => Some("somebody stopped it before its end".to_owned()),
            false => instances.into_iter().find_map(Allocation::trouble),
        };
        let words = match why {
            Some(why) => format!("its last run failed: {why}"),
            None => "its last run failed".to_owned(),
        };
        Some(Trouble::new(name, words, format!("eos logs {name}{more}")))
    }

    /// Reads what the last run wrote, if it failed. Without the secrets to hide nothing is shown.
    pub(super) async fn read_lines(
        &mut self,
        engines: &Engines,
        environment: &str,
        component: &str,
        asked: &NomadNow,
    ) {
        let Some(last) = self
            .last
            .as_mut()
            .filter(|last| last.outcome == RunOutcome::Failed)
        else {
            return;
        };
        let instances = asked.allocations_of(&last.job);
        let failed = instances.into_iter().find(|one| one.client_status == "failed");
        let Some(failed) = failed else { return };
        let Ok(hidden) = Hidden::of(engines, environment, component, &[]).await else {
            return;
        };
        let tasks = failed.task_states.iter().filter(|(_, run)| run.failed);
        for (task, _) in tasks {
            for stream in [LogStream::Stderr, LogStream::Stdout] {
                let written = engines.nomad.logs(environment, &failed.id, task, stream, BYTES);
                let text = hidden.mask(&written.await.unwrap_or_default());
                let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
                let lines = &lines[lines.len().saturating_sub(LINES)..];
                if !lines.is_empty() {
                    last.lines = lines.iter().map(|line| (*line).to_owned()).collect();
                    return;
                }
            }
        }
    }
}

/// Those of the newest version: how one before it ended says nothing of this one.
fn newest(instances: Vec<&Allocation>) -> Vec<&Allocation> {
    let version = instances.iter().map(|one| one.job_version).max();
    let own = instances.into_iter();
    own.filter(|one| Some(one.job_version) == version).collect()
}

fn outcome(run: &ListedJob, instances: &[&Allocation]) -> RunOutcome {
    let groups: BTreeSet<&str> = instances.iter().map(|one| one.task_group.as_str()).collect();
    let has_ended = |group: &&str| {
        let mut own = instances.iter().filter(|one| one.task_group == **group);
        own.any(|one| one.ended_well())
    };
    if run.is_open() || instances.iter().any(|one| one.is_running()) {
        return RunOutcome::Running;
    }
    // Nomad forgets instances before their job.
    let has_failed = match groups.is_empty() {
        true => run.has_failed(),
        false => !groups.iter().all(has_ended),
    };
    match has_failed {
        true => RunOutcome::Failed,
        false => RunOutcome::Ended,
    }
}

impl LastRun {
    fn of(asked: &NomadNow, run: &ListedJob) -> Self {
        let outcome = outcome(run, &newest(asked.allocations_of(&run.id)));
        Self {
            job: run.id.clone(),
            began: moment(run.submit_time),
            outcome,
            lines: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn instance(version: u64, group: &str, desired: &str, client: &str) -> Allocation {
        let text = json!({"ID": client, "Name": "once", "NodeID": "1", "JobID": "once", "JobVersion": version,
            "TaskGroup": group, "DesiredStatus": desired, "ClientStatus": client});
        serde_json::from_value(text).unwrap()
    }

    fn job(status: &str, groups: serde_json::Value) -> ListedJob {
        let text =
            json!({"ID": "once", "Type": "batch", "Status": status, "JobSummary": {"Summary": groups}});
        serde_json::from_value(text).unwrap()
    }

    fn told(status: &str, instances: &[Allocation]) -> RunOutcome {
        let counted = json!({"once": {"Complete": 1, "Failed": 1}});
        outcome(&job(status, counted), &newest(instances.iter().collect()))
    }

    #[test]
    fn the_newest_version_says_how_the_last_run_ended() {
        let ended = instance(1, "once", "run", "complete");
        let failed = instance(2, "once", "run", "failed");
        assert_eq!(told("dead", &[ended.clone(), failed.clone()]), RunOutcome::Failed);
        let again = instance(3, "once", "run", "complete");
        assert_eq!(told("dead", &[ended, failed, again]), RunOutcome::Ended);
    }

    #[test]
    fn what_somebody_stopped_did_not_end_well() {
        let stopped = instance(1, "once", "stop", "complete");
        assert_eq!(told("dead", std::slice::from_ref(&stopped)), RunOutcome::Failed);
        let other = instance(1, "other", "run", "complete");
        assert_eq!(told("dead", &[other, stopped]), RunOutcome::Failed);
    }

    #[test]
    fn what_is_told_to_stop_runs_until_its_tasks_have_ended() {
        let ending = json!({"once": {"Running": 1}});
        assert_eq!(outcome(&job("dead", ending.clone()), &[]), RunOutcome::Running);
        assert!(job("dead", ending).is_open() && !job("dead", json!({})).is_open());
    }

    #[test]
    fn without_instances_the_summary_says_it() {
        assert_eq!(
            outcome(&job("dead", json!({"once": {"Failed": 1}})), &[]),
            RunOutcome::Failed
        );
        assert_eq!(
            outcome(&job("dead", json!({"once": {"Complete": 1}})), &[]),
            RunOutcome::Ended
        );
    }
}
