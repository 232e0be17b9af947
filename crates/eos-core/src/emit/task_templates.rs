//! The templates of a task: files and variables that Nomad fills when the task starts, with secrets by workload identity.

use crate::lowered::{Group, Lowered, SecretUse};
use crate::runtime::{Lookup, Piece, RuntimeText};
use serde_json::Value;

pub struct TaskTemplate {
    /// What its variable is called, after the group.
    pub name: String,
    pub destination: String,
    /// A second one, from where the container gets it at a path of its own. No task can write there.
    pub shown: Option<String>,
    /// Whether its lines become environment variables.
    pub env: bool,
    pub data: String,
    /// The same in every environment, so that it stands in the job itself.
    pub fixed: bool,
    pub when_changed: WhenChanged,
}

/// What becomes of the task when its template would render anew.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WhenChanged {
    /// It is started anew.
    Restart,
    /// Nothing in it may change without a new job: the job says which version of the secrets it runs with.
    Pinned,
    /// It watches the file by itself.
    Watched,
}

fn pinned(pinned: bool) -> WhenChanged {
    match pinned {
        true => WhenChanged::Pinned,
        false => WhenChanged::Restart,
    }
}

const FILES: &str = "${NOMAD_TASK_DIR}";
const SECRETS: &str = "${NOMAD_SECRETS_DIR}";

/// The directory of a task, beside those that its container has. A task that could write there could put a link to
/// the host in the place of a file, and would find the host mounted when it starts again.
const SHOWN: &str = "shown";

/// Where a file lies that a container gets at a path of its own.
pub fn shown(file: &str) -> String {
    format!("{SHOWN}/{file}")
}

/// Where a task finds the file of a secret.
pub fn secret_file(name: &str) -> String {
    format!("{SECRETS}/{name}")
}

/// File -> the path at which its container finds it as well.
pub fn paths(group: &Group) -> impl Iterator<Item = (&str, &str)> {
    let paths = group.more.iter().flat_map(|more| &more.paths);
    paths.map(|(file, path)| (file.as_str(), path.as_str()))
}

pub fn templates(component: &Lowered, group: &Group) -> Vec<TaskTemplate> {
    let lookup = Lookup {
        profile: component.profile,
        component: &component.component,
    };
    let mut list = Vec::new();
    for (file, text) in &group.files {
        list.push(TaskTemplate {
            name: format!("file_{}", super::variables::identifier(file)),
            destination: format!("{FILES}/{file}"),
            shown: paths(group).any(|(of, _)| of == file).then(|| shown(file)),
            env: false,
            data: text.value.nomad_template(lookup),
            fixed: text.value.is_measured(),
            when_changed: match text.value.is_live() {
                true => WhenChanged::Watched,
                false => WhenChanged::Restart,
            },
        });
    }
    let linked: Vec<_> = group
        .env
        .iter()
        .filter(|(_, text)| text.value.known().is_none())
        .map(|(name, text)| (name.as_str(), &text.value))
        .collect();
    if !linked.is_empty() {
        list.push(TaskTemplate {
            name: "links".to_owned(),
            destination: format!("{FILES}/eos-links.env"),
            shown: None,
            env: true,
            data: env_lines(&linked, lookup),
            fixed: false,
            when_changed: WhenChanged::Restart,
        });
    }
    for secret in &group.secrets {
        if let Some(file) = &secret.file {
            list.push(TaskTemplate {
                name: format!("secret_{}", super::variables::identifier(file)),
                destination: secret_file(file),
                shown: None,
                env: false,
                data: secret.text.value.nomad_template(lookup),
                fixed: sole(secret).is_some(),
                when_changed: pinned(names_no_service(&secret.text.value)),
            });
        }
    }
    let in_variables: Vec<&SecretUse> = group
        .secrets
        .iter()
        .filter(|secret| secret.file.is_none())
        .collect();
    let plain: String = in_variables
        .iter()
        .filter_map(|secret| Some((secret, sole(secret)?)))
        .map(|(secret, item)| format!("{}={{{{ {} | toJSON }}}}\n", secret.variable, lookup.item(item)))
        .collect();
    if !plain.is_empty() {
        list.push(TaskTemplate {
            name: "secret_env".to_owned(),
            destination: secret_file("eos.env"),
            shown: None,
            env: true,
            data: format!("{{{{ with {} }}}}{plain}{{{{ end }}}}", lookup.secrets()),
            fixed: true,
            when_changed: WhenChanged::Pinned,
        });
    }
    let composed: Vec<_> = in_variables
        .iter()
        .filter(|secret| sole(secret).is_none())
        .map(|secret| (secret.variable.as_str(), &secret.text.value))
        .collect();
    if !composed.is_empty() {
        list.push(TaskTemplate {
            name: "secret_texts".to_owned(),
            destination: secret_file("eos-texts.env"),
            shown: None,
            env: true,
            data: env_lines(&composed, lookup),
            fixed: false,
            when_changed: pinned(composed.iter().all(|(_, text)| names_no_service(text))),
        });
    }
    list
}

/// The secret, if the text is nothing else.
fn sole(secret: &SecretUse) -> Option<&str> {
    match secret.text.value.0.as_slice() {
        [Piece::Secret(item)] => Some(item),
        _ => None,
    }
}

/// A service may move while the task runs, which then has to follow it.
fn names_no_service(text: &RuntimeText) -> bool {
    text.0.iter().all(|piece| piece.service().is_none())
}

/// `NAME="text"` lines. What is known late goes through a variable first, so that the whole text can be quoted as one.
fn env_lines(texts: &[(&str, &RuntimeText)], lookup: Lookup<'_>) -> String {
    let mut lines = String::new();
    for (name, text) in texts {
        let mut words = Vec::new();
        for (index, piece) in text.0.iter().enumerate() {
            match piece {
                Piece::Text(text) => words.push(quoted(text)),
                late => {
                    let variable = format!("${name}_{index}");
                    lines.push_str(&late.assignment(&variable, lookup));
                    words.push(variable);
                }
            }
        }
        let format = quoted(&"%s".repeat(words.len()));
        let words = words.join(" ");
        lines.push_str(&format!("{name}={{{{ printf {format} {words} | toJSON }}}}\n"));
    }
    lines
}

/// A string of the template language: JSON writes it the same way.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
