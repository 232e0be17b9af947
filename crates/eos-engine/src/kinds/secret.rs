//! Secrets: the control minion moves the values. Names and versions are read back, never a value.

use std::collections::BTreeMap;

use eos_core::kinds::secret::{How, Moved, Previous, SecretWork};
use eos_core::plan::Step;
use serde_json::{Value, json};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::secrets::{self, SecretSeen, Secrets};
use crate::steps::{Context, Progress, Verified, plural, run_step};

pub(super) async fn move_values(
    context: &Context<'_>,
    step: &Step,
    moved: &Moved,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match &moved.how {
        How::Write { items } => write(context, step, items, progress).await,
        How::Restore { previous } => restore(context, step, &moved.path, previous, progress).await,
        How::Remove {} => remove(context, step, &moved.path, progress).await,
    }
}

/// The control minion brings the values there, and reads them back. What is so already is not written again: a new version
/// would start all that use it anew.
async fn write(
    context: &Context<'_>,
    step: &Step,
    items: &[SecretWork],
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let seen = observe_after(context, step, &record).await?;
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
    Ok(Verified::new(words, seen))
}

async fn restore(
    context: &Context<'_>,
    step: &Step,
    path: &str,
    previous: &Previous,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    let seen = observe_after(context, step, &record).await?;
    if seen.items.is_some() == (*previous == Previous::Nothing) {
        return Err(not_as_reported(context, path));
    }
    let words = match previous {
        Previous::Nothing => format!("{path}: gone again, read back"),
        Previous::Version(version) => format!("{path}: as in version {version} again, read back"),
        Previous::Kept(_) => format!("{path}: as it was before, read back"),
    };
    Ok(Verified::new(words, json!({"path": path})))
}

/// The secrets as the control minion read them after the work; asked for where its own answer was lost.
async fn observe_after(
    context: &Context<'_>,
    step: &Step,
    record: &Value,
) -> Result<SecretSeen, EngineError> {
    let name = step.place();
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

async fn remove(
    context: &Context<'_>,
    step: &Step,
    path: &str,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let record = run_step(context, step, progress).await?;
    if observe_after(context, step, &record).await?.items.is_some() {
        return Err(not_as_reported(context, path));
    }
    let words = format!("{path} deleted, read back");
    Ok(Verified::new(words, json!({"path": path})))
}
