//! What a program reads: one versioned document on standard output, or one event a line while an operation runs.

use super::report::{Message, Report, spend, value};
use super::{Out, View};
use crate::problem::Exit;
use eos_core::diagnostic::Diagnostic;
use eos_engine::operation::Event;
use eos_engine::waiting::Stopwatch;
use eos_lab::{Advance, Outcome, Progress};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Of every document and event; it grows when a field changes its meaning or goes away.
const VERSION: u32 = 1;

pub struct Json {
    out: Out,
    since_start: Stopwatch,
}

impl Default for Json {
    fn default() -> Self {
        Json {
            out: Out::default(),
            since_start: Stopwatch::start(),
        }
    }
}

/// The report as a program reads it, on one line.
pub fn document(report: &dyn Report, since_start: &Stopwatch) -> String {
    match report.json() {
        Message::Document(kind, content) => line("kind", kind, content),
        Message::Event(event, content) => line("event", event, content),
        Message::TimedEvent(event, mut content) => {
            spend(&mut content, since_start.read());
            line("event", event, content)
        }
    }
}

fn line(key: &str, name: &str, content: Value) -> String {
    let mut named = json!({key: name});
    match (&mut named, content) {
        (Value::Object(all), Value::Object(fields)) => all.extend(fields),
        (_, other) => named["content"] = other,
    }
    versioned(named)
}

/// The version comes first, and is that of all documents.
fn versioned(content: Value) -> String {
    let mut all = Map::new();
    all.insert("version".to_owned(), VERSION.into());
    if let Value::Object(fields) = content {
        all.extend(fields.into_iter().filter(|(field, _)| field != "version"));
    }
    format!("{}\n", Value::Object(all))
}

impl View for Json {
    fn show(&mut self, report: &dyn Report) {
        let line = document(report, &self.since_start);
        self.out.write(&mut io::stdout(), &line);
    }

    fn event(&mut self, event: &Event) {
        self.out.write(&mut io::stdout(), &versioned(value(event)));
    }

    /// A warning is talk: it would break the one document.
    fn warn(&mut self, warning: &Diagnostic) {
        let hint = warning
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("hint: {hint}\n"));
        let place = warning
            .at
            .as_ref()
            .map_or_else(String::new, |place| format!("  at {place}\n"));
        let _ = write!(io::stderr(), "warning: {}\n{place}{hint}", warning.message);
    }

    fn lab_progress(&self) -> Box<dyn Progress> {
        Box::new(LabEvents)
    }

    fn is_for_programs(&self) -> bool {
        true
    }

    fn is_done_writing(&self) -> bool {
        self.out.failed.is_some()
    }

    fn close(&mut self, exit: Exit) -> ExitCode {
        self.out.close(exit)
    }
}

/// The lab's progress, one event a line.
struct LabEvents;

impl LabEvents {
    fn event(&self, event: &str, step: &eos_lab::Step, more: Value) {
        let mut content = json!({"engine": step.engine, "what": step.what});
        if let (Some(fields), Value::Object(more)) = (content.as_object_mut(), more) {
            fields.extend(more);
        }
        // The verb's own answer follows: if that cannot be written, it says so.
        let _ = io::stdout().write_all(line("event", event, content).as_bytes());
    }
}

impl Progress for LabEvents {
    fn started(&self, step: &eos_lab::Step) {
        self.event(
            "started",
            step,
            json!({"usual_seconds": step.usual.map(|usual| usual.as_secs_f64())}),
        );
    }

    fn advanced(&self, step: &eos_lab::Step, advance: Advance, elapsed: Duration) {
        let Advance { done, total, unit } = advance;
        self.event(
            "advanced",
            step,
            json!({"done": done, "total": total, "unit": unit, "seconds": elapsed.as_secs_f64()}),
        );
    }

    fn noted(&self, step: &eos_lab::Step, words: &str) {
        self.event("noted", step, json!({"words": words}));
    }

    fn ended(&self, step: &eos_lab::Step, outcome: Outcome, elapsed: Duration) {
        self.event(
            "ended",
            step,
            json!({"done": outcome == Outcome::Done, "seconds": elapsed.as_secs_f64()}),
        );
    }
}
