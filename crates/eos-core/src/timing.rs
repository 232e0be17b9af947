//! Timing of a service: how often it is checked, how long its start and its stop may take, and what follows from both.

use crate::option::milliseconds;
use std::fmt;
use std::time::Duration;

/// A span of time in whole milliseconds, written in the largest unit that has no rest: `90s`, `10m`, `1500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(u64);

impl Span {
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1000)
    }

    pub const fn milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    /// As people write it: `500ms`, `90s`, `5m`, `1h30m`.
    pub fn parse(text: &str) -> Result<Self, String> {
        milliseconds(text).map(Self)
    }

    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

/// All engines read it. They know no days.
impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("h", 3_600_000), ("m", 60_000), ("s", 1000)];
        match units
            .into_iter()
            .find(|(_, length)| self.0.is_multiple_of(*length))
        {
            Some((unit, length)) if self.0 > 0 => write!(out, "{}{unit}", self.0 / length),
            Some(_) => out.write_str("0s"),
            None => write!(out, "{}ms", self.0),
        }
    }
}

/// Nomad accepts no check more often, and none with a shorter timeout.
pub const SHORTEST_CHECK: Span = Span::seconds(1);
/// An instance that is to be healthy sooner has no time to be started a second time.
pub const SHORTEST_START: Span = Span::seconds(5);
pub const SHORTEST_STOP: Span = Span::seconds(1);
/// An operation holds its locks for as long.
pub const LONGEST: Span = Span::seconds(3600);

const EVERY: Span = Span::seconds(5);
const TIMEOUT: Span = Span::seconds(3);
const START: Span = Span::seconds(90);
/// Nomad's own.
const STOP: Span = Span::seconds(5);
const ENDS: Span = Span::seconds(600);
const SETTLED: Span = Span::seconds(2);

/// A span that a recipe says, and the line it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    pub span: Span,
    pub line: u32,
}

/// The timing of a service: what its recipe says, and the usual for the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    pub every: Option<Said>,
    pub timeout: Option<Said>,
    pub start: Option<Said>,
    pub stop: Option<Said>,
    pub ends: Option<Said>,
}

impl Timing {
    /// How often the check is made.
    pub fn every(&self) -> Span {
        self.every.map_or(EVERY, |said| said.span)
    }

    /// How long one check may take.
    pub fn timeout(&self) -> Span {
        self.timeout.map_or(TIMEOUT, |said| said.span)
    }

    /// How long an instance has to be healthy, from its placement: its image is pulled within it.
    pub fn start(&self) -> Span {
        self.start.map_or(START, |said| said.span)
    }

    /// How long a task has to end by itself before it is killed.
    pub fn stop(&self) -> Span {
        self.stop.map_or(STOP, |said| said.span)
    }

    /// How long a run of what ends by itself may take.
    pub fn ends(&self) -> Span {
        self.ends.map_or(ENDS, |said| said.span)
    }

    /// How long an instance must stay healthy to count as such.
    pub fn settled(&self) -> Span {
        SETTLED.min(self.every())
    }

    /// The longest that one instance can take to be replaced by a healthy one.
    pub fn replacement(&self) -> Duration {
        self.start().duration() + self.stop().duration()
    }

    /// Whether the recipe says how long a start or a stop takes.
    pub fn says_limits(&self) -> bool {
        self.start.is_some() || self.stop.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_written_in_one_unit_without_rest() {
        for (text, shown) in [
            ("90s", "90s"),
            ("600s", "10m"),
            ("1h30m", "90m"),
            ("2d", "48h"),
            ("1500ms", "1500ms"),
            ("2000ms", "2s"),
            ("0s", "0s"),
        ] {
            let span = Span::parse(text).expect(text);
            assert_eq!(span.to_string(), shown);
            assert_eq!(Span::parse(shown), Ok(span), "{shown} is read back");
        }
    }

    #[test]
    fn the_usual_follows_the_interval() {
        let usual = Timing::default();
        let shown = |timing: &Timing| {
            [
                timing.every(),
                timing.timeout(),
                timing.settled(),
                timing.start(),
                timing.stop(),
            ]
            .map(|span| span.to_string())
            .join(" ")
        };
        assert_eq!(shown(&usual), "5s 3s 2s 90s 5s");
        let every = Some(Said {
            span: Span::seconds(1),
            line: 1,
        });
        assert_eq!(shown(&Timing { every, ..usual }), "1s 3s 1s 90s 5s");
    }
}
