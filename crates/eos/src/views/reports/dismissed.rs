//! The report of an operation that a person dismissed.

use crate::views::report::{Message, Page, Report};
use crate::views::text::{printable, short_operation};
use eos_engine::operation::Dismissed;

impl Report for Dismissed {
    fn text(&self, page: &mut Page) {
        page.say(&dismissed_words(self));
    }

    fn json(&self) -> Message {
        Message::document("dismissed", self)
    }
}

fn dismissed_words(dismissed: &Dismissed) -> String {
    let id = short_operation(&dismissed.operation);
    let environment = &dismissed.environment;
    match dismissed.stays.as_slice() {
        [] => format!("dismissed {id}: nothing of it stays"),
        stays => format!(
            "dismissed {id}   stays: {}   next: eos drift --environment {environment}",
            printable(&stays.join("; "))
        ),
    }
}
