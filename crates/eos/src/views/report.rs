//! A report: one answer of Eos that can show itself to a person and to a program.

use super::text::hang;
use eos_engine::waiting::Spent;
use serde::Serialize;
use serde_json::{Map, Value};

/// Text and JSON of a report stand side by side, in one file of `reports`.
pub trait Report {
    fn text(&self, page: &mut Page);
    fn json(&self) -> Message;
}

/// Why Eos shows a plan or a decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It is the answer itself.
    Answer,
    /// A person confirms it next.
    Confirm,
}

/// The text of one report, part after part, and the room there is for it.
pub struct Page {
    /// Columns for data; none where a program reads it.
    pub data_width: Option<usize>,
    pub talk_width: usize,
    /// Data of others must not command a terminal.
    pub is_terminal: bool,
    parts: Vec<Part>,
}

pub enum Part {
    /// For standard output.
    Data(String),
    /// For standard output, to the byte.
    Exact(String),
    /// For standard error.
    Talk(String),
}

impl Page {
    pub fn new(data_width: Option<usize>, talk_width: usize, is_terminal: bool) -> Self {
        Self {
            data_width,
            talk_width,
            is_terminal,
            parts: Vec::new(),
        }
    }

    /// Columns for data that is always laid out; without a limit nothing is wrapped.
    pub fn columns(&self) -> usize {
        self.data_width.unwrap_or(usize::MAX)
    }

    pub fn data(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Data(text.into()));
    }

    pub fn exact(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Exact(text.into()));
    }

    pub fn talk(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Talk(text.into()));
    }

    /// A sentence of talk, wrapped.
    pub fn say(&mut self, words: &str) {
        self.talk(hang("", words, self.talk_width));
    }

    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }
}

/// One line of JSON; the view adds its version.
pub enum Message {
    /// The one answer of a command, by its kind.
    Document(&'static str, Value),
    /// One of several lines, by its event.
    Event(&'static str, Value),
    /// An event to which the view adds the time since the program began.
    TimedEvent(&'static str, Value),
}

impl Message {
    pub fn document(kind: &'static str, content: &impl Serialize) -> Self {
        Self::Document(kind, value(content))
    }
}

pub fn value(content: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(content).expect("a report has a JSON form")
}

/// Time in all, and how it was spent: waiting for engines, and by Eos itself.
pub fn spend(event: &mut Value, spent: Spent) {
    event["seconds"] = spent.took.as_secs_f64().into();
    event["waited"] = spent.waited.as_secs_f64().into();
    event["own"] = spent.own().as_secs_f64().into();
}

/// Names and values, as the fields of an object.
pub fn pairs(outputs: &[(String, String)]) -> Value {
    outputs
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect::<Map<_, _>>()
        .into()
}
