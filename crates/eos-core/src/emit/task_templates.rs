//! The templates of a task: files and variables that Nomad fills when the task starts, with secrets by workload identity.

use crate::lowered::{Group, Lowered, SecretUse};
use crate::runtime::{Piece, RuntimeText};

pub struct TaskTemplate {
    /// What its variable is called, after the group.
    pub name: String,
    pub destination: String,
    /// Whether its lines become environment variables.
    pub env: bool,
    pub data: String,
    /// The same in every environment, so that it stands in the job itself.
    pub fixed: bool,
}

const FILES: &str = "${NOMAD_TASK_DIR}";
const SECRETS: &str = "${NOMAD_SECRETS_DIR}";

/// Where a task finds the file of a secret.
pub fn secret_file(name: &str) -> String {
    format!("{SECRETS}/{name}")
}

pub fn templates(component: &Lowered, group: &Group) -> Vec<TaskTemplate> {
    let path = component.secret_path();
    let mut list = Vec::new();
    for (file, text) in &group.files {
        list.push(TaskTemplate {
            name: format!("file_{}", super::variables::identifier(file)),
            destination: format!("{FILES}/{file}"),
            env: false,
            data: text.value.nomad_template(&path),
            fixed: false,
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
            env: true,
            data: env_lines(&linked, &path),
            fixed: false,
        });
    }
    for secret in &group.secrets {
        if let Some(file) = &secret.file {
            list.push(TaskTemplate {
                name: format!("secret_{}", super::variables::identifier(file)),
                destination: secret_file(file),
                env: false,
                data: secret.text.nomad_template(&path),
                fixed: sole(secret).is_some(),
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
        .map(|(secret, item)| format!("{}={{{{ .{item}.Value | toJSON }}}}\n", secret.variable))
        .collect();
    if !plain.is_empty() {
        list.push(TaskTemplate {
            name: "secret_env".to_owned(),
            destination: secret_file("eos.env"),
            env: true,
            data: format!("{{{{ with nomadVar \"{path}\" }}}}{plain}{{{{ end }}}}"),
            fixed: true,
        });
    }
    let composed: Vec<_> = in_variables
        .iter()
        .filter(|secret| sole(secret).is_none())
        .map(|secret| (secret.variable.as_str(), &secret.text))
        .collect();
    if !composed.is_empty() {
        list.push(TaskTemplate {
            name: "secret_texts".to_owned(),
            destination: secret_file("eos-texts.env"),
            env: true,
            data: env_lines(&composed, &path),
            fixed: false,
        });
    }
    list
}

/// The secret, if the text is nothing else.
fn sole(secret: &SecretUse) -> Option<&str> {
    match secret.text.0.as_slice() {
        [Piece::Secret(item)] => Some(item),
        _ => None,
    }
}

/// `NAME="text"` lines. Each text is a template of its own, so that the whole of it can be quoted.
fn env_lines(texts: &[(&str, &RuntimeText)], secret_path: &str) -> String {
    let line = |(name, text): &(&str, &RuntimeText)| {
        let body = text.nomad_template(secret_path);
        format!(
            "{{{{ define \"{name}\" }}}}{body}{{{{ end }}}}{name}={{{{ executeTemplate \"{name}\" | toJSON }}}}\n"
        )
    };
    texts.iter().map(line).collect()
}
