//! The report of `eos exec`: which of several instances a session is in. The rest the command itself says.

use crate::views::report::{Message, Page, Report};
use serde_json::json;

pub struct Entered<'a> {
    pub instance: &'a str,
    pub node: &'a str,
    /// How many run.
    pub of: usize,
}

impl Report for Entered<'_> {
    fn text(&self, page: &mut Page) {
        let id = self.instance.get(..8).unwrap_or(self.instance);
        page.say(&format!(
            "Eos enters instance {id} on {}, the first healthy one of {}",
            self.node, self.of
        ));
    }

    fn json(&self) -> Message {
        Message::Event(
            "entered",
            json!({"instance": self.instance, "node": self.node, "instances": self.of}),
        )
    }
}
