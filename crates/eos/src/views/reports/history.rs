//! The report of `eos history`: one row an operation, and the next command for one that stopped.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{Table, Yield, moment, printable, short_operation};
use eos_engine::operation::Standing;
use eos_engine::store::Operation;
use jiff::Timestamp;
use serde_json::{Value, json};

pub struct History(pub Vec<(Operation, Standing)>);

impl Report for History {
    fn text(&self, page: &mut Page) {
        if self.0.is_empty() {
            return page.talk("No operation has run yet\n");
        }
        let now = Timestamp::now();
        let row = |(operation, standing): &(Operation, Standing)| {
            vec![
                short_operation(&operation.id).to_owned(),
                moment(operation.started, now),
                operation.who.clone(),
                printable(operation.words.strip_prefix("eos ").unwrap_or(&operation.words)),
                standing.words().to_owned(),
            ]
        };
        let table = Table {
            headings: &["operation", "when", "who", "what", "outcome"],
            right: &[],
            rows: self.0.iter().map(row).collect(),
        };
        page.data(table.print_yielding(
            page.data_width,
            &[
                Yield::Shorten(3, 24),
                Yield::Drop(2),
                Yield::Drop(1),
                Yield::Shorten(3, 8),
            ],
        ));
        let mut next = self.0.iter();
        if let Some(next) = next.find_map(|(one, standing)| standing.next(short_operation(&one.id))) {
            page.say(&format!("next: {next}"));
        }
    }

    fn json(&self) -> Message {
        let brief = |(operation, standing): &(Operation, Standing)| {
            let mut brief = value(operation);
            if let Value::Object(fields) = &mut brief {
                fields.remove("plan");
                fields.insert("standing".to_owned(), value(standing));
            }
            brief
        };
        let operations: Vec<_> = self.0.iter().map(brief).collect();
        Message::Document("history", json!({"operations": operations}))
    }
}
