//! What became of a job in Nomad: which version failed, and by which instance; what is registered of it, or left of it.

use eos_core::kinds::job::Expected;
use jiff::Timestamp;

use super::{Diagnosis, Inquiry, answered, plural, short};
use crate::discovery::Discovery;
use crate::error::{ErrorKind, Layer};
use crate::nomad::{Allocation, JobVersion};

/// Between the clocks of a minion and of Nomad.
const SKEW_MS: i64 = 1000;

impl Inquiry<'_> {
    /// Finds what is wrong with the job, if anything is: an instance that failed, or one that found no place.
    ///
    /// Nomad, and then Terraform, may have gone back to an earlier version since; the one that failed is then the first
    /// that was registered after the step began.
    pub(super) async fn job(&self, since: Option<Timestamp>, found: &mut Diagnosis) -> Option<()> {
        let nomad = &self.engines.nomad;
        let (namespace, name) = (&self.failed.step.environment, &self.failed.step.component);
        let (versions, allocations, evaluations) = tokio::join!(
            answered(nomad.job_versions(namespace, name)),
            answered(nomad.job_allocations(namespace, name)),
            answered(nomad.job_evaluations(namespace, name)),
        );
        let versions = versions?;
        let (job, is_new) = failed_version(&versions, since)?;
        let own: Vec<Allocation> = allocations?
            .into_iter()
            .filter(|one| one.job_version == job.version && (is_new || one.desired_status == "run"))
            .collect();
        if let Some(worst) = own
            .iter()
            .filter(|one| one.is_bad())
            .max_by_key(|one| badness(one))
        {
            self.instance(job, worst, found).await;
            return Some(());
        }
        let unplaced = evaluations?
            .into_iter()
            .find(|one| one.job_modify_index == job.job_modify_index && !one.unplaced.is_empty());
        // One that was placed in the end has an allocation.
        if let Some(evaluation) = unplaced.filter(|_| (own.len() as u64) < job.desired()) {
            self.unplaced(job, &evaluation.unplaced, found).await;
            return Some(());
        }
        let waiting = own.iter().find(|one| one.healthy() != Some(true))?;
        self.instance(job, waiting, found).await;
        Some(())
    }

    /// All instances run, but not all are registered, or not as passing.
    pub(super) async fn registration(&self, groups: &[Expected], found: &mut Diagnosis) {
        let (namespace, name) = (&self.failed.step.environment, &self.failed.step.component);
        let discovery = self.engines.discovery();
        let Some(running) = answered(self.engines.nomad.job_allocations(namespace, name)).await else {
            return;
        };
        for group in groups {
            let Some(service) = &group.service else { continue };
            let Some(instances) = answered(discovery.instances(service, namespace)).await else {
                return;
            };
            let is_registered =
                |one: &&Allocation| instances.iter().any(|instance| instance.allocation == one.id);
            let (registered, missing): (Vec<&Allocation>, Vec<&Allocation>) = running
                .iter()
                .filter(|one| one.is_running() && one.task_group == group.group)
                .partition(is_registered);
            if let Some(first) = missing.first() {
                let catalogue = discovery.layer().name();
                found.layer = discovery.layer();
                found.object = format!("service {service}");
                let (are, them) = match missing.len() {
                    1 => ("is", "it"),
                    _ => ("are", "them"),
                };
                found.words = format!(
                    "{} of {} {are} not registered in {catalogue}, though Nomad runs {them}",
                    missing.len(),
                    plural(missing.len() + registered.len(), "instance", "instances"),
                );
                found.hint = format!(
                    "Register it again by a restart: nomad alloc restart -namespace {namespace} {}",
                    short(&first.id)
                );
                for one in missing {
                    self.tasks_wrote(one, None, found).await;
                }
                return;
            }
        }
    }

    /// What still runs or is registered of a job that should be gone.
    pub(super) async fn remains(&self, services: &[String], found: &mut Diagnosis) {
        let nomad = &self.engines.nomad;
        let (namespace, name) = (&self.failed.step.environment, &self.failed.step.component);
        let job = tokio::time::timeout(super::ONE, nomad.job(namespace, name)).await;
        let is_there = match job {
            Ok(Ok(_)) => true,
            Ok(Err(error)) if error.kind == ErrorKind::NotFound => false,
            _ => return,
        };
        let alive: Vec<Allocation> = answered(nomad.job_allocations(namespace, name))
            .await
            .into_iter()
            .flatten()
            .filter(|one| matches!(one.client_status.as_str(), "running" | "pending"))
            .collect();
        for one in &alive {
            let from = format!("Nomad, allocation {} on {}", short(&one.id), one.node_name);
            self.say(found, from, one.last_events(super::LINES / 2));
        }
        let discovery = self.engines.discovery();
        let mut registered = Vec::new();
        for service in services {
            let instances = answered(discovery.instances(service, namespace)).await;
            for instance in instances.unwrap_or_default() {
                registered.push(format!("{service} at {}:{}", instance.address, instance.port));
            }
        }
        if !registered.is_empty() {
            self.say(
                found,
                format!("{}, registered", discovery.layer().name()),
                registered,
            );
        }
        if let Some(first) = alive.first() {
            found.layer = Layer::Nomad;
            found.hint = match is_there {
                true => format!("Somebody registered job {name} again: stop it there, or keep it"),
                false => format!(
                    "It takes long to stop; inspect it: nomad alloc status {}",
                    short(&first.id)
                ),
            };
        }
    }
}

/// The version that the step registered, and whether it did register one.
fn failed_version(versions: &[JobVersion], since: Option<Timestamp>) -> Option<(&JobVersion, bool)> {
    let newest = versions.iter().max_by_key(|one| one.version)?;
    let Some(since) = since else {
        return Some((newest, false));
    };
    let since = since.as_millisecond() - SKEW_MS;
    let registered = versions
        .iter()
        .filter(|one| one.submit_time / 1_000_000 >= since)
        .min_by_key(|one| one.version);
    Some(registered.map_or((newest, false), |first| (first, true)))
}

/// The worst is the one to show.
fn badness(one: &Allocation) -> (bool, bool, i64) {
    (
        one.client_status == "failed",
        one.healthy() == Some(false),
        one.create_time,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_failed_is_the_first_of_the_step() {
        let version = |version: u64, second: i64| JobVersion {
            id: "web".to_owned(),
            version,
            job_modify_index: version,
            submit_time: second * 1_000_000_000,
            task_groups: Vec::new(),
        };
        let versions = [version(3, 130), version(2, 120), version(1, 50)];
        let at = |second: i64| Some(Timestamp::from_second(second).unwrap());
        let failed = |since| failed_version(&versions, since).map(|(found, new)| (found.version, new));
        assert_eq!(failed(at(100)), Some((2, true)));
        // It registered none: the newest is the one that it waited for.
        assert_eq!(failed(at(200)), Some((3, false)));
        assert_eq!(failed(None), Some((3, false)));
        assert!(failed_version(&[], None).is_none());
    }
}
