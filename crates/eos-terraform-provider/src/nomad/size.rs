//! Owns sizes as Nomad's volume specifications write them: `10GiB`, `500MB`, `1G`.

/// Reads a size in bytes; nothing if the text is none. `GB` and `G` are powers of ten, `GiB` of two.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: i64 = number.parse().ok()?;
    let unit = unit.trim().to_ascii_lowercase();
    let (prefix, base) = match unit.strip_suffix("ib").or_else(|| unit.strip_suffix('i')) {
        Some(prefix) => (prefix, 1024_i64),
        None => (unit.strip_suffix('b').unwrap_or(&unit), 1000),
    };
    let power = match prefix {
        "" if base == 1000 => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    number.checked_mul(base.checked_pow(power)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_every_form() {
        for (text, bytes) in [
            ("42", 42),
            ("42B", 42),
            ("1kB", 1000),
            ("10 GiB", 10 << 30),
            ("10Gi", 10 << 30),
            ("2G", 2_000_000_000),
            ("1TB", 1_000_000_000_000),
        ] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size() {
        for text in ["", "GiB", "-1G", "1.5G", "5X", "5iB", "99999PiB"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
