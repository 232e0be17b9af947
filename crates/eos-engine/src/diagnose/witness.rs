//! What checks and tasks said while a step ran. Nomad and Consul forget it together with the instance: as soon as Nomad
//! goes back to the version before, and the log of a failed one at once where the disk of its host is nearly full.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eos_core::kinds::Made;
use eos_core::plan::{Step, Work};

use super::answered;
use super::instance::TAIL;
use crate::discovery::Discovery;
use crate::engines::Engines;
use crate::nomad::{Allocation, Check, JobVersion, LogStream};

/// Long enough that a deployment that goes well is mostly not looked at.
const BETWEEN_LOOKS: Duration = Duration::from_secs(4);

/// Remembers the checks that did not pass, and what tasks wrote that were started again.
#[derive(Default)]
pub struct Witness {
    /// By allocation. What is in it may hold a secret.
    seen: Mutex<BTreeMap<String, Seen>>,
}

#[derive(Default)]
struct Seen {
    failing: Vec<Check>,
    /// The tail of each log, by task.
    wrote: BTreeMap<(String, LogStream), String>,
}

impl Witness {
    /// Does the work of a step, and looks on. `on_progress` is given what tasks do before they run.
    pub async fn during<T>(
        &self,
        engines: &Engines,
        step: &Step,
        on_progress: &mut dyn FnMut(&str),
        work: impl Future<Output = T>,
    ) -> T {
        if !matches!(step.work, Work::Make(Made::Workspace(_))) {
            return work.await;
        }
        tokio::select! {
            biased;
            ended = work => ended,
            never = self.look_on(engines, step, on_progress) => match never {},
        }
    }

    pub(super) fn failing(&self, allocation: &str) -> Vec<Check> {
        let seen = self.seen();
        seen.get(allocation)
            .map_or_else(Vec::new, |seen| seen.failing.clone())
    }

    pub(super) fn wrote(&self, allocation: &str, task: &str, stream: LogStream) -> Option<String> {
        let seen = self.seen();
        seen.get(allocation)?
            .wrote
            .get(&(task.to_owned(), stream))
            .cloned()
    }

    async fn look_on(&self, engines: &Engines, step: &Step, on_progress: &mut dyn FnMut(&str)) -> Infallible {
        let mut pulling = Pulling::default();
        loop {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            let (namespace, job) = (&step.environment, &step.component);
            let versions = answered(engines.nomad.job_versions(namespace, job)).await;
            let versions = versions.into_iter().flatten();
            if let Some(newest) = versions.max_by_key(|version| version.version) {
                self.look_at_checks(engines, namespace, &newest).await;
                let starting = starting(engines, namespace, &newest).await;
                if let Some(words) = pulling.change(&starting) {
                    on_progress(&words);
                }
                self.look_at_tasks(engines, namespace, &starting).await;
            }
        }
    }

    async fn look_at_checks(&self, engines: &Engines, namespace: &str, job: &JobVersion) {
        for service in job.task_groups.iter().flat_map(|group| &group.services) {
            let instances = answered(engines.discovery().instances(&service.name, namespace)).await;
            for mut instance in instances.unwrap_or_default() {
                instance.checks.retain(|check| check.status == "failure");
                if !instance.checks.is_empty() {
                    self.seen().entry(instance.allocation).or_default().failing = instance.checks;
                }
            }
        }
    }

    async fn look_at_tasks(&self, engines: &Engines, namespace: &str, starting: &[Allocation]) {
        for one in starting {
            let again = one.task_states.iter().filter(|(_, run)| run.restarts > 0);
            for task in again.map(|(task, _)| task) {
                for stream in [LogStream::Stderr, LogStream::Stdout] {
                    let log = engines.nomad.logs(namespace, &one.id, task, stream, TAIL);
                    if let Some(text) = answered(log).await.filter(|text| !text.is_empty()) {
                        let mut seen = self.seen();
                        let wrote = &mut seen.entry(one.id.clone()).or_default().wrote;
                        wrote.insert((task.clone(), stream), text);
                    }
                }
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Seen>> {
        // Nothing that panics runs while it is held.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The instances of a version that are not healthy yet.
async fn starting(engines: &Engines, namespace: &str, job: &JobVersion) -> Vec<Allocation> {
    let allocations = answered(engines.nomad.job_allocations(namespace, &job.id)).await;
    let of_version = |one: &Allocation| one.job_version == job.version && one.healthy() != Some(true);
    allocations.into_iter().flatten().filter(of_version).collect()
}

/// The pulls of images that were last reported.
#[derive(Default)]
struct Pulling {
    said: Vec<String>,
}

impl Pulling {
    /// What a person is to be told now, if it is something new.
    fn change(&mut self, starting: &[Allocation]) -> Option<String> {
        let mut pulls: Vec<String> = starting.iter().flat_map(Allocation::pulls).collect();
        pulls.dedup();
        if pulls == self.said {
            return None;
        }
        self.said = pulls;
        Some(match self.said.is_empty() {
            true => "images are pulled, tasks start".to_owned(),
            false => self.said.join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn allocation(events: Value) -> Allocation {
        let run = json!({"State": "pending", "Failed": false, "Restarts": 0, "Events": events});
        let one = json!({"ID": "a1", "Name": "web.web[0]", "NodeID": "n1", "JobID": "web", "JobVersion": 0,
            "TaskGroup": "web", "DesiredStatus": "run", "ClientStatus": "pending", "TaskStates": {"web": run}});
        serde_json::from_value(one).unwrap()
    }

    #[test]
    fn a_pull_is_reported_once_and_so_is_its_end() {
        let pull =
            json!({"Type": "Driver", "DisplayMessage": "Downloading image", "Details": {"image": "web:1"}});
        let started = json!({"Type": "Started", "DisplayMessage": "Task started by client"});
        let mut pulling = Pulling::default();
        let mut change = |events: Value| pulling.change(&[allocation(events)]);
        assert_eq!(change(json!([])), None);
        assert_eq!(
            change(json!([pull])).as_deref(),
            Some("task web pulls image web:1")
        );
        assert_eq!(change(json!([pull])), None);
        let words = change(json!([pull, started]));
        assert_eq!(words.as_deref(), Some("images are pulled, tasks start"));
        assert_eq!(change(json!([pull, started])), None);
    }
}
