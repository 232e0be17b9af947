//! Jobs: Nomad and the catalogue of services say whether a component runs as wanted, restarted, or not at all.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use eos_core::kinds::Deed;
use eos_core::kinds::job::{Acted, Ended, Expected, Gone, Healthy, Scheduled, Stopped};
use eos_core::lowered::{Lowered, instance_name};
use eos_core::plan::Step;
use eos_core::runtime::SECRET_VERSION;
use serde_json::{Value, json};

use crate::discovery::{Discovery, Instance};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::{Allocation, Job, Volume};
use crate::secrets::{SecretPath, Secrets};
use crate::steps::{Context, GONE, LOOK, Progress, Verified, plural, run_step};
use crate::waiting;

/// A deployment has as long at least, whatever the recipe says.
const HEALTHY: Duration = Duration::from_secs(180);
/// Nomad's clients look every 30 s whether Consul still has what they registered, and register it again.
const REGISTERED: Duration = Duration::from_secs(75);

/// The job in Nomad is the wanted one, all of it runs, and its services are registered with passing checks.
pub(super) async fn prove_healthy(
    context: &Context<'_>,
    step: &Step,
    healthy: &Healthy,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let Healthy { digest, groups } = healthy;
    let nomad = &context.engines.nomad;
    let (namespace, name) = (&step.environment, &step.component);
    let job = wanted_job(context, step, digest).await?;
    let version = secret_version(context, step).await?;
    if let Some(version) = version
        && job.meta.get(SECRET_VERSION) != Some(&version.to_string())
    {
        let words = format!("Nomad runs it with another version of its secrets than {version}, the newest");
        return Err(
            EngineError::new(Layer::Nomad, ErrorKind::Failed, format!("job {name}"), words)
                .with_hint("The secrets or the job changed outside Eos: `eos apply` brings them together"),
        );
    }
    for Expected { group, count, .. } in groups {
        require_count(&job, name, group, u64::from(*count))?;
    }
    let component = context.compilation.component(namespace, name);
    let limit = component.map_or(HEALTHY, |component| component.rollout().max(HEALTHY));
    let healthy = nomad.wait_healthy(namespace, name, limit, progress).await?;
    let everywhere = groups.iter().any(|group| group.everywhere);
    let wanted = match everywhere {
        // The proof of Nomad's scheduler: it made one for each node that can run it.
        true => healthy.allocations.len(),
        false => groups.iter().map(|group| group.count as usize).sum(),
    };
    let mut seen = Vec::new();
    for group in groups {
        if let Some(service) = &group.service {
            let wanted = match group.everywhere {
                true => healthy.of(&group.group),
                false => group.count as usize,
            };
            for instance in registered(context, step, service, (group, wanted), progress).await? {
                seen.push(json!({"service": service, "address": instance.address, "port": instance.port, "node": instance.node}));
            }
        }
    }
    let checks = if groups.iter().any(|group| group.check) {
        ", check passing"
    } else {
        ""
    };
    let words = format!(
        "{} of {}{checks}",
        healthy.allocations.len(),
        plural(wanted, "instance", "instances")
    );
    let mut seen = json!({"version": healthy.version, "services": seen});
    if let Some(version) = version {
        seen["secret_version"] = version.into();
    }
    Ok(Verified::new(words, seen))
}

/// The job in Nomad, if it is the one that was compiled.
async fn wanted_job(context: &Context<'_>, step: &Step, digest: &str) -> Result<Job, EngineError> {
    let (namespace, name) = (&step.environment, &step.component);
    let job = context.engines.nomad.job(namespace, name).await;
    let lowered = context.compilation.component(namespace, name);
    let job = job.map_err(|error| match error.kind {
        ErrorKind::NotFound => error.with_hint(removed_hint(lowered, name)),
        _ => error,
    })?;
    if job.meta.get("eos_digest").map(String::as_str) == Some(digest) {
        return Ok(job);
    }
    let words = "Nomad runs another version than the wanted one";
    let hint = format!("It was reverted or changed outside Eos: `eos logs {name}`, then `eos resume`");
    Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, format!("job {name}"), words).with_hint(hint))
}

/// What to do about a job that Nomad does not have any more.
fn removed_hint(lowered: Option<&Lowered>, name: &str) -> String {
    match lowered {
        Some(lowered) if lowered.may_be_forgotten() => {
            "It was removed, or Nomad has forgotten it since its end, and cannot say how that was: take the \
             operation back, then do it again"
                .to_owned()
        }
        Some(lowered) => format!(
            "It was removed outside Eos: `eos reconcile {}` makes it again",
            lowered.spoken_of()
        ),
        None => format!("It was removed outside Eos: `eos reconcile {name}` makes it again"),
    }
}

fn require_count(job: &Job, name: &str, group: &str, count: u64) -> Result<(), EngineError> {
    let found = job.task_groups.iter().find(|found| found.name == group);
    let asked = found.map_or(0, |found| found.count);
    if asked == count {
        return Ok(());
    }
    let words = format!("Nomad is asked for {asked} instances of {group}, not for {count}");
    let object = format!("job {name}");
    Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words)
        .with_hint("It was scaled outside Eos"))
}

/// The job ran to its end, all of it, and well.
pub(super) async fn prove_ended(
    context: &Context<'_>,
    step: &Step,
    ended: &Ended,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let job = wanted_job(context, step, &ended.digest).await?;
    let run = Run {
        namespace: &step.environment,
        component: &step.component,
        job: &step.component,
        version: Some(job.version),
    };
    let instances = run.end(context, &ended.groups, ended.within, progress).await?;
    let seen = json!({"version": job.version, "instances": instances});
    Ok(Verified::new("ended well".to_owned(), seen))
}

/// Nomad has the job with these times, and starts it then.
pub(super) async fn prove_scheduled(
    context: &Context<'_>,
    step: &Step,
    scheduled: &Scheduled,
) -> Result<Verified, EngineError> {
    let Scheduled { digest, cron, zone } = scheduled;
    let job = wanted_job(context, step, digest).await?;
    let is_so = job.periodic.as_ref().is_some_and(|periodic| {
        periodic.enabled && periodic.specs == [cron.as_str()] && periodic.time_zone == *zone
    });
    if !is_so || job.stop {
        let words = format!("Nomad does not start it at {cron} ({zone})");
        let object = format!("job {}", step.component);
        return Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words)
            .with_hint("It was changed outside Eos: `eos drift` shows what differs"));
    }
    let words = format!("starts at {cron} ({zone})");
    Ok(Verified::new(
        words,
        json!({"version": job.version, "cron": cron, "zone": zone}),
    ))
}

/// A job that runs to its end: the component's own, or one run of one that has a schedule.
struct Run<'a> {
    namespace: &'a str,
    component: &'a str,
    job: &'a str,
    /// The version whose instances count; none where the job is a run, which has only one.
    version: Option<u64>,
}

impl Run<'_> {
    /// Waits until an instance of every group ended well. Gives their ids.
    async fn end(
        &self,
        context: &Context<'_>,
        groups: &[String],
        within: u64,
        progress: Progress<'_>,
    ) -> Result<Vec<String>, EngineError> {
        let object = format!("job {}", self.job);
        let look = format!("`eos logs {}` shows its output", self.component);
        let ends = Instant::now() + Duration::from_secs(within);
        loop {
            let found = context
                .engines
                .nomad
                .job_allocations(self.namespace, self.job)
                .await?;
            let is_current =
                |one: &&Allocation| self.version.is_none_or(|version| one.job_version == version);
            let found: Vec<&Allocation> = found.iter().filter(is_current).collect();
            let has_ended = |group: &&String| {
                let mut own = found.iter().filter(|one| one.task_group == **group);
                own.any(|one| one.ended_well())
            };
            let ended = groups.iter().filter(has_ended).count();
            if ended == groups.len() {
                let complete = found.iter().filter(|one| one.ended_well());
                return Ok(complete.map(|one| one.id.clone()).collect());
            }
            let is_lost = |one: &&&Allocation| {
                matches!(one.client_status.as_str(), "failed" | "lost") || one.was_stopped()
            };
            let running = found
                .iter()
                .filter(|one| matches!(one.client_status.as_str(), "pending" | "running"));
            if let Some(failed) = found
                .iter()
                .find(is_lost)
                .filter(|_| running.clone().count() == 0)
            {
                let words = match failed.was_stopped() {
                    true => format!("somebody stopped instance {} before its end", failed.id),
                    false => failed
                        .trouble()
                        .unwrap_or_else(|| format!("instance {} {}", failed.id, failed.client_status)),
                };
                return Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words).with_hint(look));
            }
            let words = format!(
                "{ended} of {} ended",
                plural(groups.len(), "task group", "task groups")
            );
            if Instant::now() > ends {
                let words = format!("not at its end after {within} s: {words}");
                let hint = format!("{look}; its recipe can give it longer: ends: {{within: ...}}");
                return Err(EngineError::new(Layer::Nomad, ErrorKind::Timeout, object, words).with_hint(hint));
            }
            progress(&words);
            waiting::on(tokio::time::sleep(LOOK)).await;
        }
    }
}

/// The minion does it; Nomad says what came of it.
pub(super) async fn act(
    context: &Context<'_>,
    step: &Step,
    acted: &Acted,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match acted.deed {
        Deed::Restart => restart(context, step, progress).await,
        Deed::Run => run(context, step, acted, progress).await,
    }
}

/// The minion starts a run; Nomad says that it ended, and well.
async fn run(
    context: &Context<'_>,
    step: &Step,
    acted: &Acted,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let job = record.pointer("/result/run").and_then(Value::as_str);
    let Some(job) = job else {
        let object = format!("step {} on {}", step.id, context.engines.endpoints.control);
        let words = "its record does not name the run";
        return Err(EngineError::new(Layer::Salt, ErrorKind::Invalid, object, words));
    };
    let run = Run {
        namespace: &step.environment,
        component: &step.component,
        job,
        version: None,
    };
    let groups: Vec<String> = acted.groups.iter().map(|group| group.group.clone()).collect();
    let instances = run
        .end(context, &groups, acted.within.unwrap_or_default(), progress)
        .await?;
    Ok(Verified::new(
        "the run ended well".to_owned(),
        json!({"run": job, "instances": instances}),
    ))
}

/// The minion restarts what runs; Nomad says that each instance is another one by now, or started again.
async fn restart(
    context: &Context<'_>,
    step: &Step,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let (namespace, name) = (&step.environment, &step.component);
    let record = run_step(context, step, progress).await?;
    let before = record.pointer("/result/restarted").cloned().unwrap_or_default();
    let before: StartedBefore = serde_json::from_value(before).map_err(|error| {
        let object = format!("step {} on {}", step.id, context.engines.endpoints.control);
        EngineError::new(Layer::Salt, ErrorKind::Invalid, object, error.to_string())
    })?;
    let allocations = context.engines.nomad.job_allocations(namespace, name).await?;
    let mut running = allocations.iter().filter(|one| one.is_running());
    if let Some(same) = running.find(|one| !is_restarted(one, &before)) {
        let words = format!("instance {} runs on as before", same.id);
        return Err(EngineError::new(
            Layer::Nomad,
            ErrorKind::Failed,
            format!("job {name}"),
            words,
        ));
    }
    let words = format!("{} restarted", plural(before.len(), "instance", "instances"));
    Ok(Verified::new(
        words,
        json!({"restarted": before.keys().collect::<Vec<_>>()}),
    ))
}

/// Instance -> task -> when it had started before its restart.
type StartedBefore = BTreeMap<String, BTreeMap<String, String>>;

/// Whether no task of it runs since before. One that was not there before took the place of another.
fn is_restarted(allocation: &Allocation, before: &StartedBefore) -> bool {
    let tasks = before.get(&allocation.id).into_iter().flatten();
    let mut same = tasks.filter(|(task, when)| {
        let run = allocation.task_states.get(*task);
        run.is_some_and(|run| run.started_at.as_ref() == Some(when))
    });
    same.next().is_none()
}

/// The job is registered with no instances, nothing of it runs, and no service of it is registered.
pub(super) async fn prove_stopped(
    context: &Context<'_>,
    step: &Step,
    stopped: &Stopped,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let (namespace, name) = (&step.environment, &step.component);
    let ends = Instant::now() + GONE + Duration::from_secs(stopped.stop.unwrap_or_default());
    loop {
        let job = wanted_job(context, step, &stopped.digest).await?;
        for group in &job.task_groups {
            require_count(&job, name, &group.name, 0)?;
        }
        if job.periodic.as_ref().is_some_and(|periodic| periodic.enabled) {
            let object = format!("job {name}");
            let words = "Nomad still starts it at its times";
            return Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words)
                .with_hint("It was changed outside Eos: `eos drift` shows what differs"));
        }
        let left = Left::of(context, (namespace, name), &stopped.services).await?;
        if left.is_nothing() {
            let seen = json!({"version": job.version, "running": 0, "services": []});
            return Ok(Verified::new(
                "nothing runs, the job stays registered".to_owned(),
                seen,
            ));
        }
        left.wait(name, ends, progress).await?;
    }
}

/// What is still there of a job that is to run no more.
struct Left {
    running: usize,
    registered: usize,
}

impl Left {
    async fn of(
        context: &Context<'_>,
        (namespace, name): (&str, &str),
        services: &[String],
    ) -> Result<Self, EngineError> {
        let nomad = &context.engines.nomad;
        let is_there = |one: &&Allocation| matches!(one.client_status.as_str(), "running" | "pending");
        let mut left = Self {
            running: 0,
            registered: 0,
        };
        // A run of a job with a schedule outlives its job.
        let runs = nomad.runs_of(namespace, name).await?;
        for job in std::iter::once(name).chain(runs.iter().map(String::as_str)) {
            let allocations = nomad.job_allocations(namespace, job).await?;
            left.running += allocations.iter().filter(is_there).count();
        }
        for service in services {
            let instances = context.engines.discovery().instances(service, namespace).await?;
            left.registered += instances.len();
        }
        Ok(left)
    }

    fn is_nothing(&self) -> bool {
        self.running == 0 && self.registered == 0
    }

    /// Waits a moment, unless the time is over.
    async fn wait(&self, name: &str, ends: Instant, progress: Progress<'_>) -> Result<(), EngineError> {
        let words = format!(
            "{} still running, {} still registered",
            self.running, self.registered
        );
        if Instant::now() > ends {
            let object = format!("job {name}");
            return Err(EngineError::new(Layer::Nomad, ErrorKind::Timeout, object, words));
        }
        progress(&words);
        waiting::on(tokio::time::sleep(LOOK)).await;
        Ok(())
    }
}

/// Which version of its secrets a component is to run with: the newest.
async fn secret_version(context: &Context<'_>, step: &Step) -> Result<Option<u64>, EngineError> {
    let lowered = context.compilation.component(&step.environment, &step.component);
    let Some(lowered) = lowered.filter(|lowered| !lowered.secrets.is_empty()) else {
        return Ok(None);
    };
    let path = lowered.secret_path();
    let at = SecretPath {
        namespace: &step.environment,
        path: &path,
    };
    context.engines.secrets().version(at).await
}

/// Waits until as many instances as wanted are registered and, where there is a check, pass it.
async fn registered(
    context: &Context<'_>,
    step: &Step,
    service: &str,
    (group, wanted): (&Expected, usize),
    progress: Progress<'_>,
) -> Result<Vec<Instance>, EngineError> {
    let discovery = context.engines.discovery();
    let (namespace, component) = (&step.environment, &step.component);
    let component = context.compilation.component(namespace, component);
    let timing = component.and_then(|component| component.groups.iter().find(|one| one.name == group.group));
    let ends =
        Instant::now() + REGISTERED + timing.map_or(Duration::ZERO, |one| one.timing.every().duration());
    loop {
        let instances = discovery.instances(service, namespace).await?;
        let good = instances
            .iter()
            .filter(|instance| !group.check || instance.healthy == Some(true))
            .count();
        if good >= wanted {
            return Ok(instances);
        }
        if Instant::now() > ends {
            let words = format!("{good} of {wanted} registered and passing");
            return Err(EngineError::new(
                discovery.layer(),
                ErrorKind::Timeout,
                format!("service {service}"),
                words,
            ));
        }
        progress(&format!("service {service}: {good} of {wanted} passing"));
        waiting::on(tokio::time::sleep(LOOK)).await;
    }
}

pub(super) async fn prove_gone(
    context: &Context<'_>,
    step: &Step,
    gone: &Gone,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let nomad = &context.engines.nomad;
    let (namespace, name) = (&step.environment, &step.component);
    let ends = Instant::now() + GONE + Duration::from_secs(gone.stop.unwrap_or_default());
    loop {
        let job = match nomad.job(namespace, name).await {
            Err(error) if error.kind == ErrorKind::NotFound => None,
            answer => Some(answer?),
        };
        let mut left = Left::of(context, (namespace, name), &gone.services).await?;
        left.registered += volumes_of(&nomad.volumes(namespace).await?, namespace, name).count();
        if job.is_none() && left.is_nothing() {
            let words = "nothing runs, nothing is registered".to_owned();
            return Ok(Verified::new(words, json!({"job": null, "volumes": []})));
        }
        left.wait(name, ends, progress).await?;
    }
}

/// The volumes that are registered for a component: each is named after it and one of its needs, which has no hyphen.
pub(super) fn volumes_of<'v>(
    volumes: &'v [Volume],
    environment: &str,
    component: &str,
) -> impl Iterator<Item = &'v Volume> {
    let instance = instance_name(environment, component);
    volumes.iter().filter(move |volume| {
        let parts = volume.name.rsplit_once('-');
        parts.is_some_and(|(of, _)| of == instance)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_belongs_to_the_component_that_it_is_named_after() {
        let volume = |name: &str| -> Volume {
            let text = json!({"ID": name, "Name": name, "Namespace": "n", "NodeID": "1", "State": "ready"});
            serde_json::from_value(text).unwrap()
        };
        let all = [
            "web-data",
            "web-cache_2",
            "web-api-data",
            "web",
            "web-staging-data",
        ]
        .map(volume);
        let of = |environment: &str, component: &str| -> Vec<&str> {
            volumes_of(&all, environment, component)
                .map(|one| one.name.as_str())
                .collect()
        };
        assert_eq!(of("production", "web"), ["web-data", "web-cache_2"]);
        assert_eq!(of("production", "web-api"), ["web-api-data"]);
        assert_eq!(of("staging", "web"), ["web-staging-data"]);
    }
}
