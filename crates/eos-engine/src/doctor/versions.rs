//! Which versions of the engines Eos works with: the least that has what it needs, and the first it was never tried with.

use super::{Area, Condition, Finding};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Salt,
    /// OpenTofu counts like Terraform.
    Terraform,
    Nomad,
    Consul,
    Vault,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::Salt => "Salt",
            Engine::Terraform => "Terraform",
            Engine::Nomad => "Nomad",
            Engine::Consul => "Consul",
            Engine::Vault => "Vault",
        }
    }

    /// From the first, and below the second.
    fn supported(self) -> ([u32; 2], [u32; 2]) {
        match self {
            // What the formula does with pillar and queues is that of this release.
            Engine::Salt => ([3008, 0], [3009, 0]),
            Engine::Terraform => ([1, 6], [2, 0]),
            // Since then it knows dynamic host volumes.
            Engine::Nomad => ([1, 10], [2, 0]),
            // Since then tokens can be made from the policies that it knows by name.
            Engine::Consul => ([1, 17], [2, 0]),
            Engine::Vault => ([1, 16], [2, 0]),
        }
    }

    fn words(self) -> String {
        let ([major, minor], [next, _]) = self.supported();
        match self {
            Engine::Salt => format!("Eos works with {} {major}", self.name()),
            _ => format!(
                "Eos works with {} {major}.{minor} and newer, below {next}",
                self.name()
            ),
        }
    }

    /// How it stands, and why where that is not well.
    pub fn judge(self, version: &str) -> (Condition, Option<String>) {
        let (least, next) = self.supported();
        match numbers(version) {
            None => (
                Condition::Limited,
                Some(format!("{} does not report its version", self.name())),
            ),
            Some(found) if found < least => (
                Condition::Broken,
                Some(format!("{version} is too old: {}", self.words())),
            ),
            Some(found) if found >= next => (
                Condition::Limited,
                Some(format!("{version} is untested: {}", self.words())),
            ),
            Some(_) => (Condition::Ok, None),
        }
    }

    /// The finding for versions that were seen, each where it runs; the worst decides.
    pub fn finding(self, area: Area, versions: &[(String, String)], mend: &str) -> Option<Finding> {
        let worst = versions
            .iter()
            .map(|(place, version)| (place, self.judge(version)))
            .max_by_key(|(_, (condition, _))| *condition)?;
        Some(match worst {
            (place, (condition, Some(words))) => {
                let words = format!("{place}: {words}");
                Finding::not_ok(area, "version", condition, words, mend)
            }
            _ => {
                let mut all: Vec<&str> = versions.iter().map(|(_, version)| version.as_str()).collect();
                all.sort_unstable();
                all.dedup();
                Finding::ok(area, "version", all.join(", "))
            }
        })
    }
}

/// `1.11.2+ent` is 1.11, `3008.3` is 3008.3.
fn numbers(version: &str) -> Option<[u32; 2]> {
    let mut parts = version
        .trim_start_matches('v')
        .split(|c: char| !c.is_ascii_digit());
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    Some([major, minor])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_old_is_broken_and_what_is_too_new_was_never_tried() {
        let cases = [
            (Engine::Nomad, "1.11.2", Condition::Ok),
            (Engine::Nomad, "1.10.0+ent", Condition::Ok),
            (Engine::Nomad, "1.9.7", Condition::Broken),
            (Engine::Nomad, "2.0.0-beta1", Condition::Limited),
            (Engine::Salt, "3008.3", Condition::Ok),
            (Engine::Salt, "3007.1", Condition::Broken),
            (Engine::Salt, "3009.0", Condition::Limited),
            (Engine::Terraform, "1.5.7", Condition::Broken),
            (Engine::Consul, "v1.22.6", Condition::Ok),
            (Engine::Vault, "", Condition::Limited),
        ];
        for (engine, version, condition) in cases {
            assert_eq!(engine.judge(version).0, condition, "{engine:?} {version}");
        }
    }

    #[test]
    fn the_worst_of_all_places_is_named() {
        let at = |place: &str, version: &str| (place.to_owned(), version.to_owned());
        let seen = [at("node a", "1.11.2"), at("node b", "1.4.0")];
        let finding = Engine::Nomad.finding(Area::Nomad, &seen, "mend").unwrap();
        assert_eq!(
            finding.words,
            "node b: 1.4.0 is too old: Eos works with Nomad 1.10 and newer, below 2"
        );
        let finding = Engine::Nomad.finding(Area::Nomad, &seen[..1], "mend").unwrap();
        assert_eq!((finding.words.as_str(), finding.mend), ("1.11.2", None));
        assert_eq!(Engine::Nomad.finding(Area::Nomad, &[], "mend"), None);
    }
}
