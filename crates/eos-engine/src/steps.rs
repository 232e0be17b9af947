//! Steps: each asks one engine for one thing, then reads back that it is so.

use std::time::{Duration, Instant};

use eos_core::compile::Compilation;
use eos_core::lowered::Lowered;
use eos_core::plan::{Step, Work};
use eos_core::timing::LONGEST;
use serde_json::{Value, json};

use crate::calls::{Call, call_of};
use crate::delivery;
use crate::discovery::Discovery;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::kinds;
use crate::salt::{self, StepCall};

pub(crate) const CALL: Duration = Duration::from_secs(30);
/// Salt runs a step. One that waits for a deployment has the time of that besides.
const STEP: Duration = Duration::from_secs(900);
/// Besides the time that its tasks have to end by themselves.
pub(crate) const GONE: Duration = Duration::from_secs(90);
pub(crate) const LOOK: Duration = Duration::from_millis(300);

/// Where a step says how far it has come.
pub(crate) type Progress<'p> = &'p mut dyn FnMut(&str);

/// An effect that was read back from the engine that owns it. Only steps and the kinds that they send to make one.
pub struct Verified {
    words: String,
    seen: Value,
}

impl Verified {
    /// `words` say what is so now. `seen` is for the journal, and never holds a secret value.
    pub(crate) fn new(words: String, seen: Value) -> Self {
        Self { words, seen }
    }

    pub fn into_parts(self) -> (String, Value) {
        (self.words, self.seen)
    }
}

pub struct Context<'a> {
    pub engines: &'a Engines,
    pub compilation: &'a Compilation,
    pub operation: &'a str,
}

pub async fn perform(
    context: &Context<'_>,
    step: &Step,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match &step.work {
        Work::Deliver => deliver(context.engines, context.compilation, context.operation, &[]).await,
        Work::Make(made) => kinds::make(context, step, made, progress).await,
        Work::Unmake(unmade) => kinds::unmake(context, step, unmade, progress).await,
        Work::Act(acted) => kinds::act(context, step, acted, progress).await,
        Work::Prove(proof) => kinds::prove(context, step, proof, progress).await,
        Work::Secret(moved) => kinds::move_secrets(context, step, moved, progress).await,
    }
}

/// Whether the minion of a step refuses it if the master serves another release.
fn is_bound(step: &Step) -> bool {
    step.work.request().is_some_and(|request| request.is_bound())
}

/// The release is there whole, and it is the current one. That it is served need be asked only where no step follows
/// that would be refused otherwise.
pub async fn deliver(
    engines: &Engines,
    compilation: &Compilation,
    operation: &str,
    following: &[Step],
) -> Result<Verified, EngineError> {
    let Engines { salt, endpoints, .. } = engines;
    let current = delivery::deliver(engines, &compilation.artifacts, operation)
        .await?
        .unwrap_or_default();
    if current == compilation.release && following.iter().any(is_bound) {
        let words = format!("release {} is current", &current[..12]);
        return Ok(Verified::new(words, json!({"current": current})));
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
    let words = format!("release {} served by Salt", &served[..12]);
    Ok(Verified::new(words, json!({"release": served})))
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
        let record = engines.salt.call(&minion, "eos.status", asked, CALL).await?;
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
    if !step.work.is_workspace() && !matches!(step.work, Work::Act(_)) {
        return STEP;
    }
    let component = compilation.and_then(|all| all.component(&step.environment, &step.component));
    // Of what is not compiled any more only the longest is known that any recipe may say.
    STEP + component.map_or(LONGEST.duration(), Lowered::rollout)
}

/// Has Salt run one step, and gives its record if it says that it is done.
pub(crate) async fn run_step(
    context: &Context<'_>,
    step: &Step,
    progress: Progress<'_>,
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

/// Outputs of a component, said of the place at which its first service answers; none if it answers nowhere. The formula
/// chooses the same place for the outputs of the workspace.
pub async fn outputs(engines: &Engines, lowered: &Lowered) -> Result<Vec<(String, String)>, EngineError> {
    let said = |address: &str, port: u16| {
        let outputs = lowered.outputs.iter();
        outputs
            .map(|output| (output.name.clone(), output.text(address, port)))
            .collect()
    };
    let Some(front) = lowered.front() else {
        return Ok(said("", 0));
    };
    let instances = engines
        .discovery()
        .instances(&front.service, &lowered.environment)
        .await?;
    let answering = instances.iter().filter(|one| one.healthy != Some(false));
    let first = answering.min_by_key(|one| (&one.address, one.port));
    Ok(first.map_or_else(Vec::new, |first| said(name_of(&first.address), first.port)))
}

/// As people call an address.
fn name_of(address: &str) -> &str {
    match address {
        "127.0.0.1" => "localhost",
        address => address,
    }
}

pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
