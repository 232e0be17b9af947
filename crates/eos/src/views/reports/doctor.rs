//! The report of `eos doctor`: one row a finding and, where something is to be fixed, the command below it.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{GREEN, RED, YELLOW, hang, pad, printable, width};
use eos_engine::doctor::{Condition, Finding};
use serde_json::json;

/// As wide as the longest condition: `limited`.
const WORD: usize = 7;
/// With less room beside it than that, what was found stands below.
const ROOM: usize = 30;

pub struct Findings(pub Vec<Finding>);

impl Report for Findings {
    fn text(&self, page: &mut Page) {
        page.data(findings_text(&self.0, page.columns()));
        page.say(&outcome_words(&self.0));
    }

    fn json(&self) -> Message {
        Message::Document("doctor", json!({"findings": value(&self.0)}))
    }
}

fn findings_text(findings: &[Finding], columns: usize) -> String {
    let whats = findings.iter().map(|finding| width(&finding.what)).max();
    let areas = findings.iter().map(|finding| width(finding.area.name())).max();
    let area = areas.unwrap_or(0);
    let below = " ".repeat(area + 2);
    let mut text = String::new();
    for finding in findings {
        let condition = finding.condition.name();
        let prefix = format!(
            "{}  {}  {}  ",
            pad(finding.area.name(), area),
            pad(&finding.what, whats.unwrap_or(0)),
            pad(condition, WORD)
        );
        let words = printable(&finding.words);
        let row = match width(&prefix) + ROOM <= columns {
            true => hang(&prefix, &words, columns),
            false => format!("{}\n{}", prefix.trim_end(), hang(&below, &words, columns)),
        };
        let style = match finding.condition {
            Condition::Ok => GREEN,
            Condition::Limited => YELLOW,
            Condition::Missing | Condition::Broken => RED,
        };
        // The condition stands last in the prefix.
        let (before, after) = row.split_at(prefix.trim_end().len() - condition.len());
        text.push_str(before);
        text.push_str(&after.replacen(condition, &format!("{style}{condition}{style:#}"), 1));
        // Whole, since it is there to be copied.
        if let Some(mend) = &finding.mend {
            text.push_str(&format!("{below}fix: {mend}\n"));
        }
    }
    text
}

/// How it stands in all, and what to do first.
fn outcome_words(findings: &[Finding]) -> String {
    let conditions = [
        Condition::Ok,
        Condition::Limited,
        Condition::Missing,
        Condition::Broken,
    ];
    let counts: Vec<String> = conditions
        .into_iter()
        .filter_map(|condition| {
            let same = |finding: &&Finding| finding.condition == condition;
            let count = findings.iter().filter(same).count();
            (count > 0).then(|| format!("{count} {}", condition.name()))
        })
        .collect();
    let counts = counts.join(", ");
    // What stands first is what the rest depends on.
    let first = findings.iter().find(|finding| finding.is_to_mend());
    match first.and_then(|finding| finding.mend.as_deref()) {
        Some(mend) => format!("{counts}   next: {mend}"),
        None => format!("{counts}: nothing to fix"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_engine::doctor::Area;

    fn findings() -> Vec<Finding> {
        vec![
            Finding::ok(Area::Machine, "git", "/usr/bin/git"),
            Finding::not_ok(
                Area::Nomad,
                "leader",
                Condition::Broken,
                "http://127.0.0.1:1/: Connection refused, and more words than fit",
                "eos lab up",
            ),
        ]
    }

    #[test]
    fn a_row_each_and_the_command_below() {
        let text = anstream::adapter::strip_str(&findings_text(&findings(), 60)).to_string();
        let expected = "\
machine  git     ok       /usr/bin/git
nomad    leader  broken   http://127.0.0.1:1/: Connection
                          refused, and more words than fit
         fix: eos lab up
";
        assert_eq!(text, expected);
        let text = anstream::adapter::strip_str(&findings_text(&findings(), 45)).to_string();
        let expected = "\
machine  git     ok
         /usr/bin/git
nomad    leader  broken
         http://127.0.0.1:1/: Connection
         refused, and more words than fit
         fix: eos lab up
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_end_says_what_to_do_first() {
        let mut findings = findings();
        assert_eq!(outcome_words(&findings), "1 ok, 1 broken   next: eos lab up");
        findings[1].condition = Condition::Limited;
        assert_eq!(outcome_words(&findings), "1 ok, 1 limited: nothing to fix");
    }
}
