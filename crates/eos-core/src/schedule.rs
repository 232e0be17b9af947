//! Schedules as Nomad reads them: five fields of cron, or a word for them; and the time zone of their hours.

use crate::name::quoted;
use std::ops::RangeInclusive;

const WORDS: &[&str] = &["@hourly", "@daily", "@weekly", "@monthly", "@yearly"];
const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field of a schedule: its name, its numbers, and the names that stand for them from the first on.
struct Field {
    name: &'static str,
    numbers: RangeInclusive<u32>,
    words: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field {
        name: "minute",
        numbers: 0..=59,
        words: &[],
    },
    Field {
        name: "hour",
        numbers: 0..=23,
        words: &[],
    },
    Field {
        name: "day of the month",
        numbers: 1..=31,
        words: &[],
    },
    Field {
        name: "month",
        numbers: 1..=12,
        words: MONTHS,
    },
    Field {
        name: "day of the week",
        numbers: 0..=7,
        words: DAYS,
    },
];

/// Whether Nomad can read these times.
pub fn check(schedule: &str) -> Result<(), String> {
    if WORDS.contains(&schedule) {
        return Ok(());
    }
    let said: Vec<&str> = schedule.split_whitespace().collect();
    if said.len() != FIELDS.len() {
        return Err(format!(
            "{} is no schedule: write minute, hour, day, month and day of the week, such as \"0 3 * * *\", or one of {}",
            quoted(schedule),
            WORDS.join(", ")
        ));
    }
    for (text, field) in said.iter().zip(&FIELDS) {
        if !text.split(',').all(|part| field.has(part)) {
            return Err(format!("{} is no {} of a schedule", quoted(text), field.name));
        }
    }
    Ok(())
}

impl Field {
    /// `*`, a number, a name, `1-5`, each with or without `/2` behind it.
    fn has(&self, part: &str) -> bool {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        let steps = step.is_none_or(|step| step.parse().is_ok_and(|step: u32| step > 0));
        let is_range = match range.split_once('-') {
            _ if range == "*" => true,
            Some((from, to)) => {
                matches!((self.number(from), self.number(to)), (Some(from), Some(to)) if from <= to)
            }
            None => self.number(range).is_some(),
        };
        steps && is_range
    }

    fn number(&self, text: &str) -> Option<u32> {
        let word = self.words.iter().position(|word| text.eq_ignore_ascii_case(word));
        let number = match word {
            Some(index) => self.numbers.start().max(&0) + u32::try_from(index).ok()?,
            None if text.chars().all(|c| c.is_ascii_digit()) => text.parse().ok()?,
            None => return None,
        };
        self.numbers.contains(&number).then_some(number)
    }
}

/// Whether this can be the name of a time zone. Its minions know which there are.
pub fn check_zone(zone: &str) -> Result<(), String> {
    let fits = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'))
    };
    match zone.len() <= 40 && zone.split('/').all(fits) {
        true => Ok(()),
        false => Err(format!("{} is no time zone such as Europe/Berlin", quoted(zone))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nomad_reads_is_a_schedule() {
        for good in [
            "0 3 * * *",
            "*/5 * * * *",
            "30 2 1-15/2 jan,Jul mon-fri",
            "@daily",
            "0 0 * * 7",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "* * * *",
            "60 * * * *",
            "0 24 * * *",
            "0 0 0 * *",
            "0 0 * 13 *",
            "5-1 * * * *",
            "*/0 * * * *",
            "@never",
            "a * * * *",
            "0 3 * * * *",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_zone_is_a_name() {
        for good in [
            "UTC",
            "Europe/Berlin",
            "Etc/GMT+1",
            "America/Argentina/Buenos_Aires",
        ] {
            assert_eq!(check_zone(good), Ok(()), "{good}");
        }
        for bad in ["", "../etc", "Europe/", "Europe/Ber lin", "/UTC"] {
            assert!(check_zone(bad).is_err(), "{bad}");
        }
    }
}
