//! The reports of `eos audit`: its newest entries, and the verdict on all of them.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{Table, counted, from_record, hang, moment, printable, short_operation};
use eos_engine::audit::{Entry, Verdict};
use jiff::Timestamp;
use serde_json::json;

pub struct Entries(pub Vec<Entry>);

impl Report for Entries {
    fn text(&self, page: &mut Page) {
        match self.0.is_empty() {
            true => page.talk("The audit has no entry yet\n"),
            false => page.data(audit_table(&self.0).print(page.data_width)),
        }
    }

    fn json(&self) -> Message {
        Message::Document("audit", json!({"entries": value(&self.0)}))
    }
}

impl Report for Verdict {
    fn text(&self, page: &mut Page) {
        page.data(verdict_text(self, page.columns()));
    }

    fn json(&self) -> Message {
        Message::document("audit_verdict", self)
    }
}

fn audit_table(entries: &[Entry]) -> Table<'static> {
    let now = Timestamp::now();
    let row = |entry: &Entry| {
        let when = entry.at.parse().map_or(entry.at.clone(), |at| moment(at, now));
        // Operations and homes have ids that are longer than a person needs.
        let is_id = entry.object.len() == 26 && entry.object.starts_with("01");
        let object = match is_id {
            true => short_operation(&entry.object),
            false => &entry.object,
        };
        [
            &entry.seq.to_string(),
            &when,
            &person(&entry.who, &entry.user),
            &from_record(&entry.action),
            object,
            &from_record(&entry.outcome),
        ]
        .map(printable)
        .to_vec()
    };
    Table {
        headings: &["entry", "when", "who", "what", "object", "outcome"],
        right: &[0],
        rows: entries.iter().map(row).collect(),
    }
}

/// The person, and the API user they acted as.
fn person(who: &str, user: &str) -> String {
    match user {
        "" => who.to_owned(),
        user => format!("{who} as {user}"),
    }
}

fn verdict_text(verdict: &Verdict, columns: usize) -> String {
    let mut words = format!(
        "{}, {} in commits and {} fit",
        verdict.counted_entries(),
        verdict.counted_anchors(),
        counted(verdict.operations, "sealed journal", "sealed journals"),
    );
    if verdict.foreign_anchors > 0 {
        let others = counted(verdict.foreign_anchors, "commit names", "commits name");
        words = format!("{words}; {others} the audit of another home, which this machine does not have");
    }
    hang("", &words, columns)
}
