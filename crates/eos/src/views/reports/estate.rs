//! The report of `eos init`: the estate and the files that Eos created.

use crate::views::report::{Message, Page, Report};
use crate::views::text::hang;
use crate::words::shell_word;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
pub struct MadeEstate {
    pub root: PathBuf,
    pub environment: String,
    pub files: Vec<String>,
}

impl Report for MadeEstate {
    fn text(&self, page: &mut Page) {
        page.data(format!("{}\n", self.root.display()));
        page.say(&format!(
            "Created an estate with environment {} in git:",
            self.environment
        ));
        for file in &self.files {
            page.talk(hang("  + ", file, page.talk_width));
        }
        let to = shell_word(&self.root.display().to_string());
        page.say(&format!("next: cd {to} && eos lab up && eos create hello"));
    }

    fn json(&self) -> Message {
        Message::document("estate", self)
    }
}
