//! Hosts in the pillar: added, changed and removed.

use super::{Intent, Verb, words_json, yaml_value};
use crate::diagnostic::Diagnostic;
use crate::name::{self, quoted};
use crate::option;
use crate::pillar::{COMMON_FILE, Host, Pillar, PillarFiles, ROLES};
use crate::splice;
use serde_json::{Map, Value, json};

/// What may be set of a host; the option, its key in the pillar, and whether it is a list.
const OPTIONS: &[(&str, bool)] = &[
    ("address", false),
    ("datacenter", false),
    ("devices", true),
    ("roles", true),
    ("volume_group", false),
    ("volumes_below", false),
];

pub fn edit(files: &PillarFiles, pillar: &Pillar, intent: &Intent) -> Result<PillarFiles, Vec<Diagnostic>> {
    let name = &intent.component;
    let existing = pillar.hosts.get(name);
    check(intent, existing)?;
    refuse_second_control(pillar, intent)?;
    let text = files
        .get(COMMON_FILE)
        .map_or(&b"#!yaml\nhosts: {}\n"[..], Vec::as_slice);
    let text = String::from_utf8_lossy(text).into_owned();
    let edited = match (intent.verb, existing) {
        (Verb::Create, Some(existing)) => match differs(existing, intent) {
            false => return Ok(files.clone()),
            true => {
                let hint = format!("Change it with `eos update host {name}`");
                return Err(vec![
                    Diagnostic::new(format!("Host {name} exists with other options")).hint(hint),
                ]);
            }
        },
        (Verb::Create, None) => add(&text, intent)?,
        (Verb::Update, Some(existing)) if !differs(existing, intent) => return Ok(files.clone()),
        (Verb::Update, Some(_)) => change(&text, intent)?,
        (Verb::Delete, Some(existing)) => {
            refuse_in_use(pillar, existing)?;
            splice::remove(COMMON_FILE, &text, &["hosts", name]).map_err(|found| vec![found])?
        }
        (_, None) => {
            let hint = match name::closest(name, pillar.hosts.keys().map(String::as_str)) {
                Some(meant) => format!("Did you mean {meant}?"),
                None => format!(
                    "There are: {}",
                    pillar.hosts.keys().cloned().collect::<Vec<_>>().join(", ")
                ),
            };
            return Err(vec![
                Diagnostic::new(format!("There is no host {}", quoted(name))).hint(hint),
            ]);
        }
        (Verb::Promote, Some(_)) => return Err(vec![Diagnostic::new("A host belongs to no environment")]),
        (Verb::Reconcile, Some(_)) => {
            return Err(vec![Diagnostic::new(
                "Eos reconciles the components of a host, not the host",
            )]);
        }
        (Verb::Rotate, Some(_)) => return Err(vec![Diagnostic::new("A host has no secrets")]),
    };
    let mut files = files.clone();
    files.insert(COMMON_FILE.to_owned(), edited.into_bytes());
    Ok(files)
}

fn check(intent: &Intent, existing: Option<&Host>) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    if let Some(problem) = name::problem("host", &intent.component) {
        found.push(Diagnostic::new(problem));
    }
    if intent.verb == Verb::Create && existing.is_none() && !intent.options.contains_key("address") {
        found.push(Diagnostic::new("A host needs an address").hint("Give it with --address"));
    }
    for (option, value) in &intent.options {
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

fn differs(existing: &Host, intent: &Intent) -> bool {
    intent.options.iter().any(|(option, value)| {
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

fn add(text: &str, intent: &Intent) -> Result<String, Vec<Diagnostic>> {
    let mut fields: Map<String, Value> = intent.options.clone().into_iter().collect();
    fields.entry("roles").or_insert_with(|| json!(["client"]));
    fields.insert("intent".to_owned(), words_json(intent));
    set(text, &["hosts", &intent.component], &Value::Object(fields))
}

fn change(text: &str, intent: &Intent) -> Result<String, Vec<Diagnostic>> {
    let mut text = text.to_owned();
    for (option, value) in &intent.options {
        text = set(&text, &["hosts", &intent.component, option], value)?;
    }
    set(
        &text,
        &["hosts", &intent.component, "intent"],
        &words_json(intent),
    )
}

fn set(text: &str, path: &[&str], value: &Value) -> Result<String, Vec<Diagnostic>> {
    splice::set(COMMON_FILE, text, path, &yaml_value(value)).map_err(|found| vec![found])
}

/// Terraform's workspaces lie on one host; a second one would begin anew, beside all that is there.
fn refuse_second_control(pillar: &Pillar, intent: &Intent) -> Result<(), Vec<Diagnostic>> {
    let roles = intent.options.get("roles").and_then(Value::as_array);
    let wants = roles.is_some_and(|roles| roles.iter().any(|role| role == "control"));
    let mut hosts = pillar.hosts.values().filter(|host| host.name != intent.component);
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
