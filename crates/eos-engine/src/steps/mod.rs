//! Steps: each asks one engine for one thing, then reads back that it is so.

mod volumes;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use eos_core::compile::Compilation;
use eos_core::emit::terraform::PLATFORM;
use eos_core::lowered::{Lowered, Monitor, instance_name};
use eos_core::plan::{Expected, Previous, SecretWork, Step, Work};
use eos_core::runtime::SECRET_VERSION;
use eos_core::template::Template;
use eos_core::timing::LONGEST;
use serde_json::{Value, json};

use crate::calls::{Call, call_of};
use crate::delivery;
use crate::discovery::{Discovery, Instance};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::hooks::{Hook, Monitored};
use crate::nomad::Volume;
use crate::salt::{self, StepCall};
use crate::secrets::{self, SecretPath, SecretSeen, Secrets};
use crate::waiting;

const CALL: Duration = Duration::from_secs(30);
/// Salt runs a step. One that waits for a deployment has the time of that besides.
const STEP: Duration = Duration::from_secs(900);
/// Salt itself takes about ten seconds to say that a minion is gone.
const HOST: Duration = Duration::from_secs(15);
/// A minion fetches every file of the formula; a slow one has taken more than a minute.
const SYNC: Duration = Duration::from_secs(180);
/// A deployment has as long at least, whatever the recipe says.
const HEALTHY: Duration = Duration::from_secs(180);
/// Nomad's clients look every 30 s whether Consul still has what they registered, and register it again.
const REGISTERED: Duration = Duration::from_secs(75);
/// Besides the time that its tasks have to end by themselves.
const GONE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(300);

/// An effect that was read back from the engine that owns it. Only this module makes one.
pub struct Verified {
    /// What is so now, in a few words.
    pub words: String,
    /// What was seen, for the journal. Never a secret value.
    pub seen: Value,
}

pub struct Context<'a> {
    pub engines: &'a Engines,
    pub compilation: &'a Compilation,
    pub operation: &'a str,
}

pub async fn perform(
    context: &Context<'_>,
    step: &Step,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    match &step.work {
        Work::Deliver => deliver(context.engines, context.compilation, &[]).await,
        Work::Volumes { minion, paths, .. } => volumes::make(context, step, minion, paths, progress).await,
        Work::Workspace { minion, digest, .. } => workspace(context, step, minion, digest, progress).await,
        Work::Secret { items, .. } => secret(context, step, items, progress).await,
        Work::RestoreSecret { path, previous, .. } => {
            restore_secret(context, step, path, previous, progress).await
        }
        Work::Verify { digest, groups } => verify(context, step, digest, groups, progress).await,
        Work::RemoveWorkspace { minion } => remove_workspace(context, step, minion, progress).await,
        Work::RemoveSecret { path, .. } => remove_secret(context, step, path, progress).await,
        Work::RemoveVolumes { minion, volumes, .. } => {
            volumes::remove(context, step, minion, volumes, progress).await
        }
        Work::RemoveUnusedVolumes { minion, volumes } => {
            volumes::remove_unused(context, step, minion, volumes, progress).await
        }
        Work::VerifyKept { minion, paths, there } => {
            volumes::verify_kept(context, minion, paths, there).await
        }
        Work::VerifyHost { minion, client } => verify_host(context, minion, *client).await,
        Work::VerifyGone { services, stop } => {
            let limit = GONE + Duration::from_secs(stop.unwrap_or_default());
            verify_gone(context, step, services, limit, progress).await
        }
        Work::Monitor { .. } => monitor(context, step, progress).await,
        Work::RemoveMonitor { by, .. } => remove_monitor(context, step, by, progress).await,
        Work::VerifyUnwatched { by } => verify_unwatched(context, step, by, progress).await,
    }
}

/// Whether a step is refused by its minion if that is served another part of the pillar than the step is about.
fn is_bound(step: &Step) -> bool {
    matches!(
        step.work,
        Work::Volumes { .. } | Work::Workspace { .. } | Work::RemoveWorkspace { .. }
    )
}

/// The release is there whole, and it is the current one. That it is served need be asked only where no step follows
/// that would be refused otherwise.
pub async fn deliver(
    engines: &Engines,
    compilation: &Compilation,
    following: &[Step],
) -> Result<Verified, EngineError> {
    let Engines { salt, endpoints, .. } = engines;
    delivery::deliver(&endpoints.delivery, &compilation.artifacts)?;
    delivery::remove_old_releases(&endpoints.delivery, delivery::KEEP)?;
    let current = delivery::current(&endpoints.delivery)?.unwrap_or_default();
    if current == compilation.release && following.iter().any(is_bound) {
        return Ok(Verified {
            words: format!("release {} is current", &current[..12]),
            seen: json!({"current": current}),
        });
    }
    let info = salt.call(&endpoints.control, "eos.info", json!({}), CALL).await?;
    let served = info.get("release").and_then(Value::as_str).unwrap_or_default();
    if served != compilation.release {
        let words = format!(
            "the master serves the minion {}",
            if served.is_empty() { "no release" } else { served }
        );
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            format!("release {}", compilation.release),
            words,
        )
        .with_hint("Check that the master's file_roots point to `current` of the delivery directory"));
    }
    Ok(Verified {
        words: format!("release {} served by Salt", &served[..12]),
        seen: json!({"release": served}),
    })
}

/// Waits until a step that began before is no longer at work on its minion.
pub async fn settle(
    engines: &Engines,
    compilation: Option<&Compilation>,
    operation: &str,
    step: &Step,
) -> Result<(), EngineError> {
    let Some(Call { minion, .. }) = call_of(step, operation) else {
        return Ok(());
    };
    let ends = Instant::now() + limit_of(step, compilation);
    loop {
        let asked = json!({"operation": operation, "step": step.id});
        let record = engines.salt.call(&minion, "eos.step_status", asked, CALL).await?;
        if record.get("status").and_then(Value::as_str) != Some("running") {
            return Ok(());
        }
        if Instant::now() > ends {
            let object = format!("step {} of operation {operation}", step.id);
            let words = format!("minion {minion} is still at work on it");
            return Err(EngineError::new(Layer::Salt, ErrorKind::Timeout, object, words));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// How long a step may take at its minion: as long as the recipe lets the instances of its component start and stop.
fn limit_of(step: &Step, compilation: Option<&Compilation>) -> Duration {
    if !matches!(step.work, Work::Workspace { .. } | Work::RemoveWorkspace { .. }) {
        return STEP;
    }
    let component = compilation.and_then(|all| all.component(&step.environment, &step.component));
    // Of what is not compiled any more only the longest is known that any recipe may say.
    STEP + component.map_or(LONGEST.duration(), Lowered::rollout)
}

/// Has Salt run one step, and gives its record if it says that it is done.
async fn run_step(
    context: &Context<'_>,
    step: &Step,
    progress: &mut dyn FnMut(&str),
) -> Result<Value, EngineError> {
    let Some(Call {
        minion,
        function,
        arguments,
    }) = call_of(step, context.operation)
    else {
        let object = format!("step {}", step.id);
        let words = "it asks Salt for nothing";
        return Err(EngineError::new(Layer::Estate, ErrorKind::Invalid, object, words));
    };
    let call = StepCall {
        minion: &minion,
        function,
        operation: context.operation,
        step: &step.id,
        arguments: &arguments,
        deadline: limit_of(step, Some(context.compilation)),
    };
    let record = context.engines.salt.run(call, progress).await?;
    if record.get("status").and_then(Value::as_str) == Some("done") {
        return Ok(record);
    }
    Err(step_error(&minion, &record))
}

/// The error of a step record, in the words of the engine that failed.
fn step_error(minion: &str, record: &Value) -> EngineError {
    let text = |key: &str| {
        record
            .pointer(&format!("/error/{key}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let layer = match text("layer") {
        "terraform" => Layer::Terraform,
        "nomad" => Layer::Nomad,
        "consul" => Layer::Consul,
        "vault" => Layer::Vault,
        "prometheus" => Layer::Prometheus,
        _ => Layer::Salt,
    };
    let object = match text("object") {
        "" => format!("minion {minion}"),
        object => object.to_owned(),
    };
    let words = match text("words") {
        "" => format!(
            "the step ended as {}",
            record.get("status").and_then(Value::as_str).unwrap_or("unknown")
        ),
        words => salt::without_traceback(words),
    };
    let error = EngineError::new(layer, ErrorKind::Failed, object, words);
    match text("hint") {
        "" => error,
        hint => error.with_hint(hint),
    }
}

async fn workspace(
    context: &Context<'_>,
    step: &Step,
    minion: &str,
    digest: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let name = format!("{}/{}", step.environment, step.component);
    let seen = observe_workspace(context, minion, &name, &record).await?;
    if seen.get("digest").and_then(Value::as_str) != Some(digest) {
        let words = "Terraform reported success, but the workspace is not at the wanted digest";
        return Err(EngineError::new(
            Layer::Terraform,
            ErrorKind::Failed,
            format!("workspace {name}"),
            words,
        ));
    }
    let terraform = record.pointer("/result/terraform").cloned().unwrap_or_default();
    let count = |key: &str| terraform.get(key).and_then(Value::as_u64).unwrap_or(0);
    let words = if terraform.get("ran").and_then(Value::as_bool) == Some(true) {
        format!(
            "{name}: {} added, {} changed, {} destroyed",
            count("added"),
            count("changed"),
            count("destroyed")
        )
    } else {
        format!("{name}: as wanted, Terraform not run")
    };
    Ok(Verified { words, seen })
}

/// What the workspace is now. The minion reads that at the end of the call, after the work, and says so beside the step's
/// record; where the record came without it, because the call's own answer was lost, it is asked for.
async fn observe_workspace(
    context: &Context<'_>,
    minion: &str,
    name: &str,
    record: &Value,
) -> Result<Value, EngineError> {
    let of = |seen: &Value| seen.get("workspaces")?.get(name).cloned();
    if let Some(seen) = record.get("observed").and_then(of) {
        return Ok(seen);
    }
    let seen = context
        .engines
        .salt
        .call(minion, "eos.observe", json!({"workspaces": [name]}), CALL)
        .await?;
    of(&seen).ok_or_else(|| {
        let words = format!("minion {minion} was asked for it, and its answer does not name it");
        EngineError::new(Layer::Salt, ErrorKind::Failed, format!("workspace {name}"), words)
    })
}

async fn remove_workspace(
    context: &Context<'_>,
    step: &Step,
    minion: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let name = format!("{}/{}", step.environment, step.component);
    let seen = observe_workspace(context, minion, &name, &record).await?;
    if !seen.is_null() {
        let words = "Terraform reported success, but the workspace is still there";
        return Err(EngineError::new(
            Layer::Terraform,
            ErrorKind::Failed,
            format!("workspace {name}"),
            words,
        ));
    }
    // Another minion can answer in the name of this one; Nomad has what the workspace made.
    await_removed(context, step, progress).await?;
    let destroyed = record
        .pointer("/result/terraform/destroyed")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    Ok(Verified {
        words: format!("{name}: {destroyed} destroyed, workspace gone"),
        seen,
    })
}

/// Nomad has no longer what the workspace of a component is for: its job, or the namespace that all components share.
async fn await_removed(
    context: &Context<'_>,
    step: &Step,
    progress: &mut dyn FnMut(&str),
) -> Result<(), EngineError> {
    let nomad = &context.engines.nomad;
    let (namespace, name) = (&step.environment, &step.component);
    let object = match name == PLATFORM {
        true => format!("namespace {namespace}"),
        false => format!("job {name}"),
    };
    let ends = Instant::now() + GONE;
    loop {
        let is_there = match name == PLATFORM {
            true => nomad.namespaces().await?.iter().any(|one| one.name == *namespace),
            false => match nomad.job(namespace, name).await {
                Err(error) if error.kind == ErrorKind::NotFound => false,
                answer => answer.map(|_| true)?,
            },
        };
        if !is_there {
            return Ok(());
        }
        if Instant::now() > ends {
            let words = "Terraform reported success, but Nomad still has it";
            return Err(EngineError::new(Layer::Nomad, ErrorKind::Failed, object, words));
        }
        progress(&format!("{object} is still there"));
        waiting::on(tokio::time::sleep(LOOK)).await;
    }
}

/// The control minion brings the values there, and reads them back. What is so already is not written again: a new version
/// would start all that use it anew.
async fn secret(
    context: &Context<'_>,
    step: &Step,
    items: &[SecretWork],
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let seen = observe_secret(context, step, &record).await?;
    let names = seen.items.unwrap_or_default();
    let secrets = context.engines.secrets();
    if let Some(missing) = items.iter().find(|work| !names.contains_key(&work.item)) {
        let object = format!("secret {} of {}", missing.item, step.component);
        let words = "the control minion reported success, but the secret has no value";
        return Err(EngineError::new(
            secrets.layer(),
            ErrorKind::Failed,
            object,
            words,
        ));
    }
    let written = record
        .pointer("/result/secrets/written")
        .and_then(Value::as_array);
    let written = written.map_or(0, Vec::len);
    let version = secrets.keeps_versions().then_some(seen.version);
    let words = match (written, version) {
        (0, _) => "there already, read back".to_owned(),
        (count, version) => format!(
            "{} written to {}{}, read back",
            plural(count, "value", "values"),
            secrets.layer().name(),
            version
                .map(|version| format!(" as version {version}"))
                .unwrap_or_default()
        ),
    };
    let names: Vec<String> = names.into_keys().collect();
    let mut seen = json!({"component": step.component, "items": names});
    if let Some(version) = version.filter(|_| written > 0) {
        seen["version"] = version.into();
    }
    Ok(Verified { words, seen })
}

async fn restore_secret(
    context: &Context<'_>,
    step: &Step,
    path: &str,
    previous: &Previous,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let seen = observe_secret(context, step, &record).await?;
    if seen.items.is_some() == (*previous == Previous::Nothing) {
        return Err(not_as_reported(context, path));
    }
    let words = match previous {
        Previous::Nothing => format!("{path}: gone again, read back"),
        Previous::Version(version) => format!("{path}: as in version {version} again, read back"),
        Previous::Kept(_) => format!("{path}: as it was before, read back"),
    };
    Ok(Verified {
        words,
        seen: json!({"path": path}),
    })
}

/// The secrets as the control minion read them after the work; asked for where its own answer was lost.
async fn observe_secret(
    context: &Context<'_>,
    step: &Step,
    record: &Value,
) -> Result<SecretSeen, EngineError> {
    let name = format!("{}/{}", step.environment, step.component);
    let mut seen = match record.get("observed") {
        Some(observed) => secrets::seen_in(observed)?,
        None => {
            let wanted = BTreeMap::from([(name.clone(), None)]);
            secrets::observe(context.engines, &wanted).await?
        }
    };
    seen.remove(&name).ok_or_else(|| {
        let words = "the control minion did not say what they are now";
        EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            format!("secrets of {name}"),
            words,
        )
    })
}

fn not_as_reported(context: &Context<'_>, path: &str) -> EngineError {
    let words = "the control minion reported success, but it reads back otherwise";
    let layer = context.engines.secrets().layer();
    EngineError::new(layer, ErrorKind::Failed, format!("secret {path}"), words)
}

/// What must be so before a host can be one: its minion answers and has a formula, and a client's Nomad node is ready under the minion's
/// name. Gives the node's id.
pub async fn host_answers(
    engines: &Engines,
    minion: &str,
    client: bool,
) -> Result<Option<String>, EngineError> {
    let answered = engines.salt.call(minion, "test.ping", json!({}), HOST).await;
    answered.map_err(|error| {
        error.with_hint(format!(
            "Start salt-minion there with the id {minion}, the name of its Nomad node, and have the master accept its key"
        ))
    })?;
    engines.salt.call(minion, "eos.info", json!({}), HOST).await?;
    if !client {
        return Ok(None);
    }
    let nodes = engines.nomad.nodes().await?;
    let (kind, words) = match nodes.into_iter().find(|node| node.name == minion) {
        Some(node) if node.status == "ready" => return Ok(Some(node.id)),
        Some(node) => (ErrorKind::Failed, format!("it is {}", node.status)),
        None => (ErrorKind::NotFound, "no client has that name".to_owned()),
    };
    Err(
        EngineError::new(Layer::Nomad, kind, format!("node {minion}"), words).with_hint(
            "A Nomad client has the name of its Salt minion; start it, or leave the role client out",
        ),
    )
}

/// A minion that was down when the formula changed has the one before. Gives what it says of itself then.
async fn bring_formula(engines: &Engines, minion: &str) -> Result<Value, EngineError> {
    let salt = &engines.salt;
    let wanted = salt
        .call(&engines.endpoints.control, "eos.info", json!({}), CALL)
        .await?;
    let info = salt.call(minion, "eos.info", json!({}), CALL).await?;
    if info.get("formula") == wanted.get("formula") {
        return Ok(info);
    }
    salt.call(minion, "eos.sync", json!({}), SYNC).await?;
    salt.call(minion, "eos.info", json!({}), CALL).await
}

/// The host is there, has the formula, and is served the release.
async fn verify_host(context: &Context<'_>, minion: &str, client: bool) -> Result<Verified, EngineError> {
    let node = host_answers(context.engines, minion, client).await?;
    let info = bring_formula(context.engines, minion).await?;
    let served = info.get("release").and_then(Value::as_str).unwrap_or_default();
    let current = delivery::current(&context.engines.endpoints.delivery)?;
    if current.as_deref() != Some(served) {
        let words = format!("the master serves minion {minion} another release");
        return Err(EngineError::new(
            Layer::Salt,
            ErrorKind::Failed,
            format!("host {minion}"),
            words,
        ));
    }
    let words = match node {
        Some(_) => format!("{minion} answers as a minion and as a Nomad client"),
        None => format!("{minion} answers as a minion"),
    };
    Ok(Verified {
        words,
        seen: json!({"release": served, "node": node}),
    })
}

async fn remove_secret(
    context: &Context<'_>,
    step: &Step,
    path: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    if observe_secret(context, step, &record).await?.items.is_some() {
        return Err(not_as_reported(context, path));
    }
    Ok(Verified {
        words: format!("{path} deleted, read back"),
        seen: json!({"path": path}),
    })
}

/// The job in Nomad is the wanted one, all of it runs, and its services are registered with passing checks.
async fn verify(
    context: &Context<'_>,
    step: &Step,
    digest: &str,
    groups: &[Expected],
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
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
    if job.meta.get("eos_digest").map(String::as_str) != Some(digest) {
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
    Ok(Verified { words, seen })
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
    progress: &mut dyn FnMut(&str),
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

/// The component's rules are loaded, and every instance that can be measured answers.
async fn monitor(
    context: &Context<'_>,
    step: &Step,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let component = context.compilation.component(&step.environment, &step.component);
    let watched = component.and_then(|component| Some((component, component.watched_by.as_deref()?)));
    let Some((component, monitor)) = watched else {
        return Err(not_watched(&step.component));
    };
    run_step(context, step, progress).await?;
    let targets = component.measured().map(|(group, _)| Hook::Target {
        service: &group.service,
    });
    let hooks: Vec<Hook<'_>> = std::iter::once(Hook::Rules { component })
        .chain(targets)
        .collect();
    let seen = monitored(context, step, monitor).settle(&hooks, progress).await?;
    let words = format!(
        "{}: {} up, {} loaded, read back",
        component.component,
        plural(hooks.len() - 1, "target", "targets"),
        plural(component.alerts().len(), "alert", "alerts")
    );
    Ok(Verified {
        words,
        seen: seen.into(),
    })
}

async fn remove_monitor(
    context: &Context<'_>,
    step: &Step,
    by: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    run_step(context, step, progress).await?;
    let hook = Hook::NoRules {
        component: &step.component,
    };
    unwatched(context, step, by, hook, "alerts gone", progress).await
}

async fn verify_unwatched(
    context: &Context<'_>,
    step: &Step,
    by: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let hook = Hook::NoTarget {
        component: &step.component,
    };
    unwatched(context, step, by, hook, "target gone", progress).await
}

async fn unwatched(
    context: &Context<'_>,
    step: &Step,
    by: &str,
    hook: Hook<'_>,
    what: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let component = context.compilation.component(&step.environment, by);
    let Some(monitor) = component.and_then(|component| component.monitor.as_deref()) else {
        return Err(not_watched(by));
    };
    let seen = monitored(context, step, monitor)
        .settle(&[hook], progress)
        .await?;
    let words = match seen
        .iter()
        .any(|seen| seen.get("monitor").is_some_and(Value::is_null))
    {
        true => format!("{by} does not run and watches nothing"),
        false => format!("{}: {what} from {by}, read back", step.component),
    };
    Ok(Verified {
        words,
        seen: seen.into(),
    })
}

fn monitored<'a>(context: &'a Context<'_>, step: &'a Step, monitor: &'a Monitor) -> Monitored<'a> {
    Monitored {
        engines: context.engines,
        environment: &step.environment,
        monitor,
    }
}

fn not_watched(component: &str) -> EngineError {
    let words = "the plan watches it, but the compiled files do not";
    EngineError::new(Layer::Estate, ErrorKind::Conflict, component, words).with_hint("Make a new plan")
}

async fn verify_gone(
    context: &Context<'_>,
    step: &Step,
    services: &[String],
    limit: Duration,
    progress: &mut dyn FnMut(&str),
) -> Result<Verified, EngineError> {
    let nomad = &context.engines.nomad;
    let discovery = context.engines.discovery();
    let (namespace, name) = (&step.environment, &step.component);
    let ends = Instant::now() + limit;
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
        for service in services {
            registered += discovery.instances(service, namespace).await?.len();
        }
        if job.is_none() && running == 0 && registered == 0 {
            return Ok(Verified {
                words: "nothing runs, nothing is registered".to_owned(),
                seen: json!({"job": null, "volumes": []}),
            });
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
fn volumes_of<'v>(
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

/// Outputs of a component: its recipe's templates over where its first service answers, then that place itself.
pub async fn outputs(engines: &Engines, lowered: &Lowered) -> Result<Vec<(String, String)>, EngineError> {
    let mut context = lowered.context.clone();
    let mut registered = None;
    if let Some(group) = lowered.groups.iter().find(|group| !group.ports.is_empty()) {
        let discovery = engines.discovery();
        let instances = discovery.instances(&group.service, &lowered.environment).await?;
        let Some(instance) = instances.first() else {
            return Ok(Vec::new());
        };
        let Instance { address, port, .. } = instance;
        let name = if address == "127.0.0.1" {
            "localhost"
        } else {
            address
        };
        context.insert("address".to_owned(), name.into());
        // An option `port` that nobody set stands for none.
        if context.get("port").is_none_or(Value::is_null) {
            context.insert("port".to_owned(), (*port).into());
        }
        let (name, value) = discovery.output(&group.service, instance);
        registered = Some((name.to_owned(), value));
    }
    let render = |(name, template): &(String, Template)| {
        let value = template.evaluate(&context).map_err(|why| {
            let object = format!("output {name} of {}", lowered.component);
            EngineError::new(Layer::Estate, ErrorKind::Invalid, object, why)
        })?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Ok((name.clone(), text))
    };
    lowered
        .outputs
        .iter()
        .map(render)
        .chain(registered.map(Ok))
        .collect()
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
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
