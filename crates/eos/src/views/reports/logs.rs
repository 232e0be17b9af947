//! The report of `eos logs`: what tasks wrote, to the byte where a program reads it.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{BOLD, printable};
use serde::Serialize;
use serde_json::json;

pub struct Logs(pub Vec<LogText>);

#[derive(Serialize)]
pub struct LogText {
    pub allocation: String,
    pub node: String,
    /// `running`, or how it ended: `complete`, `failed`, `lost`.
    pub status: String,
    pub task: String,
    pub stream: &'static str,
    pub text: String,
}

impl Report for Logs {
    fn text(&self, page: &mut Page) {
        let several = self.0.len() > 1;
        for log in &self.0 {
            if several {
                let of = log.allocation.get(..8).unwrap_or(&log.allocation);
                let status = match log.status.as_str() {
                    "running" => String::new(),
                    ended => format!(" ({ended})"),
                };
                page.talk(format!(
                    "{BOLD}{} {} on {}, allocation {of}{status}{BOLD:#}\n",
                    log.task, log.stream, log.node
                ));
            }
            let end = match log.text.is_empty() || log.text.ends_with('\n') {
                true => "",
                false => "\n",
            };
            let text = match page.is_terminal {
                true => printable(&log.text),
                false => log.text.clone(),
            };
            page.data(format!("{text}{end}"));
        }
    }

    fn json(&self) -> Message {
        Message::Document("logs", json!({"logs": value(&self.0)}))
    }
}
