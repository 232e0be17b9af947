//! What checks said while a step ran. Nomad and Consul forget it together with the instance, which is gone as soon as
//! Nomad goes back to the version before.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eos_core::plan::{Step, Work};

use super::answered;
use crate::discovery::Discovery;
use crate::engines::Engines;
use crate::nomad::Check;

/// Long enough that a deployment that goes well is mostly not looked at.
const BETWEEN_LOOKS: Duration = Duration::from_secs(4);

/// Remembers, for one step, the checks that did not pass.
#[derive(Default)]
pub struct Witness {
    /// Allocation -> its checks as they last failed. Their output may hold a secret.
    failing: Mutex<BTreeMap<String, Vec<Check>>>,
}

impl Witness {
    /// Does the work of a step, and looks on.
    pub async fn during<T>(&self, engines: &Engines, step: &Step, work: impl Future<Output = T>) -> T {
        if !matches!(step.work, Work::Workspace { .. }) {
            return work.await;
        }
        tokio::select! {
            biased;
            ended = work => ended,
            never = self.look_on(engines, step) => match never {},
        }
    }

    pub(super) fn failing(&self, allocation: &str) -> Vec<Check> {
        self.all().get(allocation).cloned().unwrap_or_default()
    }

    async fn look_on(&self, engines: &Engines, step: &Step) -> Infallible {
        loop {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            self.look(engines, step).await;
        }
    }

    async fn look(&self, engines: &Engines, step: &Step) {
        let (namespace, job) = (&step.environment, &step.component);
        let versions = answered(engines.nomad.job_versions(namespace, job)).await;
        let newest = versions
            .into_iter()
            .flatten()
            .max_by_key(|version| version.version);
        let groups = newest.into_iter().flat_map(|version| version.task_groups);
        for service in groups.flat_map(|group| group.services) {
            let instances = answered(engines.discovery().instances(&service.name, namespace)).await;
            for mut instance in instances.unwrap_or_default() {
                instance.checks.retain(|check| check.status == "failure");
                if !instance.checks.is_empty() {
                    self.all().insert(instance.allocation, instance.checks);
                }
            }
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Check>>> {
        // Nothing that panics runs while it is held.
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
