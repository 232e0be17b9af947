//! Names of components, hosts and environments: what may be one, and what a mistyped one was meant to be.

/// Nouns of the command line that no component or recipe may be called.
pub const RESERVED: &[&str] = &[
    "all",
    "cephfs",
    "environment",
    "filesystem",
    "host",
    "kept",
    "network",
    "platform",
    "secret",
    "secrets",
    "storage",
    "system",
    "user",
    "volume",
];

/// The environments of an estate; each is a Nomad namespace of the same name.
pub const ENVIRONMENTS: &[&str] = &["development", "production", "staging"];

/// Why `name` cannot name `what`, or nothing if it can.
pub fn problem(what: &str, name: &str) -> Option<String> {
    let fits = !name.is_empty()
        && name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !fits {
        return Some(format!(
            "{} cannot name a {what}: use 1 to 48 lower-case letters, digits and hyphens, a letter first",
            named(name)
        ));
    }
    RESERVED
        .contains(&name)
        .then(|| format!("\"{name}\" is a reserved word and cannot name a {what}"))
}

/// `text` in quotes, with what would disturb a terminal escaped, and cut short.
pub fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    let cut = if text.chars().count() > 60 { "…" } else { "" };
    format!("\"{shown}{cut}\"")
}

/// A name in quotes; a letter that only looks like one of the alphabet is told by its number.
pub fn named(name: &str) -> String {
    match name.chars().find(|c| !c.is_ascii()) {
        Some(foreign) => format!("{} (with U+{:04X})", quoted(name), foreign as u32),
        None => quoted(name),
    }
}

/// The candidate that `word` was most likely meant to be.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // What is much longer than any name was not meant to be one, and would take long to compare.
    if word.len() > 200 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["grafana", "a", "web-2"] {
            assert_eq!(problem("component", good), None, "{good}");
        }
        for bad in [
            "", "Grafana", "2web", "web-", "../x", "a b", "a\nb", "${x}", "volume", "gräfana",
        ] {
            assert!(problem("component", bad).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn a_mistyped_word_finds_its_meaning() {
        assert_eq!(closest("grafna", ["hello", "grafana"]), Some("grafana"));
        assert_eq!(closest("zzz", ["hello", "grafana"]), None);
    }
}
