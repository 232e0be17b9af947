//! The report of `eos expand`: how Eos makes room on full volumes, why, and which options it rejected.

use crate::views::report::{Message, Page, Purpose, Report, value};
use crate::views::text::{BOLD, RED, YELLOW, hang, printable};
use eos_core::option::human_size;
use eos_core::storage::expand::{Candidate, Decision, Rule};
use serde_json::json;
use std::fmt::Write;

pub struct Decisions<'a> {
    pub decisions: &'a [Decision],
    pub purpose: Purpose,
}

impl Report for Decisions<'_> {
    fn text(&self, page: &mut Page) {
        match self.purpose {
            Purpose::Answer => {
                page.data(decisions_text(self.decisions, page.columns()));
                if let Some(next) = next_words(self.decisions) {
                    page.say(next);
                }
            }
            Purpose::Confirm => page.talk(decisions_text(self.decisions, page.talk_width)),
        }
    }

    fn json(&self) -> Message {
        let content = json!({"decisions": value(self.decisions)});
        match self.purpose {
            Purpose::Answer => Message::Document("decisions", content),
            Purpose::Confirm => Message::Event("decisions", content),
        }
    }
}

fn decisions_text(decisions: &[Decision], columns: usize) -> String {
    let mut text = String::new();
    for line in hang("", &summary(decisions), columns).lines() {
        let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
    }
    for decision in decisions {
        let (glyph, style) = match decision.rule {
            Rule::Grow => ('~', YELLOW),
            Rule::AddDisk => ('+', YELLOW),
            Rule::Nothing => ('!', RED),
        };
        let lines = hang(&format!("  {glyph} "), &printable(&outcome(decision)), columns);
        let _ = write!(
            text,
            "\n{}",
            lines.replacen(glyph, &format!("{style}{glyph}{style:#}"), 1)
        );
        let mut fact = |name: &str, words: &str| {
            text.push_str(&hang(&format!("      {name:<6} "), &printable(words), columns));
        };
        fact("why", &decision.why);
        for candidate in &decision.considered {
            fact("not", &candidate_words(candidate));
        }
    }
    text
}

/// What to do, if Eos has no way of its own.
fn next_words(decisions: &[Decision]) -> Option<&'static str> {
    let is_left = decisions.iter().any(|decision| !decision.is_done_by_eos());
    is_left.then_some("then look again: eos storage")
}

/// `2 volumes are filling up: 1 can grow, 1 left to a person; risk medium`
fn summary(decisions: &[Decision]) -> String {
    let all = decisions.len();
    let grow = decisions
        .iter()
        .filter(|decision| decision.is_done_by_eos())
        .count();
    let run_full = match all {
        0 => return "no volume is filling up".to_owned(),
        1 => "1 volume is filling up".to_owned(),
        _ => format!("{all} volumes are filling up"),
    };
    let risk = decisions.iter().filter_map(|decision| decision.risk).max();
    let risk = risk.map_or_else(String::new, |risk| format!("; risk {}", risk.word()));
    let fate = match (grow, all - grow) {
        (1, 0) if all == 1 => "it can grow".to_owned(),
        (_, 0) => "all can grow".to_owned(),
        (0, 1) => "it needs a person".to_owned(),
        (0, _) => "all need a person".to_owned(),
        (grow, left) => format!("{grow} can grow, {left} left to a person"),
    };
    format!("{run_full}: {fate}{risk}")
}

/// `postgres-data on node1  100 GiB -> 128.6 GiB, 90 % -> 69 % full, alert at 85 %`
fn outcome(decision: &Decision) -> String {
    let Decision { host, name, .. } = decision;
    let percent = decision.percent as u64;
    let from = human_size(decision.from);
    let (Some(to), Some(after)) = (decision.to, decision.percent_after) else {
        return format!("{name} on {host}  stays at {from}, {percent} % full");
    };
    let disk = decision
        .device
        .as_ref()
        .map_or_else(String::new, |device| format!(" with {device}"));
    format!(
        "{name} on {host}  {from} -> {}{disk}, {percent} % -> {} % full, alert at {} %",
        human_size(to),
        after as u64,
        decision.alert
    )
}

fn candidate_words(candidate: &Candidate) -> String {
    let Candidate {
        candidate,
        why_not,
        command,
    } = candidate;
    match command {
        Some(command) => format!("{candidate}: {why_not}: {command}"),
        None => format!("{candidate}: {why_not}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::text::width;
    use eos_core::recipe::Risk;

    const GIB: u64 = 1 << 30;

    fn grown() -> Decision {
        Decision {
            host: "node1".to_owned(),
            volume: "production/postgres-data/data".to_owned(),
            name: "postgres-data".to_owned(),
            group: "data-vg".to_owned(),
            rule: Rule::Grow,
            why: "postgres-data is 90 % full; its limit is 85 %; 29 GiB more of data-vg make it 69 %"
                .to_owned(),
            percent: 90.9,
            percent_after: Some(69.7),
            from: 100 * GIB,
            to: Some(129 * GIB),
            device: None,
            alert: 85,
            risk: Some(Risk::Medium),
            days_to_full: None,
            considered: vec![Candidate {
                candidate: "add disk /dev/sdc".to_owned(),
                why_not: "data-vg has the room".to_owned(),
                command: None,
            }],
        }
    }

    fn left() -> Decision {
        Decision {
            name: "queue".to_owned(),
            rule: Rule::Nothing,
            why: "queue is 90 % full; its limit is 85 %; add a disk".to_owned(),
            percent_after: None,
            to: None,
            risk: None,
            considered: vec![Candidate {
                candidate: "add disk /dev/sdd (500 GiB)".to_owned(),
                why_not: "the pillar does not give it to Eos".to_owned(),
                command: Some("eos update host node1 --device /dev/sdd".to_owned()),
            }],
            ..grown()
        }
    }

    fn check(decisions: &[Decision], expected: &str) {
        let text = decisions_text(decisions, 80);
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), expected);
    }

    #[test]
    fn decisions_are_told_with_what_else_there_was() {
        check(&[], "no volume is filling up\n");
        check(
            &[grown(), left()],
            "2 volumes are filling up: 1 can grow, 1 left to a person; risk medium

  ~ postgres-data on node1  100 GiB -> 129 GiB, 90 % -> 69 % full, alert at 85 %
      why    postgres-data is 90 % full; its limit is 85 %; 29 GiB more of
             data-vg make it 69 %
      not    add disk /dev/sdc: data-vg has the room

  ! queue on node1  stays at 100 GiB, 90 % full
      why    queue is 90 % full; its limit is 85 %; add a disk
      not    add disk /dev/sdd (500 GiB): the pillar does not give it to Eos:
             eos update host node1 --device /dev/sdd
",
        );
        let disk = Decision {
            rule: Rule::AddDisk,
            device: Some("/dev/sdc".to_owned()),
            risk: Some(Risk::High),
            why: "why".to_owned(),
            considered: Vec::new(),
            ..grown()
        };
        check(
            &[disk],
            "1 volume is filling up: it can grow; risk high

  + postgres-data on node1  100 GiB -> 129 GiB with /dev/sdc, 90 % -> 69 % full,
    alert at 85 %
      why    why
",
        );
        assert_eq!(next_words(&[grown()]), None);
        assert_eq!(
            next_words(&[grown(), left()]),
            Some("then look again: eos storage")
        );
    }

    #[test]
    fn decisions_fit_a_narrow_terminal() {
        for columns in [30, 40, 60] {
            for line in decisions_text(&[grown(), left()], columns).lines() {
                let line = anstream::adapter::strip_str(line).to_string();
                assert!(width(&line) <= columns, "{columns}: {line:?}");
            }
        }
    }
}
