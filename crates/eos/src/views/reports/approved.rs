//! The report of `eos approve`: who approved what, and who goes on with it.

use crate::views::report::{Message, Page, Report};
use crate::views::text::{moment, short_operation};
use eos_engine::approval::Approval;
use jiff::Timestamp;
use serde::Serialize;

#[derive(Serialize)]
pub struct Approved {
    #[serde(flatten)]
    pub approval: Approval,
    /// The API user who asked for the operation, and can now carry it out.
    pub requester: String,
}

impl Report for Approved {
    fn text(&self, page: &mut Page) {
        page.say(&approved_words(self));
    }

    fn json(&self) -> Message {
        Message::document("approval", self)
    }
}

fn approved_words(approved: &Approved) -> String {
    let approval = &approved.approval;
    let minions = match approval.minions.as_slice() {
        [] => String::new(),
        minions => format!(", read back from {}", minions.join(", ")),
    };
    format!(
        "approved by {} until {}{minions}   next, as {}: eos resume {}",
        approval.by,
        moment(approval.until, Timestamp::now()),
        approved.requester,
        short_operation(&approval.operation)
    )
}
