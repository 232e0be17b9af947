//! The form of a finding: what it is about, how it stands, and the command that mends it.

use serde::Serialize;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// Where the program runs.
    Machine,
    Estate,
    Salt,
    Terraform,
    Nomad,
    Consul,
    Vault,
    Clocks,
}

impl Area {
    pub fn name(self) -> &'static str {
        match self {
            Area::Machine => "machine",
            Area::Estate => "estate",
            Area::Salt => "salt",
            Area::Terraform => "terraform",
            Area::Nomad => "nomad",
            Area::Consul => "consul",
            Area::Vault => "vault",
            Area::Clocks => "clocks",
        }
    }
}

/// From good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    Ok,
    /// Eos works, with less.
    Limited,
    /// It was never there, and Eos does not work without it.
    Missing,
    /// It is there and does not do what it is there for.
    Broken,
}

impl Condition {
    pub fn name(self) -> &'static str {
        match self {
            Condition::Ok => "ok",
            Condition::Limited => "limited",
            Condition::Missing => "missing",
            Condition::Broken => "broken",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub area: Area,
    pub what: String,
    pub condition: Condition,
    /// What was found or, where that is not ok, why. Never a secret value.
    pub words: String,
    /// The command that mends it, where it is not ok.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Finding {
    pub fn ok(area: Area, what: impl Into<String>, words: impl Into<String>) -> Self {
        Finding {
            area,
            what: what.into(),
            condition: Condition::Ok,
            words: words.into(),
            mend: None,
        }
    }

    /// One that is not ok: why, and what mends it.
    pub fn not_ok(
        area: Area,
        what: impl Into<String>,
        condition: Condition,
        words: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Finding {
            condition,
            mend: Some(mend.into()),
            ..Finding::ok(area, what, words)
        }
    }

    /// Whether Eos does not work as long as this is so.
    pub fn is_to_mend(&self) -> bool {
        self.condition >= Condition::Missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stops_work_is_to_be_mended() {
        let found = |condition| Finding::not_ok(Area::Machine, "git", condition, "no", "apt install git");
        assert!(!found(Condition::Limited).is_to_mend());
        assert!(found(Condition::Missing).is_to_mend() && found(Condition::Broken).is_to_mend());
        assert!(!Finding::ok(Area::Machine, "git", "").is_to_mend());
    }
}
