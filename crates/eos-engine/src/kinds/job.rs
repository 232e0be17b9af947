//! Jobs: Nomad and the catalogue of services say whether a component runs as wanted, or not at all.

use std::time::{Duration, Instant};

use eos_core::kinds::job::{Expected, Gone, Healthy};
use eos_core::lowered::instance_name;
use eos_core::plan::Step;
use eos_core::runtime::SECRET_VERSION;
use serde_json::json;

use crate::discovery::{Discovery, Instance};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::nomad::Volume;
use crate::secrets::{SecretPath, Secrets};
use crate::steps::{Context, GONE, LOOK, Progress, Verified, plural};
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
    let job = nomad
        .job(namespace, name)
        .await
        .map_err(|error| match error.kind {
            ErrorKind::NotFound => error.with_hint(format!(
                "It was removed outside Eos: `eos delete {name}`, then create it again"
            )),
            _ => error,
        })?;
    if job.meta.get("eos_digest").map(String::as_str) != Some(digest.as_str()) {
        let words = "Nomad runs another version than the wanted one";
        return Err(
            EngineError::new(Layer::Nomad, ErrorKind::Failed, format!("job {name}"), words).with_hint(
                format!("It was reverted or changed outside Eos: `eos logs {name}`, then `eos resume`"),
            ),
        );
    }
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
        let asked = job
            .task_groups
            .iter()
            .find(|found| found.name == *group)
            .map_or(0, |found| found.count);
        if asked != u64::from(*count) {
            let words = format!("Nomad is asked for {asked} instances of {group}, not for {count}");
            let object = format!("job {name}");
            return Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words)
                .with_hint("It was scaled outside Eos"));
        }
    }
    let component = context.compilation.component(namespace, name);
    let limit = component.map_or(HEALTHY, |component| component.rollout().max(HEALTHY));
    let healthy = nomad.wait_healthy(namespace, name, limit, progress).await?;
    let wanted: u32 = groups.iter().map(|group| group.count).sum();
    let mut seen = Vec::new();
    for group in groups {
        if let Some(service) = &group.service {
            for instance in registered(context, step, service, group, progress).await? {
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
        plural(wanted as usize, "instance", "instances")
    );
    let mut seen = json!({"version": healthy.version, "services": seen});
    if let Some(version) = version {
        seen["secret_version"] = version.into();
    }
    Ok(Verified::new(words, seen))
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
    group: &Expected,
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
        if good >= group.count as usize {
            return Ok(instances);
        }
        if Instant::now() > ends {
            let words = format!("{good} of {} registered and passing", group.count);
            return Err(EngineError::new(
                discovery.layer(),
                ErrorKind::Timeout,
                format!("service {service}"),
                words,
            ));
        }
        progress(&format!("service {service}: {good} of {} passing", group.count));
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
    let discovery = context.engines.discovery();
    let (namespace, name) = (&step.environment, &step.component);
    let ends = Instant::now() + GONE + Duration::from_secs(gone.stop.unwrap_or_default());
    loop {
        let job = match nomad.job(namespace, name).await {
            Err(error) if error.kind == ErrorKind::NotFound => None,
            answer => Some(answer?),
        };
        let allocations = nomad.job_allocations(namespace, name).await?;
        let running = allocations
            .iter()
            .filter(|one| matches!(one.client_status.as_str(), "running" | "pending"))
            .count();
        let mut registered = volumes_of(&nomad.volumes(namespace).await?, namespace, name).count();
        for service in &gone.services {
            registered += discovery.instances(service, namespace).await?.len();
        }
        if job.is_none() && running == 0 && registered == 0 {
            let words = "nothing runs, nothing is registered".to_owned();
            return Ok(Verified::new(words, json!({"job": null, "volumes": []})));
        }
        if Instant::now() > ends {
            let words = format!("{running} still running, {registered} still registered");
            return Err(EngineError::new(
                Layer::Nomad,
                ErrorKind::Timeout,
                format!("job {name}"),
                words,
            ));
        }
        progress(&format!("{running} still running, {registered} still registered"));
        waiting::on(tokio::time::sleep(LOOK)).await;
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
