//! The reports of `eos read host` and `eos read volume`: one thing, its facts, and the source of each.

use super::component::{IntentReport, OptionReport, with_comments};
use super::list::Applied;
use crate::views::report::{Message, Page, Report, value};
use eos_core::diagnostic::Place;
use eos_core::intent::Noun;
use eos_core::node::Node;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub struct ThingReport {
    #[serde(skip)]
    pub noun: Noun,
    pub name: String,
    /// None for a host.
    pub environment: Option<String>,
    /// The component that a volume belongs to.
    pub component: Option<String>,
    #[serde(skip)]
    pub facts: Vec<OptionReport>,
    pub applied: Applied,
    pub intent: Option<IntentReport>,
    /// File and line in the pillar.
    pub place: String,
}

/// The attributes of a node that say something.
pub fn facts(node: &Node) -> Vec<OptionReport> {
    let attributes = node.attributes.iter();
    let said = attributes.filter(|(_, attribute)| match &attribute.value {
        Value::Array(items) => !items.is_empty(),
        other => !other.is_null(),
    });
    said.map(|(name, attribute)| OptionReport {
        name: name.clone(),
        value: attribute.value.clone(),
        from: attribute.from.clone(),
    })
    .collect()
}

/// `file:line`
pub fn place(at: &Place) -> String {
    format!("{}:{}", at.file, at.position.line)
}

impl Report for ThingReport {
    fn text(&self, page: &mut Page) {
        let mut text = format!("# {}\n{}:\n", self.place, self.name);
        let belongs = [("environment", &self.environment), ("component", &self.component)];
        for (key, value) in belongs {
            if let Some(value) = value {
                text.push_str(&format!("  {key}: {value}\n"));
            }
        }
        let facts = self.facts.iter();
        let facts = facts.map(|fact| (format!("  {}", fact.line()), fact.from.to_string()));
        text.push_str(&with_comments(&facts.collect::<Vec<_>>()));
        text.push_str(&format!("  applied: {}\n", self.applied.words()));
        if let Some(intent) = &self.intent {
            text.push_str(&intent.text());
        }
        page.data(text);
    }

    fn json(&self) -> Message {
        let mut content = value(self);
        for fact in &self.facts {
            content[fact.name.as_str()] = fact.value.clone();
        }
        content["sources"] = value(&self.facts);
        let kind = match self.noun {
            Noun::Host => "host",
            Noun::Volume => "volume",
            Noun::Component => "component",
        };
        Message::Document(kind, content)
    }
}
