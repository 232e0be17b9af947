//! What brings reality back to the pillar: which components get another generation, what Salt makes again, which files are
//! written again, and what only a person can mend.

use super::{Drift, Layer, Object, Verdict};
use crate::emit::terraform::PLATFORM;
use crate::intent::Sentence;
use crate::recipe::Risk;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is done about a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// It is named, and left as it is.
    Report,
    /// It is corrected when a person says so.
    #[default]
    Ask,
    /// It is corrected as soon as it is seen.
    Correct,
}

/// The policy of each tier of risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tiers {
    pub low: Policy,
    pub medium: Policy,
    pub high: Policy,
}

impl Tiers {
    pub fn of(&self, risk: Risk) -> Policy {
        match risk {
            Risk::Low => self.low,
            Risk::Medium => self.medium,
            Risk::High => self.high,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Remedy {
    /// Components that get another generation; `platform` for what all of them share.
    pub components: BTreeSet<String>,
    /// What Salt makes again, by address and with the component it belongs to.
    pub made_again: BTreeMap<String, String>,
    /// Generated files of the estate that are written again.
    pub files: Vec<String>,
    /// What Eos does not touch, and why.
    pub left: Vec<Left>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Left {
    pub object: String,
    pub why: String,
    pub hint: Option<String>,
}

impl Remedy {
    /// Whether an operation is needed.
    pub fn has_work(&self) -> bool {
        !self.components.is_empty() || !self.made_again.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        !self.has_work() && self.files.is_empty()
    }

    /// As the intent has it. What is no node of the pillar is made again by nothing.
    pub fn sentence(&self, environment: &str) -> Sentence {
        let parts = self.made_again.keys();
        Sentence::Reconcile {
            environment: environment.to_owned(),
            components: self.components.clone(),
            parts: parts.filter_map(|address| address.parse().ok()).collect(),
        }
    }

    /// The components that a plan has to look at.
    pub fn scope(&self) -> Vec<String> {
        let names = self.components.iter().chain(self.made_again.values());
        let names: BTreeSet<&String> = names.collect();
        names.into_iter().cloned().collect()
    }
}

/// What is done about what differs, of the tiers with one of these policies.
pub fn remedy(drift: &Drift, tiers: Tiers, policies: &[Policy]) -> Remedy {
    let mut remedy = Remedy::default();
    for object in drift.differing() {
        let policy = tiers.of(object.risk);
        if let Some((why, hint)) = cannot_be_mended(object) {
            remedy.left.push(left(object, why, hint));
        } else if !policies.contains(&policy) {
            let tier = object.risk.word();
            let (why, hint) = match policy {
                Policy::Report => (
                    format!("the policy for {tier} risk is to report it"),
                    format!("{tier} = \"ask\" below [drift] in eos.toml lets eos reconcile correct it"),
                ),
                Policy::Ask | Policy::Correct => (
                    format!("the policy for {tier} risk is to ask"),
                    "eos reconcile".to_owned(),
                ),
            };
            remedy.left.push(left(object, why, Some(hint)));
        } else {
            mend(&mut remedy, object, &drift.members);
        }
    }
    remedy
}

fn left(object: &Object, why: String, hint: Option<String>) -> Left {
    Left {
        object: object.object.clone(),
        why,
        hint,
    }
}

fn mend(remedy: &mut Remedy, object: &Object, members: &BTreeMap<String, String>) {
    let of = |name: &String| members.get(name).unwrap_or(name).clone();
    let component = object.component.as_ref().map(of);
    let name = component.clone().unwrap_or_else(|| PLATFORM.to_owned());
    match (object.layer, component, object.place.as_deref()) {
        (Layer::Files, _, Some("the estate")) => {
            let path = object.object.strip_prefix("file/").unwrap_or(&object.object);
            remedy.files.push(path.to_owned());
        }
        (Layer::Host, Some(component), _) => {
            remedy.made_again.insert(object.object.clone(), component);
        }
        _ => {
            remedy.components.insert(name);
        }
    }
}

/// Why Eos leaves it as it is, and what a person can do.
fn cannot_be_mended(object: &Object) -> Option<(String, Option<String>)> {
    let said = |why: &str, hint: &str| Some((why.to_owned(), Some(hint.to_owned())));
    match (object.verdict, object.layer) {
        (Verdict::PillarAhead, _) => said("the pillar is ahead of what was applied", "eos apply"),
        (Verdict::Unreachable, _) => said("Eos could not inspect it", "eos doctor"),
        // A file that strangers put among ours is not served and not applied once what is ours is written again.
        (Verdict::Unowned, Layer::Files) => None,
        (Verdict::Unowned, Layer::Nomad) => said(
            "no component owns it, and Eos removes only its own objects",
            "eos discover proposes a recipe for it; or remove it with the engine's own tools",
        ),
        (Verdict::Unowned, _) => said(
            "no component owns it, and Eos removes only its own objects",
            "Remove it with the engine's own tools",
        ),
        (_, Layer::Vault) => said(
            "policies belong to the administrator, not to a component",
            "eos lab up writes the policies of a lab again; elsewhere an administrator does: `eos drift \
             --json` has the text",
        ),
        _ => None,
    }
}
