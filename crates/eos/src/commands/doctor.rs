//! `eos doctor`: what works here, and what mends the rest.

use super::{Ended, Session};
use crate::formula;
use crate::problem::{Exit, Fault, Problem};
use crate::views::reports::doctor::Findings;
use crate::words::shell_word;
use eos_core::pillar::Pillar;
use eos_engine::doctor::{self, Area, Condition, Expected, Finding};
use eos_engine::estate::Estate;
use eos_engine::settings::{self, Profile, Source};
use eos_engine::{EngineError, ErrorKind, env_names};
use eos_lab::{Cache, Lab, Wanted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Find faults, and show how to fix them
///
/// Doctor prints one line per finding: about this machine, the estate, and each engine. It asks all engines at once,
/// for a few seconds at most. `limited` means that Eos works with less. `missing` and `broken` need a fix and make the
/// exit code 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos doctor
  eos doctor --json | jq '.findings[] | select(.condition != \"ok\")'")]
pub struct Args {}

pub async fn run(session: &mut Session<'_>, _args: &Args) -> Ended {
    session.refuse_environment("Doctor checks all environments")?;
    let opened = Estate::open(session.everywhere.estate.as_deref());
    let is_named = session.everywhere.estate.is_some() || std::env::var_os(env_names::ESTATE).is_some();
    let findings = match opened {
        Ok(estate) => {
            let (machine, engines) = tokio::join!(lab_of(&estate), estate_and_engines(&estate));
            [machine, engines].concat()
        }
        Err(error) if error.kind == ErrorKind::NotFound && is_named => return Err(error.into()),
        Err(error) => {
            let mut findings = machine(Wanted::default()).await;
            findings.push(no_estate(&error));
            findings
        }
    };
    let findings = Findings(findings);
    session.view.show(&findings);
    Ok(match findings.0.iter().any(Finding::is_to_mend) {
        true => Exit::Pending,
        false => Exit::Done,
    })
}

/// The needs of a lab matter where there may be one: an estate with other engines can do without.
async fn lab_of(estate: &Estate) -> Vec<Finding> {
    if estate.settings.source == Source::File {
        return Vec::new();
    }
    let lab = Lab::at(estate.root.join(".eos/lab"));
    match lab.and_then(|lab| lab.has_tofu()) {
        Ok(tofu) => {
            let full = estate.settings.profile == Profile::Full;
            machine(Wanted { full, tofu }).await
        }
        Err(error) => vec![Finding::not_ok(
            Area::Machine,
            "lab",
            Condition::Broken,
            error.to_string(),
            "eos lab up",
        )],
    }
}

async fn machine(wanted: Wanted) -> Vec<Finding> {
    match Cache::of_user() {
        Ok(cache) => eos_lab::examine_machine(&cache, wanted).await,
        Err(error) => vec![Finding::not_ok(
            Area::Machine,
            "engines",
            Condition::Missing,
            error.to_string(),
            "export HOME=/your/home",
        )],
    }
}

async fn estate_and_engines(estate: &Estate) -> Vec<Finding> {
    let (pillar, finding) = match estate.whole_pillar() {
        Ok(pillar) => {
            let finding = Finding::ok(Area::Estate, "pillar", extent(&pillar));
            (Some(pillar), finding)
        }
        Err(failure) => {
            let faults = Problem::from(failure).faults();
            (None, unreadable_pillar(&faults))
        }
    };
    let expected = Expected {
        estate,
        pillar: pillar.as_ref(),
        formula: &formula::digest(),
        salt: &salt_command(estate),
        written_to: &written_to(estate),
        running: &running(estate),
    };
    let engines = doctor::examine(&expected).await;
    [finding].into_iter().chain(engines).collect()
}

/// Where the engines of a lab write to on this machine.
fn written_to(estate: &Estate) -> Vec<PathBuf> {
    match estate.settings.source {
        Source::Lab => {
            Lab::at(estate.root.join(".eos/lab")).map_or_else(|_| Vec::new(), |lab| lab.written_to())
        }
        Source::File | Source::None => Vec::new(),
    }
}

/// Which minions of a lab run.
fn running(estate: &Estate) -> BTreeMap<String, bool> {
    match estate.settings.source {
        Source::Lab => Lab::at(estate.root.join(".eos/lab"))
            .and_then(|lab| lab.running_minions())
            .unwrap_or_default(),
        Source::File | Source::None => BTreeMap::new(),
    }
}

/// How root speaks to minions: a lab has a Salt of its own.
fn salt_command(estate: &Estate) -> String {
    let lab = match estate.settings.source {
        Source::Lab => Lab::at(estate.root.join(".eos/lab")).and_then(|lab| lab.salt_command()),
        Source::File | Source::None => Ok(None),
    };
    let words = lab.ok().flatten().map(|(program, configuration)| {
        let word = |path: &Path| shell_word(&path.display().to_string());
        format!("{} -c {}", word(&program), word(&configuration))
    });
    words.unwrap_or_else(|| "salt".to_owned())
}

/// The first fault is named; `eos compile --check` shows all of them.
fn unreadable_pillar(faults: &[Fault]) -> Finding {
    let words: Vec<String> = faults
        .iter()
        .take(1)
        .map(|fault| match &fault.place {
            Some(place) => format!("{place}: {}", fault.message),
            None => fault.message.clone(),
        })
        .chain((faults.len() > 1).then(|| format!("{} more: eos compile --check", faults.len() - 1)))
        .collect();
    let file = faults.iter().find_map(|fault| fault.place.as_ref());
    let mend = match file {
        Some(place) => edit(&place.file),
        None => "eos compile --check".to_owned(),
    };
    Finding::not_ok(Area::Estate, "pillar", Condition::Broken, words.join("; "), mend)
}

fn edit(file: &str) -> String {
    format!("$EDITOR {}", shell_word(file))
}

fn extent(pillar: &Pillar) -> String {
    let counted = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    let hosts = counted(pillar.hosts.len(), "host");
    format!("{hosts}, {}", counted(pillar.components.len(), "component"))
}

/// Outside of an estate the doctor looks at the machine; one that cannot be read is broken.
fn no_estate(error: &EngineError) -> Finding {
    match error.kind {
        ErrorKind::NotFound => Finding::not_ok(
            Area::Estate,
            "eos.toml",
            Condition::Limited,
            "there is no estate here, so Eos asked no engines",
            "eos init DIRECTORY",
        ),
        _ => {
            let words = format!("{}: {}", error.object, error.words);
            Finding::not_ok(
                Area::Estate,
                "eos.toml",
                Condition::Broken,
                words,
                edit(settings::FILE),
            )
        }
    }
}
