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

/// One line, as it was written.
pub struct Line<'a> {
    /// Whether more than one instance is followed.
    pub of_several: bool,
    pub of_several_tasks: bool,
    pub allocation: &'a str,
    pub node: &'a str,
    pub task: &'a str,
    pub stream: &'static str,
    pub text: &'a str,
}

impl Report for Line<'_> {
    fn text(&self, page: &mut Page) {
        let id = self.allocation.get(..8).unwrap_or(self.allocation);
        let prefix = match (self.of_several, self.of_several_tasks) {
            (false, false) => String::new(),
            (true, false) => format!("{id} | "),
            (false, true) => format!("{} | ", self.task),
            (true, true) => format!("{id} {} | ", self.task),
        };
        let text = match page.is_terminal {
            true => printable(self.text),
            false => self.text.to_owned(),
        };
        page.data(format!("{prefix}{text}\n"));
    }

    fn json(&self) -> Message {
        Message::Event(
            "log",
            json!({
                "allocation": self.allocation, "node": self.node, "task": self.task, "stream": self.stream,
                "text": self.text,
            }),
        )
    }
}

/// An instance came or went while its log was followed.
pub struct Instance<'a> {
    allocation: &'a str,
    node: &'a str,
    how: &'a str,
}

impl<'a> Instance<'a> {
    pub fn new(allocation: &'a str, node: &'a str, how: &'a str) -> Self {
        Self {
            allocation,
            node,
            how,
        }
    }
}

impl Report for Instance<'_> {
    fn text(&self, page: &mut Page) {
        let id = self.allocation.get(..8).unwrap_or(self.allocation);
        page.say(&format!("Instance {id} on {} {}", self.node, self.how));
    }

    fn json(&self) -> Message {
        Message::Event(
            "instance",
            json!({"allocation": self.allocation, "node": self.node, "how": self.how}),
        )
    }
}
