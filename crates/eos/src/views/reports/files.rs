//! The report of generated files that Eos writes again.

use crate::views::report::{Message, Page, Report};
use crate::views::text::counted;
use serde_json::json;

pub enum Files<'a> {
    /// Eos writes them once a person confirms it.
    ToWrite(&'a [String]),
    Written(&'a [String]),
}

impl Report for Files<'_> {
    fn text(&self, page: &mut Page) {
        page.say(&match self {
            Files::ToWrite(files) => {
                let count = counted(files.len(), "generated file", "generated files");
                format!("Eos writes {count} again: {}", files.join(", "))
            }
            Files::Written(files) => format!("{} written", counted(files.len(), "file", "files")),
        });
    }

    fn json(&self) -> Message {
        let content = match self {
            Files::ToWrite(files) => json!({"to_write": files}),
            Files::Written(files) => json!({"written": files}),
        };
        Message::Event("files", content)
    }
}
