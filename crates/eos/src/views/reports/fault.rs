//! The report of one fault: what failed, the engine's own words, and the next command.

use crate::problem::Fault;
use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{GREEN, RED, hang, labelled, printable, width};
use eos_engine::diagnose::LogLines;

impl Report for Fault {
    fn text(&self, page: &mut Page) {
        let columns = page.talk_width;
        let words = self.words.as_deref().unwrap_or_default();
        let inline = format!("{}: {words}", self.message);
        let fits = !words.is_empty() && !words.contains('\n') && width(&inline) + 7 <= 2 * columns;
        let first = if fits { &inline } else { &self.message };
        page.talk(labelled("error:", RED, first, columns));
        if let Some(place) = &self.place {
            page.talk(hang("  at ", &printable(&place.to_string()), columns));
        }
        if !fits && !words.is_empty() {
            let layer = self.layer.map_or_else(String::new, |layer| format!("{layer}: "));
            for (index, line) in printable(words).lines().enumerate() {
                let prefix = match index {
                    0 => format!("  {layer}"),
                    _ => "    ".to_owned(),
                };
                page.talk(hang(&prefix, line, columns));
            }
        }
        for LogLines { from, lines } in &self.lines {
            page.talk(hang("  ", &format!("{}:", printable(from)), columns));
            for line in lines {
                page.talk(hang("    ", &printable(line), columns));
            }
        }
        if let Some(effects) = &self.taken_back {
            page.talk(hang("  rolled back: ", &printable(&effects.join("; ")), columns));
        }
        if let Some(why) = &self.stands {
            page.talk(hang("  not rolled back: ", &printable(why), columns));
        }
        if let Some(hint) = &self.hint {
            page.talk(labelled("hint:", GREEN, hint, columns));
        }
    }

    fn json(&self) -> Message {
        Message::Event("error", value(self))
    }
}
