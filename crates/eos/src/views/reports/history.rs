//! The report of `eos history`: one row an operation, and the next command for one that stopped.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{Table, Yield, moment, printable, short_operation};
use eos_engine::operation::Standing;
use eos_engine::store::Operation;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Of the whole id of an operation.
const ID_LETTERS: usize = 26;

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
                what(&operation.words),
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
                Yield::Shorten(3, 40),
                Yield::Shorten(4, 11),
                Yield::Shorten(3, 32),
                Yield::Drop(2),
                Yield::Shorten(3, 24),
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

/// The words of a command in one cell: without `eos`, and with operations as the first column names them.
fn what(words: &str) -> String {
    let words = printable(words.strip_prefix("eos ").unwrap_or(words));
    let of_id = |letter: char| letter.is_ascii_digit() || letter.is_ascii_uppercase();
    let mut text = String::new();
    let mut rest = words.as_str();
    while let Some(start) = rest.find(of_id) {
        let (before, from) = rest.split_at(start);
        let (run, after) = from.split_at(from.find(|letter| !of_id(letter)).unwrap_or(from.len()));
        text.push_str(before);
        text.push_str(if run.len() == ID_LETTERS {
            short_operation(run)
        } else {
            run
        });
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_named_as_in_its_own_row() {
        assert_eq!(what("eos undo (01M7V2WV6BPP3FJQEMP9GVK2B9)"), "undo (01M7V2WV6B)");
        assert_eq!(what("eos undo 01M7V2WV6B --yes"), "undo 01M7V2WV6B --yes");
        assert_eq!(what("eos create HELLO"), "create HELLO");
    }
}
