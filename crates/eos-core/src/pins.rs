//! Pins: what a plan was made against, so that it can be told whether any of that moved before the plan is applied.

use crate::plan::{Plan, Work};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a plan is pinned to. An object that is not there is pinned as absent: it moves by appearing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    pub pillar: PillarPin,
    /// `environment/component` -> where its Terraform state stands.
    pub workspaces: BTreeMap<String, Option<TerraformPin>>,
    /// `environment/job` -> Nomad's modify index of the job.
    pub jobs: BTreeMap<String, Option<u64>>,
    /// `service/name` and `service-intentions/name` -> Consul's modify index. Null where there is no Consul.
    pub consul: Option<BTreeMap<String, Option<u64>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PillarPin {
    /// Of the pillar's files, as they are on disk.
    pub digest: String,
    /// The last commit that changed them; none where they hold an edit that no commit has.
    pub commit: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerraformPin {
    pub lineage: String,
    pub serial: u64,
}

/// What a plan is about in each engine, and therefore pinned to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// `environment/component`
    pub workspaces: BTreeSet<String>,
    /// `environment/job`
    pub jobs: BTreeSet<String>,
    pub services: BTreeSet<String>,
}

impl Pinned {
    pub fn of(plan: &Plan) -> Self {
        let mut pinned = Self::default();
        for step in &plan.steps {
            let name = format!("{}/{}", step.environment, step.component);
            if step.work.is_workspace() {
                pinned.workspaces.insert(name.clone());
            }
            if let Work::Prove(proof) = &step.work
                && let Some(services) = proof.services()
            {
                pinned.jobs.insert(name);
                pinned.services.extend(services.into_iter().map(str::to_owned));
            }
        }
        pinned
    }
}

/// One thing that is not as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// As a person names it: `Nomad job production/hello`.
    pub object: String,
    pub was: String,
    pub is: String,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, was, is } = self;
        write!(f, "{object} was {was}, is {is}")
    }
}

const UNPINNED: &str = "not pinned";

impl Pins {
    /// What is not as these pins say; nothing if the plan may be applied.
    pub fn moved(&self, now: &Self) -> Vec<Moved> {
        let mut moved = self.pillar.moved(&now.pillar);
        let workspace = |name: &str| format!("Terraform workspace {name}");
        moved.extend(compared(&self.workspaces, &now.workspaces, workspace, |pin| {
            format!("at serial {} of lineage {}", pin.serial, pin.lineage)
        }));
        let at_index = |index: &u64| format!("at modify index {index}");
        let job = |name: &str| format!("Nomad job {name}");
        moved.extend(compared(&self.jobs, &now.jobs, job, at_index));
        let nothing = BTreeMap::new();
        let (was, is) = (self.consul.as_ref(), now.consul.as_ref());
        let entry = |name: &str| format!("Consul {}", name.replacen('/', " ", 1));
        moved.extend(compared(
            was.unwrap_or(&nothing),
            is.unwrap_or(&nothing),
            entry,
            at_index,
        ));
        moved
    }
}

impl PillarPin {
    fn moved(&self, now: &Self) -> Vec<Moved> {
        let object = "the pillar".to_owned();
        let short = |text: &str| text.chars().take(12).collect::<String>();
        let at = |pin: &Self| match &pin.commit {
            Some(commit) => format!("at commit {}", short(commit)),
            None => format!("an edit that no commit has, with digest {}", short(&pin.digest)),
        };
        let same_commit = self.commit.is_none() || self.commit == now.commit;
        match self.digest == now.digest && same_commit {
            true => Vec::new(),
            false if self.digest.is_empty() => vec![Moved {
                object,
                was: UNPINNED.to_owned(),
                is: at(now),
            }],
            false => vec![Moved {
                object,
                was: at(self),
                is: at(now),
            }],
        }
    }
}

/// What differs among the objects that are looked at now; one that the plan says nothing of is not pinned.
fn compared<P: PartialEq>(
    was: &BTreeMap<String, Option<P>>,
    is: &BTreeMap<String, Option<P>>,
    object: impl Fn(&str) -> String,
    words: impl Fn(&P) -> String,
) -> Vec<Moved> {
    let told = |pin: &Option<P>| pin.as_ref().map_or("not there".to_owned(), &words);
    let differing = is.iter().filter(|(name, now)| was.get(*name) != Some(*now));
    differing
        .map(|(name, now)| Moved {
            object: object(name),
            was: was.get(name).map_or(UNPINNED.to_owned(), told),
            is: told(now),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins() -> Pins {
        Pins {
            pillar: PillarPin {
                digest: "d1".repeat(32),
                commit: Some("c0ffee".repeat(6)),
            },
            workspaces: BTreeMap::from([(
                "production/hello".to_owned(),
                Some(TerraformPin {
                    lineage: "l1".to_owned(),
                    serial: 4,
                }),
            )]),
            jobs: BTreeMap::from([("production/hello".to_owned(), Some(12))]),
            consul: Some(BTreeMap::from([("service-intentions/hello".to_owned(), None)])),
        }
    }

    fn told(now: &Pins) -> Vec<String> {
        pins().moved(now).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_did_not_move_is_not_named() {
        assert_eq!(told(&pins()), Vec::<String>::new());
    }

    #[test]
    fn each_pin_that_moved_is_named_with_what_it_was_and_is() {
        let mut now = pins();
        now.pillar.commit = Some("0ddba11".repeat(6));
        assert_eq!(
            told(&now),
            ["the pillar was at commit c0ffeec0ffee, is at commit 0ddba110ddba"]
        );

        let mut now = pins();
        let pin = now.workspaces.get_mut("production/hello").unwrap();
        pin.as_mut().unwrap().serial = 5;
        let words = "Terraform workspace production/hello was at serial 4 of lineage l1, is at serial 5 of lineage l1";
        assert_eq!(told(&now), [words]);

        let mut now = pins();
        now.jobs.insert("production/hello".to_owned(), None);
        assert_eq!(
            told(&now),
            ["Nomad job production/hello was at modify index 12, is not there"]
        );

        let mut now = pins();
        let entries = now.consul.as_mut().unwrap();
        entries.insert("service-intentions/hello".to_owned(), Some(70));
        let words = "Consul service-intentions hello was not there, is at modify index 70";
        assert_eq!(told(&now), [words]);
    }

    #[test]
    fn an_edit_without_a_commit_may_be_committed_but_not_changed() {
        let mut planned = pins();
        planned.pillar.commit = None;
        assert_eq!(planned.moved(&pins()), []);
        let mut now = pins();
        now.pillar.digest = "d2".repeat(32);
        let words: Vec<_> = planned.moved(&now).iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "the pillar was an edit that no commit has, with digest d1d1d1d1d1d1, is at commit c0ffeec0ffee"
            ]
        );
    }

    #[test]
    fn a_plan_without_pins_is_never_unmoved() {
        let moved = Pins::default().moved(&pins());
        assert_eq!(moved.len(), 4);
        assert!(moved.iter().all(|moved| moved.was == UNPINNED), "{moved:?}");
    }
}
