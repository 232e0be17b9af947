//! Asking for drift: every engine, all minions and the files on disk are read at the same time, in a number of requests
//! that does not grow with the number of components. Who does not answer is named, and the rest is judged.

mod consul;
mod files;
mod held;
mod nomad;
mod vault;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::compile::Compilation;
use eos_core::drift::{self, Drift, Inspection, Look, OrSilent, Seen, Silent, moved_jobs};
use eos_core::name::ENVIRONMENTS;
use eos_core::pillar::{COMMON_FILE, Pillar, PillarFiles, environment_file};
use eos_core::plan::Key;
use serde_json::{Value, json};

use crate::compiling::compile;
use crate::delivery;
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::planning::OBSERVE;
use crate::salt::MINION_WAIT;

pub use vault::Policies;

/// How long minions may take to compare what they have with their pillar. Salt itself waits 10 s for those that are gone.
const INSPECT: Duration = Duration::from_secs(120);

/// What is looked for.
pub struct Question<'a> {
    pub environment: &'a str,
    /// None means all of the environment, and what belongs to no component.
    pub component: Option<&'a str>,
    pub policies: Policies<'a>,
}

/// What differs between the pillar, Terraform and what is really there.
pub async fn look(estate: &Estate, engines: &Engines, question: &Question<'_>) -> Result<Drift, Failure> {
    let environment = question.environment;
    let pillar = Pillar::read(&estate.pillar_files()?)?;
    let wanted = compile(&pillar, &estate.catalog()?, estate.settings.setup())?;
    let recorded = recorded(estate, environment)?;
    let current = match estate.store_to_read()?.is_blank()? {
        // Nothing was done yet: the release that Salt began with is nobody's work.
        true => Ok(None),
        false => delivery::current(engines).await,
    };
    let name = current.as_ref().ok().and_then(Option::as_deref);
    let applied = applied(estate, environment, name, &wanted, &recorded).await?;
    let (minions, nomad, consul, vault, held) = tokio::join!(
        inspect(engines, &pillar),
        nomad::ask(engines, environment),
        consul::ask(engines),
        vault::ask(engines, question.policies),
        held::ask(estate, engines, environment),
    );
    let (held, is_busy) = held?;
    let (of_estate, release) = files::read(estate, engines, current, &wanted, applied.as_ref()).await?;
    let mut seen = Seen {
        control: wanted.control.clone(),
        minions,
        nomad: Some(answer(nomad)),
        consul: consul.map(answer),
        vault: vault.map(answer),
        estate: if is_busy { Vec::new() } else { of_estate },
        release: (!is_busy).then(|| answer(release)),
        held,
    };
    let look_at = |seen: &Seen| {
        let look = Look {
            environment,
            component: question.component,
            wanted: &wanted,
            applied: applied.as_ref(),
            recorded: &recorded,
            seen,
        };
        let moved = match &seen.nomad {
            Some(Ok(nomad)) => moved_jobs(&look, nomad),
            _ => Vec::new(),
        };
        (drift::drift(&look), moved)
    };
    let (found, moved): (Drift, Vec<Key>) = look_at(&seen);
    if moved.is_empty() {
        return Ok(found);
    }
    let compared = nomad::compare(engines, &moved, |key| {
        let compilation = [Some(&wanted), applied.as_ref()].into_iter().flatten();
        let mut same = compilation.filter(|one| {
            let digest = one.digest(key);
            digest.is_some() && digest.as_ref() == recorded.get(key)
        });
        same.next()
    })
    .await;
    if let Some(Ok(nomad)) = &mut seen.nomad {
        nomad.compared = compared;
    }
    Ok(look_at(&seen).0)
}

fn answer<T>(answer: Result<T, EngineError>) -> OrSilent<T> {
    answer.map_err(|error| silent(&error))
}

/// In one line: what a minion says of an exception goes on for pages.
fn silent(error: &EngineError) -> Silent {
    let words = error.to_string();
    Silent {
        words: words.lines().next().unwrap_or_default().to_owned(),
        hint: error.hint.clone(),
    }
}

/// What each component was last brought to; one that an operation did not finish has no digest.
fn recorded(estate: &Estate, environment: &str) -> Result<BTreeMap<Key, String>, EngineError> {
    let applied = estate.store_to_read()?.applied(environment)?;
    Ok(applied
        .into_iter()
        .map(|one| ((one.environment, one.component), one.digest))
        .collect())
}

/// The pillar as it was last applied, compiled, where that is not what the pillar says now. Of several commits it is the
/// one that was delivered last.
async fn applied(
    estate: &Estate,
    environment: &str,
    current: Option<&str>,
    wanted: &Compilation,
    recorded: &BTreeMap<Key, String>,
) -> Result<Option<Compilation>, Failure> {
    let wanted_keys = wanted.workspaces.keys().chain(wanted.components.keys());
    let wanted_keys: BTreeSet<&Key> = wanted_keys.filter(|key| key.0 == environment).collect();
    let is_same = wanted_keys.len() == recorded.len()
        && recorded
            .iter()
            .all(|(key, digest)| wanted.digest(key).as_ref() == Some(digest));
    if is_same && current == Some(wanted.release.as_str()) {
        return Ok(None);
    }
    let repository = estate.repository();
    let others = ENVIRONMENTS.iter().filter(|other| **other != environment);
    let mut commits = Vec::new();
    for of in std::iter::once(&environment).chain(others) {
        commits.extend(repository.applied(of).await?);
    }
    commits.extend(repository.head().await?);
    let mut tried = BTreeSet::new();
    let mut first = None;
    for commit in commits {
        if !tried.insert(commit.clone()) {
            continue;
        }
        let Some(compilation) = compiled_at(estate, &commit).await? else {
            continue;
        };
        if current == Some(compilation.release.as_str()) {
            return Ok(Some(compilation));
        }
        first.get_or_insert(compilation);
    }
    Ok(first)
}

/// The pillar of a commit, compiled. One that does not compile any more says nothing about what was applied from it.
async fn compiled_at(estate: &Estate, commit: &str) -> Result<Option<Compilation>, Failure> {
    let environments = ENVIRONMENTS.iter().map(|name| environment_file(name));
    let mut files = PillarFiles::new();
    for path in std::iter::once(COMMON_FILE.to_owned()).chain(environments) {
        let text = estate.repository().show(commit, &path).await?;
        files.extend(text.map(|bytes| (path, bytes)));
    }
    let catalog = estate.catalog()?;
    let compiled =
        Pillar::read(&files).and_then(|pillar| compile(&pillar, &catalog, estate.settings.setup()));
    Ok(compiled.ok())
}

/// What every host of the pillar says of itself, in one call.
async fn inspect(engines: &Engines, pillar: &Pillar) -> BTreeMap<String, OrSilent<Inspection>> {
    let mut answers = match engines
        .salt
        .call_all("eos.inspect", json!({}), MINION_WAIT, INSPECT)
        .await
    {
        Ok(answers) => answers,
        Err(error) => {
            let hosts = pillar.hosts.keys();
            return hosts.map(|host| (host.clone(), Err(silent(&error)))).collect();
        }
    };
    let read = |host: &String| match answers.remove(host) {
        None => Err(Silent {
            words: format!("Salt knows no minion {host}"),
            hint: None,
        }),
        Some(Err(error)) => Err(silent(&error)),
        Some(Ok(answer)) => read_inspection(host, answer).map_err(|error| silent(&error)),
    };
    let hosts: Vec<String> = pillar.hosts.keys().cloned().collect();
    let answers = hosts.iter().map(read).collect::<Vec<_>>();
    let mut inspected: BTreeMap<String, OrSilent<Inspection>> = hosts.into_iter().zip(answers).collect();
    for (host, answer) in &mut inspected {
        if let Ok(inspection) = answer {
            tell_both_sides(engines, host, inspection).await;
        }
    }
    inspected
}

/// Of a directory Salt says what it would make of it, and not what it is: that is asked for where something differs.
async fn tell_both_sides(engines: &Engines, host: &str, inspection: &mut Inspection) {
    let directories = inspection.states.iter().filter(|state| state.kind == "volume");
    let paths: Vec<&str> = directories.map(|state| state.name.as_str()).collect();
    if paths.is_empty() {
        return;
    }
    let arguments = json!({"parts": {"volume": paths}});
    // Without the answer, what is wanted is told alone.
    let Ok(seen) = engines.salt.call(host, "eos.observe", arguments, OBSERVE).await else {
        return;
    };
    for state in &mut inspection.states {
        let real = &seen["volume"][&state.name];
        let Some(changes) = state.changes.get_mut(&state.name).and_then(Value::as_object_mut) else {
            continue;
        };
        for (field, wanted) in changes {
            if let Some(old) = real.get(field).filter(|old| !old.is_null()) {
                *wanted = json!({"old": old, "new": wanted});
            }
        }
    }
}

fn read_inspection(host: &str, answer: Value) -> Result<Inspection, EngineError> {
    serde_json::from_value(answer).map_err(|error| {
        let object = format!("eos.inspect of minion {host}");
        EngineError::new(Layer::Salt, ErrorKind::Invalid, object, error.to_string())
    })
}
