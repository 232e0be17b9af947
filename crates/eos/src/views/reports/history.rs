//! The report of `eos history`: one row an operation, and the next command for one that stopped.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{Table, moment, printable, short_operation};
use eos_engine::operation::is_resumable;
use eos_engine::store::{Operation, Outcome};
use jiff::Timestamp;
use serde_json::{Value, json};

pub struct History(pub Vec<Operation>);

impl Report for History {
    fn text(&self, page: &mut Page) {
        if self.0.is_empty() {
            return page.talk("No operation has run yet\n");
        }
        let now = Timestamp::now();
        let row = |operation: &Operation| {
            vec![
                short_operation(&operation.id).to_owned(),
                moment(operation.started, now),
                operation.who.clone(),
                printable(operation.words.strip_prefix("eos ").unwrap_or(&operation.words)),
                operation.outcome.shown().to_owned(),
            ]
        };
        let table = Table {
            headings: &["operation", "when", "who", "what", "outcome"],
            right: &[],
            rows: self.0.iter().map(row).collect(),
        };
        page.data(table.print(page.data_width));
        if let Some(stopped) = self.0.iter().find(|operation| is_resumable(operation.outcome)) {
            page.say(&next_of(stopped));
        }
    }

    fn json(&self) -> Message {
        let brief = |operation: &Operation| {
            let mut brief = value(operation);
            if let Value::Object(fields) = &mut brief {
                fields.remove("plan");
            }
            brief
        };
        let operations: Vec<_> = self.0.iter().map(brief).collect();
        Message::Document("history", json!({"operations": operations}))
    }
}

fn next_of(stopped: &Operation) -> String {
    let id = short_operation(&stopped.id);
    match stopped.outcome {
        Outcome::Waiting => format!("next: eos approve {id} --as USER, then eos resume {id}"),
        _ => format!("next: eos resume {id}"),
    }
}
