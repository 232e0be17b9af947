//! Text as it is: help, completions, schemas.

use crate::views::report::{Message, Page, Report};
use serde_json::json;

pub struct Plain<'a>(pub &'a str);

impl Report for Plain<'_> {
    fn text(&self, page: &mut Page) {
        page.data(self.0);
    }

    fn json(&self) -> Message {
        let plain = anstream::adapter::strip_str(self.0).to_string();
        Message::Document("text", json!({"text": plain}))
    }
}
