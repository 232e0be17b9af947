//! Hosts in the pillar: added, changed and removed.

use super::{Options, words_json, yaml_value};
use crate::diagnostic::Diagnostic;
use crate::name::{self, Sort, quoted};
use crate::option;
use crate::pillar::{COMMON_FILE, Host, Pillar, PillarFiles, ROLES, Words};
use crate::splice;
use serde_json::{Map, Value, json};

type Edited = Result<PillarFiles, Vec<Diagnostic>>;

/// What may be set of a host; the option, its key in the pillar, and whether it is a list.
const OPTIONS: &[(&str, bool)] = &[
    ("address", false),
    ("datacenter", false),
    ("devices", true),
    ("roles", true),
    ("volume_group", false),
    ("volumes_below", false),
];

pub fn create(files: &PillarFiles, said: &Words, name: &str, facts: &Options) -> Edited {
    let pillar = Pillar::read(files)?;
    let existing = pillar.hosts.get(name);
    check(name, facts, existing.is_none())?;
    refuse_second_control(&pillar, name, facts)?;
    match existing {
        Some(existing) if differs(existing, facts) => {
            let hint = format!("Change it with `eos update host {name}`");
            Err(vec![
                Diagnostic::new(format!("Host {name} exists with other options")).hint(hint),
            ])
        }
        Some(_) => Ok(files.clone()),
        None => {
            let mut fields: Map<String, Value> = facts.clone().into_iter().collect();
            fields.entry("roles").or_insert_with(|| json!(["client"]));
            fields.insert("intent".to_owned(), words_json(said));
            let edited = set(&text(files), &["hosts", name], &Value::Object(fields))?;
            Ok(with(files, edited))
        }
    }
}

pub fn update(files: &PillarFiles, said: &Words, name: &str, facts: &Options) -> Edited {
    let pillar = Pillar::read(files)?;
    check(name, facts, false)?;
    refuse_second_control(&pillar, name, facts)?;
    if !differs(existing(&pillar, name)?, facts) {
        return Ok(files.clone());
    }
    let mut edited = text(files);
    for (fact, value) in facts {
        edited = set(&edited, &["hosts", name, fact], value)?;
    }
    let edited = set(&edited, &["hosts", name, "intent"], &words_json(said))?;
    Ok(with(files, edited))
}

pub fn delete(files: &PillarFiles, name: &str) -> Edited {
    let pillar = Pillar::read(files)?;
    check(name, &Options::new(), false)?;
    refuse_in_use(&pillar, existing(&pillar, name)?)?;
    let edited = splice::remove(COMMON_FILE, &text(files), &["hosts", name]);
    Ok(with(files, edited.map_err(|found| vec![found])?))
}

fn text(files: &PillarFiles) -> String {
    let text = files
        .get(COMMON_FILE)
        .map_or(&b"#!yaml\nhosts: {}\n"[..], Vec::as_slice);
    String::from_utf8_lossy(text).into_owned()
}

fn with(files: &PillarFiles, edited: String) -> PillarFiles {
    let mut files = files.clone();
    files.insert(COMMON_FILE.to_owned(), edited.into_bytes());
    files
}

fn existing<'p>(pillar: &'p Pillar, name: &str) -> Result<&'p Host, Vec<Diagnostic>> {
    let missing = || {
        let hint = match name::closest(name, pillar.hosts.keys().map(String::as_str)) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!(
                "There are: {}",
                pillar.hosts.keys().cloned().collect::<Vec<_>>().join(", ")
            ),
        };
        vec![Diagnostic::new(format!("There is no host {}", quoted(name))).hint(hint)]
    };
    pillar.hosts.get(name).ok_or_else(missing)
}

fn check(name: &str, facts: &Options, is_new: bool) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    if let Some(problem) = name::problem(Sort::Host, name) {
        found.push(Diagnostic::new(problem).hint("Give the id of its Salt minion"));
    }
    if is_new && !facts.contains_key("address") {
        found.push(Diagnostic::new("A host needs an address").hint("Give it with --address"));
    }
    for (option, value) in facts {
        let Some((_, is_list)) = OPTIONS.iter().find(|(known, _)| known == option) else {
            found.push(Diagnostic::new(format!("A host has no {}", quoted(option))));
            continue;
        };
        let texts: Vec<&str> = match is_list {
            true => value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
            false => value.as_str().into_iter().collect(),
        };
        for text in texts {
            found.extend(wrong(option, text));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn wrong(option: &str, text: &str) -> Option<Diagnostic> {
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
    match option {
        "roles" if !ROLES.contains(&text) => {
            let hint = match name::closest(text, ROLES.iter().copied()) {
                Some(meant) => format!("Did you mean {meant}?"),
                None => format!("Known roles: {}", ROLES.join(", ")),
            };
            Some(Diagnostic::new(format!("Unknown role {}", quoted(text))).hint(hint))
        }
        "devices" if !text.starts_with("/dev/") || text.contains("..") || !plain(text) => Some(
            Diagnostic::new(format!("{} is not a device", quoted(text)))
                .hint("For example --device /dev/sdb"),
        ),
        "address" | "datacenter" | "volume_group" if !plain(text) => Some(Diagnostic::new(format!(
            "{} cannot be the {option} of a host",
            quoted(text)
        ))),
        "volumes_below" if !option::is_absolute(text.trim_end_matches('/')) => Some(
            Diagnostic::new(format!("volumes_below cannot be {}", quoted(text)))
                .hint("Give an absolute path without . and .."),
        ),
        _ => None,
    }
}

fn differs(existing: &Host, facts: &Options) -> bool {
    facts.iter().any(|(option, value)| {
        let had = match option.as_str() {
            "address" => json!(existing.address),
            "datacenter" => json!(existing.datacenter),
            "devices" => json!(existing.devices),
            "roles" => json!(existing.roles),
            "volume_group" => json!(existing.volume_group),
            "volumes_below" => json!(existing.volumes_below),
            _ => Value::Null,
        };
        had != *value
    })
}

fn set(text: &str, path: &[&str], value: &Value) -> Result<String, Vec<Diagnostic>> {
    splice::set(COMMON_FILE, text, path, &yaml_value(value)).map_err(|found| vec![found])
}

/// Terraform's workspaces lie on one host; a second one would begin anew, beside all that is there.
fn refuse_second_control(pillar: &Pillar, name: &str, facts: &Options) -> Result<(), Vec<Diagnostic>> {
    let roles = facts.get("roles").and_then(Value::as_array);
    let wants = roles.is_some_and(|roles| roles.iter().any(|role| role == "control"));
    let mut hosts = pillar.hosts.values().filter(|host| host.name != name);
    match hosts.find(|host| wants && host.has_role("control")) {
        Some(control) => Err(vec![
            Diagnostic::new(format!(
                "Host {} has the role control, which only one can have",
                control.name
            ))
            .hint("Leave the role control out"),
        ]),
        None => Ok(()),
    }
}

/// A host with data on it, or the one that runs Terraform, cannot simply go.
fn refuse_in_use(pillar: &Pillar, host: &Host) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    if host.has_role("control") {
        found.push(
            Diagnostic::new(format!(
                "Host {} runs Terraform for the estate and cannot be removed",
                host.name
            ))
            .hint("The workspaces are on it: an estate keeps its control host"),
        );
    }
    for volume in pillar.volumes.values() {
        if volume.host.names.contains(&host.name) {
            let words = format!("Volume {} lies on host {}", volume.name, host.name);
            let hint = format!("`eos delete volume {}` first", volume.name);
            found.push(
                Diagnostic::new(words)
                    .at(&volume.host.at.file, volume.host.at.position)
                    .hint(hint),
            );
        }
    }
    for component in pillar.components.values() {
        for (volume, on) in &component.hosts {
            if on.names.contains(&host.name) {
                found.push(
                    Diagnostic::new(format!(
                        "Volume {volume} of {} in {} lies on host {}",
                        component.name, component.environment, host.name
                    ))
                    .at(&on.at.file, on.at.position)
                    .hint(format!("Delete {} first, or move its data", component.name)),
                );
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}
