//! The report of one operation: its facts, its journal, and why a step of it failed.

use super::plan::value_words;
use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{duration, hang, printable};
use eos_engine::diagnose::LogLines;
use eos_engine::failure::StepFailure;
use eos_engine::operation::Standing;
use eos_engine::store::{Entry, Event, Operation};
use serde_json::json;
use std::time::Duration;

pub struct OperationReport {
    pub operation: Operation,
    pub standing: Standing,
    pub journal: Vec<Entry>,
}

impl Report for OperationReport {
    fn text(&self, page: &mut Page) {
        page.data(operation_text(self, page.columns()));
    }

    fn json(&self) -> Message {
        let content = json!({"operation": value(&self.operation), "standing": value(&self.standing), "journal": value(&self.journal)});
        Message::Document("operation", content)
    }
}

fn operation_text(report: &OperationReport, columns: usize) -> String {
    let OperationReport {
        operation,
        standing,
        journal,
    } = report;
    let took = operation
        .ended
        .map(|ended| ended.duration_since(operation.started).unsigned_abs());
    let seconds = |seconds: f64| duration(Duration::from_secs_f64(seconds.max(0.0)));
    let spent = match operation.own > 0.0 {
        true => format!(
            "{} waiting for engines, {} in Eos",
            seconds(operation.waited),
            seconds(operation.own)
        ),
        false => String::new(),
    };
    let facts = [
        ("operation", operation.id.clone()),
        ("what", printable(&operation.words)),
        ("who", printable(&operation.who)),
        ("environment", operation.environment.clone()),
        ("components", operation.components.join(", ")),
        (
            "started",
            operation.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        ),
        ("took", took.map_or("not finished".to_owned(), duration)),
        ("spent", spent),
        ("outcome", standing.words().to_owned()),
        ("rolls back", operation.takes_back.clone().unwrap_or_default()),
        ("commit", operation.commit_after.clone().unwrap_or_default()),
    ];
    let mut text = String::new();
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&hang(&format!("{name:<11}  "), value, columns));
    }
    if !journal.is_empty() {
        text.push('\n');
    }
    for begun in journal.iter().filter(|entry| entry.event == Event::Begin) {
        let ended = journal
            .iter()
            .find(|entry| entry.event == Event::End && entry.step == begun.step && entry.seq > begun.seq);
        let words = match ended {
            None => "started, not finished".to_owned(),
            Some(ended) => {
                let effect = ended
                    .detail
                    .get("effect")
                    .or_else(|| ended.detail.get("commit"))
                    .map_or_else(String::new, value_words);
                format!(
                    "{effect}   {}",
                    duration(ended.at.duration_since(begun.at).unsigned_abs())
                )
            }
        };
        text.push_str(&hang(&format!("  {:<14}  ", begun.step), &words, columns));
    }
    // What another version of Eos wrote is in the JSON of it.
    let failure = operation
        .failure
        .clone()
        .map(serde_json::from_value::<StepFailure>);
    if let Some(Ok(failure)) = failure {
        text.push('\n');
        text.push_str(&failure_text(&failure, columns));
    }
    text
}

/// Why a step failed, as the engines told it then.
fn failure_text(failure: &StepFailure, columns: usize) -> String {
    let StepFailure {
        number,
        total,
        title,
        error,
        diagnosis,
        ..
    } = failure;
    let (object, words) = match diagnosis {
        Some(known) => (format!("{} {}", known.layer, known.object), known.words.clone()),
        None => (format!("{} {}", error.layer, error.object), error.words.clone()),
    };
    let cause = format!("step {number}/{total} {title}: {object}: {words}");
    let mut text = hang("failed at  ", &printable(&cause), columns);
    for LogLines { from, lines } in diagnosis.iter().flat_map(|known| &known.lines) {
        text.push_str(&hang("  ", &format!("{}:", printable(from)), columns));
        for line in lines {
            text.push_str(&hang("    ", &printable(line), columns));
        }
    }
    if let Some(known) = diagnosis {
        text.push_str(&hang("hint: ", &printable(&known.hint), columns));
    }
    text
}
