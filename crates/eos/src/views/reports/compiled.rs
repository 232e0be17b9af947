//! The report of `eos compile`: which generated files differ, and the release they make.

use crate::views::report::{Message, Page, Report};
use crate::views::text::counted;
use serde::Serialize;

#[derive(Serialize)]
pub struct Compiled {
    pub release: String,
    pub components: usize,
    pub files: usize,
    /// Files that were written or, with `--check`, would be.
    pub differing: Vec<String>,
    pub check: bool,
}

impl Report for Compiled {
    fn text(&self, page: &mut Page) {
        let glyph = if self.check { "  ~ " } else { "  " };
        for file in &self.differing {
            page.data(format!("{glyph}{file}\n"));
        }
        let components = counted(self.components, "component", "components");
        let files = counted(self.files, "file", "files");
        let changed = match (self.differing.len(), self.check) {
            (0, _) => "all up to date".to_owned(),
            (count, true) => format!("{count} would change: eos compile"),
            (count, false) => format!("{count} written"),
        };
        let release = self.release.get(..12).unwrap_or(&self.release);
        page.say(&format!("{components} in {files}, {changed}   release {release}"));
    }

    fn json(&self) -> Message {
        Message::document("compile", self)
    }
}
