//! Monitoring: Prometheus itself says which rules it has loaded, and from whom it gets answers.

use eos_core::kinds::rules::{Unmade, Unwatched};
use eos_core::lowered::{Lowered, Monitor};
use eos_core::plan::Step;
use serde_json::{Value, json};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::hooks::{Hook, Monitored};
use crate::steps::{Context, Progress, Verified, plural, run_step};

/// The component's rules are loaded, and every instance that can be measured answers.
pub(super) async fn make(
    context: &Context<'_>,
    step: &Step,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let component = context.compilation.component(&step.environment, &step.component);
    let watched = component.and_then(|component| Some((component, component.watched_by.as_deref()?)));
    let Some((component, monitor)) = watched else {
        return Err(not_watched(&step.component));
    };
    run_step(context, step, progress).await?;
    let watcher = context
        .compilation
        .component(&step.environment, &monitor.component);
    if watcher.is_some_and(Lowered::is_stopped) {
        let words = format!(
            "{} is stopped, and reads the rules when it starts",
            monitor.component
        );
        return Ok(Verified::new(words, json!({"monitor": null})));
    }
    let measured = component.measured().filter(|(group, _)| !group.is_stopped());
    let targets = measured.map(|(group, _)| Hook::Target {
        service: &group.service,
    });
    let hooks: Vec<Hook<'_>> = std::iter::once(Hook::Rules { component })
        .chain(targets)
        .collect();
    let seen = monitored(context, step, monitor).settle(&hooks, progress).await?;
    let targets = seen.iter().filter_map(|seen| seen.get("targets")?.as_array());
    let words = format!(
        "{}: {} up, {} loaded, read back",
        component.component,
        plural(targets.map(Vec::len).sum(), "target", "targets"),
        plural(component.alerts().len(), "alert", "alerts")
    );
    Ok(Verified::new(words, seen.into()))
}

pub(super) async fn unmake(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    run_step(context, step, progress).await?;
    let hook = Hook::NoRules {
        component: &step.component,
    };
    unwatched(context, step, &unmade.by, hook, "alerts gone", progress).await
}

pub(super) async fn prove_unwatched(
    context: &Context<'_>,
    step: &Step,
    proof: &Unwatched,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let hook = Hook::NoTarget {
        component: &step.component,
    };
    unwatched(context, step, &proof.by, hook, "target gone", progress).await
}

async fn unwatched(
    context: &Context<'_>,
    step: &Step,
    by: &str,
    hook: Hook<'_>,
    what: &str,
    progress: Progress<'_>,
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
    Ok(Verified::new(words, seen.into()))
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
