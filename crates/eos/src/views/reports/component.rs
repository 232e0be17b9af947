//! The reports of `eos read`: a component in declarative form, or the value of one secret.

use super::plan::value_words;
use crate::views::report::{Message, Page, Report, pairs, value};
use crate::views::text::{pad, width};
use eos_core::pillar::Words;
use eos_core::source::Source;
use eos_core::yaml;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// `eos read`: a component in declarative form.
#[derive(Serialize)]
pub struct ComponentReport {
    pub component: String,
    pub environment: String,
    pub recipe: String,
    pub version: String,
    pub options: Vec<OptionReport>,
    pub secrets: Vec<SecretReport>,
    /// Unknown where no engine answers.
    pub outputs: Option<Vec<(String, String)>>,
    /// Nothing of it is to run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    pub intent: Option<IntentReport>,
    /// File and line in the pillar.
    pub place: String,
}

#[derive(Serialize)]
pub struct OptionReport {
    pub name: String,
    pub value: Value,
    pub from: Source,
}

#[derive(Serialize)]
pub struct SecretReport {
    pub name: String,
    pub value: &'static str,
    pub path: String,
}

#[derive(Serialize)]
pub struct IntentReport {
    pub words: String,
    pub who: String,
    pub when: String,
}

impl IntentReport {
    pub fn of(words: &Words) -> Self {
        Self {
            words: words.words.clone(),
            who: words.who.clone(),
            when: words.when.clone(),
        }
    }

    pub fn text(&self) -> String {
        format!(
            "  intent:\n    words: {}\n    who: {}\n    when: {}\n",
            yaml::quote(&self.words),
            yaml::quote(&self.who),
            yaml::quote(&self.when)
        )
    }
}

impl Report for ComponentReport {
    fn text(&self, page: &mut Page) {
        page.data(component_text(self));
    }

    fn json(&self) -> Message {
        let mut content = value(self);
        // The document's own version is another.
        content["recipe_version"] = self.version.as_str().into();
        content["outputs"] = self.outputs.as_deref().map_or(Value::Null, pairs);
        Message::Document("component", content)
    }
}

/// `eos read --reveal`: the one answer that holds a secret's value.
#[derive(Serialize)]
pub struct Revealed<'a> {
    pub component: &'a str,
    pub environment: &'a str,
    pub name: &'a str,
    pub revealed: &'a str,
}

impl Report for Revealed<'_> {
    /// To the byte, whatever it is: a program may read it from a pipe.
    fn text(&self, page: &mut Page) {
        page.exact(format!("{}\n", self.revealed));
    }

    fn json(&self) -> Message {
        Message::document("secret", self)
    }
}

impl OptionReport {
    /// `name: value`, as YAML has it.
    pub fn line(&self) -> String {
        let value = match &self.value {
            Value::String(text) => yaml::quote(text),
            other => value_words(other),
        };
        format!("{}: {value}", self.name)
    }
}

/// Lines of YAML, each with a comment; the comments stand below one another.
pub fn with_comments(lines: &[(String, String)]) -> String {
    let wide = lines.iter().map(|(line, _)| width(line));
    let wide = wide.filter(|wide| *wide <= 44).max().unwrap_or(0);
    let lines = lines.iter();
    lines
        .map(|(line, comment)| format!("{}  # {comment}\n", pad(line, wide)))
        .collect()
}

/// The declarative form: YAML, with the source of each value as a comment.
fn component_text(component: &ComponentReport) -> String {
    let mut text = format!(
        "# {}\n{}:\n  recipe: {}\n",
        component.place, component.component, component.recipe
    );
    let _ = writeln!(text, "  version: {}", yaml::quote(&component.version));
    let _ = writeln!(text, "  environment: {}", component.environment);
    let options = component.options.iter();
    let options = options.map(|option| (format!("    {}", option.line()), option.from.to_string()));
    let secrets = component.secrets.iter().map(|secret| {
        (
            format!("    {}: \"{}\"", secret.name, secret.value),
            secret.path.clone(),
        )
    });
    let lines: Vec<_> = options.chain(secrets).collect();
    if !lines.is_empty() {
        text.push_str("  options:\n");
    }
    text.push_str(&with_comments(&lines));
    if let Some(outputs) = component.outputs.as_ref().filter(|outputs| !outputs.is_empty()) {
        text.push_str("  outputs:\n");
        for (name, value) in outputs {
            let _ = writeln!(text, "    {name}: {}", yaml::quote(value));
        }
    }
    if component.stopped {
        text.push_str("  stopped: true\n");
    }
    if let Some(intent) = &component.intent {
        text.push_str(&intent.text());
    }
    text
}
