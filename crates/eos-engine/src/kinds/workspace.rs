//! Workspaces: Terraform's success is read back from the minion that ran it, and a removal from Nomad as well.

use std::time::Instant;

use eos_core::emit::terraform::PLATFORM;
use eos_core::kinds::workspace::{Made, Unmade};
use eos_core::plan::Step;
use serde_json::{Value, json};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::steps::{CALL, Context, GONE, LOOK, Progress, Verified, run_step};
use crate::waiting;

pub(super) async fn make(
    context: &Context<'_>,
    step: &Step,
    made: &Made,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let name = step.place();
    let seen = observe_workspace(context, &made.minion, &name, &record).await?;
    if seen.get("digest").and_then(Value::as_str) != Some(&made.digest) {
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
    Ok(Verified::new(words, seen))
}

/// What the workspace is now. The minion reads that at the end of the call, after the work, and says so beside the step's
/// record; where the record came without it, because the call's own answer was lost, it is asked for.
async fn observe_workspace(
    context: &Context<'_>,
    minion: &str,
    name: &str,
    record: &Value,
) -> Result<Value, EngineError> {
    let of = |seen: &Value| seen.get("workspace")?.get(name).cloned();
    if let Some(seen) = record.get("observed").and_then(of) {
        return Ok(seen);
    }
    let seen = context
        .engines
        .salt
        .call(
            minion,
            "eos.observe",
            json!({"parts": {"workspace": [name]}}),
            CALL,
        )
        .await?;
    of(&seen).ok_or_else(|| {
        let words = format!("minion {minion} was asked for it, and its answer does not name it");
        EngineError::new(Layer::Salt, ErrorKind::Failed, format!("workspace {name}"), words)
    })
}

pub(super) async fn unmake(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let name = step.place();
    let seen = observe_workspace(context, &unmade.minion, &name, &record).await?;
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
    Ok(Verified::new(
        format!("{name}: {destroyed} destroyed, workspace gone"),
        seen,
    ))
}

/// Nomad has no longer what the workspace of a component is for: its job, or the namespace that all components share.
async fn await_removed(
    context: &Context<'_>,
    step: &Step,
    progress: Progress<'_>,
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
