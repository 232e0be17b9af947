//! Files: written or removed by Salt, then read back from the host itself.

use std::time::Duration;

use eos_core::kinds::file::{Made, Part, Unmade};
use eos_core::plan::Step;
use serde_json::{Value, json};

use crate::error::{EngineError, ErrorKind, Layer};
use crate::steps::{Context, Progress, Verified, plural, run_step};

const OBSERVE: &str = "eos.observe";
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn make(
    context: &Context<'_>,
    step: &Step,
    made: &Made,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let minion = &made.minion;
    run_step(context, step, progress).await?;
    let component = context.compilation.component(&step.environment, &step.component);
    let parts = component.into_iter().flat_map(|component| &component.parts.files);
    let parts: Vec<&Part> = parts.filter(|part| part.host.value == *minion).collect();
    let paths: Vec<&str> = parts.iter().map(|part| part.path.value.as_str()).collect();
    let seen = seen_at(context, minion, &paths).await?;
    for part in &parts {
        if let Some(why) = misfit(part, &seen[&part.path.value]) {
            let object = format!("file {} on {minion}", part.path.value);
            return Err(failed(object, format!("Salt reported success, but it {why}")));
        }
    }
    let words = format!(
        "{minion}: {} as wanted, read back",
        plural(parts.len(), "file", "files")
    );
    Ok(Verified::new(words, seen))
}

pub(super) async fn unmake(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    let Unmade { minion, files } = unmade;
    let record = run_step(context, step, progress).await?;
    let paths: Vec<&str> = files.values().map(String::as_str).collect();
    let seen = seen_at(context, minion, &paths).await?;
    let words = gone(unmade, &record, &seen)?;
    Ok(Verified::new(words, seen))
}

/// What became of files that were to go: each is gone, or its minion says why it is kept.
fn gone(unmade: &Unmade, record: &Value, seen: &Value) -> Result<String, EngineError> {
    let Unmade { minion, files } = unmade;
    let mut kept = Vec::new();
    for (name, path) in files.iter().filter(|(_, path)| is_there(&seen[path.as_str()])) {
        let why = record.pointer("/result/kept").and_then(|kept| kept.get(name));
        let Some(why) = why.and_then(Value::as_str) else {
            let words = "Salt reported success, but it is still there";
            return Err(failed(format!("file {path} on {minion}"), words.to_owned()));
        };
        kept.push(format!("; {path} is kept: {why}"));
    }
    let count = plural(files.len() - kept.len(), "file", "files");
    Ok(format!("{minion}: {count} gone, read back{}", kept.concat()))
}

/// What a host sees at these paths. An answer that leaves one out is none.
async fn seen_at(context: &Context<'_>, minion: &str, paths: &[&str]) -> Result<Value, EngineError> {
    let asked = json!({"parts": {"file": paths}});
    let salt = &context.engines.salt;
    let mut answer = salt.call(minion, OBSERVE, asked, PATIENCE).await?;
    let seen = answer.get_mut("file").map(Value::take).unwrap_or_default();
    let unsaid = |path: &&&str| {
        seen.get(**path)
            .and_then(|one| one.get("exists")?.as_bool())
            .is_none()
    };
    match paths.iter().find(unsaid) {
        None => Ok(seen),
        Some(path) => {
            let words = format!("it was asked for {path}, and its answer does not name it");
            Err(failed(format!("minion {minion}"), words))
        }
    }
}

fn is_there(seen: &Value) -> bool {
    seen.get("exists") == Some(&Value::Bool(true))
}

/// In what a file is not the wanted one, in words that follow it. A host tells owners by number and by name.
fn misfit(part: &Part, seen: &Value) -> Option<String> {
    if !is_there(seen) {
        return Some("is not there".to_owned());
    }
    let text = |key: &str| seen.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("content") != part.content() {
        return Some("has another content".to_owned());
    }
    let (user_name, group_name) = text("names").split_once(':').unwrap_or_default();
    let is = |wanted: &str, number: &str, name: &str| match wanted.parse::<u32>() {
        Ok(_) => wanted == number,
        Err(_) => wanted == name,
    };
    let (user, group, mode) = (text("user"), text("group"), text("mode"));
    let fits = is(&part.user, user, user_name) && is(&part.group, group, group_name) && mode == part.mode;
    (!fits).then(|| format!("belongs to {user}:{group} with mode {mode}"))
}

fn failed(object: String, words: String) -> EngineError {
    EngineError::new(Layer::Salt, ErrorKind::Failed, object, words)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eos_core::emit::sha256;
    use eos_core::source::{Source, Sourced};

    use super::*;

    fn part() -> Part {
        let said = |text: &str| Sourced::new(text.to_owned(), Source::recipe("tuning", 1));
        Part {
            host: said("node1"),
            path: said("/etc/motd.d/eos"),
            text: said("hello\n"),
            user: "root".to_owned(),
            group: "33".to_owned(),
            mode: "0640".to_owned(),
            declared: Source::recipe("tuning", 1),
        }
    }

    #[test]
    fn a_file_that_its_host_tells_otherwise_is_not_taken_for_done() {
        let wanted = json!({
            "exists": true, "content": sha256(b"hello\n"), "mode": "0640",
            "user": "0", "group": "33", "names": "root:www-data",
        });
        assert_eq!(misfit(&part(), &wanted), None);
        for (key, told) in [
            ("exists", json!(false)),
            ("content", json!(sha256(b"other\n"))),
            ("content", Value::Null),
            ("names", json!("admin:www-data")),
            ("group", json!("34")),
            ("mode", json!("0644")),
        ] {
            let mut seen = wanted.clone();
            seen[key] = told.clone();
            assert!(misfit(&part(), &seen).is_some(), "{key} {told}");
        }
        assert!(misfit(&part(), &Value::Null).is_some());
    }

    #[test]
    fn what_is_still_there_without_a_reason_is_not_taken_for_gone() {
        let unmade = Unmade {
            minion: "node1".to_owned(),
            files: BTreeMap::from([("production/tuning/etc/x".to_owned(), "/etc/x".to_owned())]),
        };
        let (there, away) = (
            json!({"/etc/x": {"exists": true}}),
            json!({"/etc/x": {"exists": false}}),
        );
        assert!(gone(&unmade, &json!({}), &there).is_err());
        assert_eq!(
            gone(&unmade, &json!({}), &away).unwrap(),
            "node1: 1 file gone, read back"
        );
        let record = json!({"result": {"kept": {"production/tuning/etc/x": "Eos did not make it"}}});
        let words = gone(&unmade, &record, &there).unwrap();
        assert!(words.ends_with("/etc/x is kept: Eos did not make it"), "{words}");
    }
}
