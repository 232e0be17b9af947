//! Owns diagnostics: what a person reads under a Terraform command, and where Terraform should point.

use crate::protocol::messages;

/// One error or warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    severity: Severity,
    summary: String,
    detail: String,
    place: Vec<Step>,
}

pub type Diagnostics = Vec<Diagnostic>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Severity {
    Error,
    Warning,
}

/// One step on the way to an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Attribute(&'static str),
    Key(String),
    Index(i64),
}

impl Diagnostic {
    pub fn error(summary: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary.into())
    }

    pub fn warning(summary: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary.into())
    }

    fn new(severity: Severity, summary: String) -> Self {
        Self {
            severity,
            summary,
            detail: String::new(),
            place: Vec::new(),
        }
    }

    /// Adds a paragraph below the summary.
    pub fn detail(mut self, paragraph: impl AsRef<str>) -> Self {
        if !self.detail.is_empty() {
            self.detail.push_str("\n\n");
        }
        self.detail.push_str(paragraph.as_ref().trim_end());
        self
    }

    pub fn hint(self, hint: impl AsRef<str>) -> Self {
        self.detail(format!("hint: {}", hint.as_ref()))
    }

    /// Names the attribute; Terraform then shows file and line.
    pub fn at(self, attribute: &'static str) -> Self {
        self.within([Step::Attribute(attribute)])
    }

    pub fn within(mut self, place: impl IntoIterator<Item = Step>) -> Self {
        self.place = place.into_iter().collect();
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    #[cfg(test)]
    pub fn text(&self) -> String {
        format!("{}\n{}", self.summary, self.detail)
    }
}

pub fn attribute_path(steps: &[Step]) -> messages::AttributePath {
    let step = |step: &Step| match step {
        Step::Attribute(name) => messages::AttributeStep {
            attribute_name: Some((*name).to_owned()),
            ..Default::default()
        },
        Step::Key(key) => messages::AttributeStep {
            element_key_string: Some(key.clone()),
            ..Default::default()
        },
        Step::Index(index) => messages::AttributeStep {
            element_key_int: Some(*index),
            ..Default::default()
        },
    };
    messages::AttributePath {
        steps: steps.iter().map(step).collect(),
    }
}

impl From<Diagnostic> for messages::Diagnostic {
    fn from(diagnostic: Diagnostic) -> Self {
        let severity = match diagnostic.severity {
            Severity::Error => messages::Severity::Error,
            Severity::Warning => messages::Severity::Warning,
        };
        let attribute = (!diagnostic.place.is_empty()).then(|| attribute_path(&diagnostic.place));
        Self {
            severity: severity.into(),
            summary: diagnostic.summary,
            detail: diagnostic.detail,
            attribute,
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        vec![diagnostic]
    }
}
