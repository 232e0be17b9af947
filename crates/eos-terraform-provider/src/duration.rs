//! Owns durations as Terraform's `timeouts` blocks write them: `90s`, `5m`, `1h30m`.

use std::time::Duration;

/// Reads a duration; nothing if the text is none.
pub fn parse(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let number: u64 = number.parse().ok()?;
        let part = match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.checked_mul(60)?),
            "h" => Duration::from_secs(number.checked_mul(3600)?),
            _ => return None,
        };
        total = total.checked_add(part)?;
        rest = after;
    }
    Some(total)
}

/// Writes a duration for people.
pub fn show(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_every_form() {
        for (text, seconds) in [("90s", 90), ("5m", 300), ("1h30m", 5400), ("2h", 7200)] {
            assert_eq!(parse(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse("1500ms"), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn what_is_no_duration() {
        for text in ["", "5", "m", "5 m", "-5m", "5d", "99999999999999999999h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn shown_in_the_largest_whole_unit() {
        assert_eq!(show(Duration::from_secs(300)), "5 min");
        assert_eq!(show(Duration::from_secs(90)), "90 s");
    }
}
