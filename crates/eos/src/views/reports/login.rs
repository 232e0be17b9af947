//! The report of `eos login`: as whom, until when, and which file has the token.

use crate::views::report::{Message, Page, Report};
use crate::views::text::moment;
use jiff::Timestamp;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
pub struct Login {
    pub url: String,
    pub user: String,
    pub expires: Timestamp,
    pub token_file: PathBuf,
}

impl Report for Login {
    fn text(&self, page: &mut Page) {
        page.say(&format!(
            "Logged in to {} as {} until {}; the token is in {}",
            self.url,
            self.user,
            moment(self.expires, Timestamp::now()),
            self.token_file.display()
        ));
    }

    fn json(&self) -> Message {
        Message::document("login", self)
    }
}
