//! Names of components, volumes, hosts and environments: what may be one, and what a mistyped one was meant to be.

/// Nouns of the command line that no component or recipe may be called.
pub const RESERVED: &[&str] = &[
    "all",
    "cephfs",
    "container",
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

/// What a person gives a name to. What its engines allow decides about the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A label of its service's address in DNS.
    Component,
    Recipe,
    Service,
    /// A part of the name of a logical volume.
    Snapshot,
    /// A logical volume.
    Volume,
    /// The id of a Salt minion and the name of a Nomad node: by default the full name of its machine.
    Host,
}

/// The longest name of a host. With its component, it names a step and so a file of the minion.
const LONGEST_HOST: usize = 128;
const LONGEST: usize = 48;
/// The longest name of a job that a component has beside its own: the formula takes no longer one for a component.
pub const LONGEST_JOB: usize = 63;

impl Sort {
    pub fn word(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Recipe => "recipe",
            Self::Service => "service",
            Self::Snapshot => "snapshot",
            Self::Volume => "volume",
            Self::Host => "host",
        }
    }

    /// The names that this sort of thing may have, in words.
    fn rule(self) -> String {
        match self {
            Self::Component | Self::Recipe | Self::Service | Self::Snapshot => {
                format!("use 1 to {LONGEST} lower-case letters, digits and hyphens, a letter first")
            }
            Self::Volume => {
                format!(
                    "use 1 to {LONGEST} lower-case letters, digits, hyphens and underscores, a letter first"
                )
            }
            Self::Host => format!(
                "use 1 to {LONGEST_HOST} letters, digits, dots, hyphens and underscores, as Salt has its minion"
            ),
        }
    }

    fn fits(self, name: &str) -> bool {
        let is_label = |others: &str| {
            name.len() <= LONGEST
                && name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || others.contains(c))
        };
        match self {
            Self::Component | Self::Recipe | Self::Service | Self::Snapshot => is_label("-"),
            Self::Volume => is_label("-_"),
            Self::Host => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
                name.len() <= LONGEST_HOST
                    && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                    && name
                        .split('.')
                        .all(|label| !label.is_empty() && label.chars().all(is_plain))
            }
        }
    }
}

/// Why `name` cannot name a thing of this sort, or nothing if it can.
pub fn problem(sort: Sort, name: &str) -> Option<String> {
    let what = sort.word();
    if !sort.fits(name) {
        return Some(format!("{} cannot name a {what}: {}", named(name), sort.rule()));
    }
    RESERVED
        .contains(&name)
        .then(|| format!("\"{name}\" is a reserved word and cannot name a {what}"))
}

/// Beginnings, and parts, of names that LVM keeps for its own volumes.
const LVM_BEGINS: [&str; 2] = ["pvmove", "snapshot"];
const LVM_HAS: [&str; 17] = [
    "_cdata", "_cmeta", "_corig", "_cpool", "_cvol", "_imeta", "_iorig", "_mimage", "_mlog", "_pmspare",
    "_rimage", "_rmeta", "_tdata", "_tmeta", "_vdata", "_vorigin", "_wcorig",
];

/// Why LVM has no logical volume of this name, or nothing if it can.
pub fn lvm_problem(name: &str) -> Option<String> {
    let begins = LVM_BEGINS.iter().find(|word| name.starts_with(**word));
    let has = LVM_HAS.iter().find(|word| name.contains(**word));
    let reserved = match (begins, has) {
        (Some(word), _) => format!("names that begin with {word}"),
        (None, Some(word)) => format!("names with {word} in them"),
        (None, None) => return None,
    };
    Some(format!(
        "{} cannot name a volume on LVM: LVM reserves {reserved}",
        quoted(name)
    ))
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
        let labels = [Sort::Component, Sort::Recipe, Sort::Service, Sort::Snapshot];
        let all = [&labels[..], &[Sort::Volume, Sort::Host]].concat();
        for sort in &all {
            for good in ["grafana", "a", "web-2"] {
                assert_eq!(problem(*sort, good), None, "{sort:?} {good}");
            }
            for bad in [
                "", "../x", "a b", "a\nb", "${x}", "volume", "gräfana", "-a", ".", "a/b", "a*",
            ] {
                assert!(problem(*sort, bad).is_some(), "{sort:?} {bad:?}");
            }
            assert!(problem(*sort, &"a".repeat(200)).is_some());
        }
        let is_good = |sort, name| problem(sort, name).is_none();
        for (name, of_volume, of_host) in [
            ("database_volume", true, true),
            ("web1.example.org", false, true),
            ("10.0.0.5", false, true),
            ("Web1", false, true),
            ("2web", false, true),
            ("web-", false, true),
            ("web_", false, true),
            ("_web", false, false),
            ("web1..org", false, false),
            ("web1.org.", false, false),
            (".web1", false, false),
        ] {
            assert_eq!(is_good(Sort::Volume, name), of_volume, "{name}");
            assert_eq!(is_good(Sort::Host, name), of_host, "{name}");
            for sort in labels {
                assert!(!is_good(sort, name), "{sort:?} {name}");
            }
        }
        assert!(is_good(Sort::Host, &"a".repeat(LONGEST_HOST)));
    }

    #[test]
    fn lvm_keeps_names_for_itself() {
        for good in ["database_volume", "data", "a-snapshot", "my_data"] {
            assert_eq!(lvm_problem(good), None, "{good}");
        }
        for bad in [
            "snapshots",
            "pvmove0",
            "my_tdata",
            "x_rimage_0",
            "a-b_mlog-staging",
        ] {
            assert!(lvm_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_mistyped_word_finds_its_meaning() {
        assert_eq!(closest("grafna", ["hello", "grafana"]), Some("grafana"));
        assert_eq!(closest("zzz", ["hello", "grafana"]), None);
    }
}
