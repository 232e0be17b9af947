//! The report of `eos discover`: what the pillar could have, what is unknown, what is missing.

use crate::views::report::{Message, Page, Report};
use crate::views::text::{BOLD, GREEN, RED, YELLOW, counted, hang, printable};
use crate::words::shell_word;
use anstyle::Style;
use eos_core::discover::{Discovery, Proposal};
use eos_core::intent::Noun;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
pub struct Discovered {
    #[serde(flatten)]
    pub discovery: Discovery,
    /// Files of the pillar to which Eos added the proposals.
    pub written: Vec<String>,
}

impl Report for Discovered {
    fn text(&self, page: &mut Page) {
        page.data(discovered_text(self, page.columns()));
        if let Some(next) = next_words(self) {
            page.say(&next);
        }
    }

    fn json(&self) -> Message {
        Message::document("discovered", self)
    }
}

fn discovered_text(discovered: &Discovered, columns: usize) -> String {
    let discovery = &discovered.discovery;
    let mut text = String::new();
    for line in hang("", &summary(discovery), columns).lines() {
        let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
    }
    for proposal in &discovery.proposals {
        text.push('\n');
        text.push_str(&proposal_text(proposal, columns));
    }
    if !discovery.unknown.is_empty() || !discovery.absent.is_empty() {
        text.push('\n');
    }
    for unknown in &discovery.unknown {
        let place = match unknown.place.as_str() {
            "" => String::new(),
            place => format!(" ({place})"),
        };
        let words = format!("{}{place}: {}", unknown.object, unknown.why);
        text.push_str(&marked('?', YELLOW, &words, columns));
    }
    for absent in &discovery.absent {
        let words = format!("{}: in the pillar, but {}", absent.object, absent.why);
        text.push_str(&marked('-', RED, &words, columns));
    }
    text
}

/// What to do with it, if anything.
fn next_words(discovered: &Discovered) -> Option<String> {
    match (
        discovered.written.as_slice(),
        discovered.discovery.proposals.len(),
    ) {
        ([], 0) => None,
        ([], _) => Some("nothing was written; to write it into the pillar: eos discover --write".to_owned()),
        (files, _) => Some(format!(
            "written, not committed, not applied: {}   next: git diff, then eos plan",
            files.join(", ")
        )),
    }
}

fn summary(discovery: &Discovery) -> String {
    let known = format!(
        "{} and {} match the pillar",
        counted(discovery.known.hosts, "host", "hosts"),
        counted(discovery.known.components, "component", "components")
    );
    let found = [
        (discovery.proposals.len(), "could be added"),
        (discovery.unknown.len(), "unknown"),
        (discovery.absent.len(), "missing"),
    ];
    let found: Vec<String> = found
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match found.is_empty() {
        true => format!("{known}, and nothing else was found"),
        false => format!("{known}; {}", found.join(", ")),
    }
}

fn proposal_text(proposal: &Proposal, columns: usize) -> String {
    let name = match (proposal.noun, &proposal.environment) {
        (Noun::Host, _) => format!("host {}", proposal.name),
        (_, Some(environment)) => format!("component {} in {environment}", proposal.name),
        (_, None) => format!("component {}", proposal.name),
    };
    let words = format!("{name}: {}", proposal.seen);
    let mut text = marked('+', GREEN, &words, columns);
    for note in &proposal.notes {
        text.push_str(&hang("    ! ", &printable(note), columns));
    }
    let command: Vec<String> = proposal.command.iter().map(|word| shell_word(word)).collect();
    text.push_str(&hang("    ", &command.join(" "), columns));
    let _ = writeln!(text, "    {}", proposal.file);
    for line in proposal.adds.lines() {
        let _ = writeln!(text, "    | {}", printable(line));
    }
    text
}

fn marked(glyph: char, style: Style, words: &str, columns: usize) -> String {
    let first = format!("{glyph} ");
    let lines = hang(&first, &printable(words), columns);
    lines.replacen(&first, &format!("{style}{glyph}{style:#} "), 1)
}
