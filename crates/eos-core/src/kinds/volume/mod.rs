//! Volumes: storage on hosts that Salt makes. A directory, or a filesystem on LVM; its data outlives its component.

pub mod facts;
mod loss;
mod shown;

use super::{
    Function, Going, Kind, Made as MadePart, Parting, Phase, PhaseStep, Piece, Proof, Request, Slices,
};
use super::{Unmade as UnmadePart, Wanted};
use crate::address::{Address, NodeKind};
use crate::called::{Called, device};
use crate::compile::Compilation;
use crate::lowered::{Lowered, Volume};
use crate::node::{Layer, Node, Writer};
use crate::plan::{Action, Change, Key, PlanInput, Work};
use crate::recipe::Risk;
use crate::storage;
use crate::tiers::Tiers;
use loss::Doomed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const KIND: &str = "volume";
const TITLE: &str = "volume";

/// Salt makes the volumes of a component on one minion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub minion: String,
    /// Of the facts about them that the minion is given.
    pub digest: String,
    pub paths: Vec<String>,
    /// Data goes with it for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasting: bool,
}

/// Salt removes volumes with their data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unmade {
    pub minion: String,
    /// `environment/component/need` -> path.
    pub volumes: BTreeMap<String, String>,
    #[serde(flatten)]
    pub which: Which,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Ephemeral volumes, and those named here, which a person asked to go.
    WithData(Vec<String>),
    /// Directories that the operation made which is rolled back, each if it is empty.
    IfEmpty {},
}

/// What is proved of volumes that stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub minion: String,
    pub paths: Vec<String>,
    /// Those that were there when it was planned.
    #[serde(default, skip_serializing_if = "Standing::is_empty")]
    pub there: Standing,
}

/// Path of a volume that is there -> the UUID of the filesystem that is mounted at it; nothing for a directory.
pub type Standing = BTreeMap<String, Option<String>>;

/// Component and minion -> `environment/component/need` -> path: directories that an operation made, on which no task was
/// started.
pub type Unused = BTreeMap<(Key, String), BTreeMap<String, String>>;

impl Request for Made {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Make
    }

    fn facts(&self, _: &str) -> Value {
        json!({"digest": self.digest})
    }

    fn is_final(&self) -> bool {
        self.lasting
    }

    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool {
        let component = compilation.components.get(key);
        component.is_some_and(|component| facts::digest(component, &self.minion) == self.digest)
    }

    fn is_bound(&self) -> bool {
        true
    }

    fn object(&self, place: &str) -> String {
        format!("volumes of {place} on {}", self.minion)
    }
}

impl Request for Unmade {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Remove
    }

    fn facts(&self, made_by: &str) -> Value {
        match &self.which {
            Which::WithData(names) => json!({"volumes": self.volumes, "with_data": names}),
            Which::IfEmpty {} => json!({"volumes": self.volumes, "made_by": made_by}),
        }
    }

    fn is_final(&self) -> bool {
        match self.which {
            Which::WithData(_) => true,
            Which::IfEmpty {} => false,
        }
    }

    /// The minion refuses to remove a volume that its pillar names.
    fn is_served(&self, _: &Key, _: &Compilation) -> bool {
        true
    }

    fn is_bound(&self) -> bool {
        false
    }

    fn is_previewed(&self) -> bool {
        self.is_final()
    }

    fn object(&self, place: &str) -> String {
        format!("volumes of {place} on {}", self.minion)
    }
}

pub fn address(volume: &Volume) -> Address {
    NodeKind::Volume.at(match volume.each {
        true => format!("{}@{}", volume.name, volume.host.value),
        false => volume.name.clone(),
    })
}

/// What an attribute of it promises and Eos does not keep.
pub fn truth(volume: &Volume, attribute: &str) -> Option<String> {
    let copies = shown::copies(volume).filter(|_| attribute == shown::DURABILITY)?;
    Some(format!("{copies}, on {}", volume.host.value))
}

pub(crate) struct Volumes;

impl Kind for Volumes {
    fn sorts(&self) -> &'static [NodeKind] {
        &[NodeKind::Volume]
    }

    fn phase(&self) -> Phase {
        Phase::BeforeJob
    }

    fn nodes(&self, component: &Lowered) -> Vec<Node> {
        let node = |volume| {
            Node::of(
                component,
                address(volume),
                (Layer::Host, Writer::Salt),
                shown::summary(volume),
                shown::all_attributes(volume),
                Vec::new(),
            )
        };
        component.volumes.iter().map(node).collect()
    }

    fn called(&self, component: &Lowered, node: &Node) -> Vec<Called> {
        let mut volumes = component.volumes.iter();
        let Some(volume) = volumes.find(|volume| address(volume) == node.address) else {
            return Vec::new();
        };
        let mut all = vec![Called::new("Salt", facts::id(component, volume))];
        if let Some(lvm) = &volume.lvm {
            let group = lvm.group.value.as_str();
            all.push(Called::new("LVM", format!("{group}/{}", volume.name)));
            all.push(Called::new("kernel", device(group, &volume.name)));
        }
        if component.registers_volumes() && volume.name != node.address.name {
            all.push(Called::new("Nomad", volume.name.as_str()));
        }
        all
    }

    fn part(&self, node: &Node) -> Option<String> {
        let need = node.volume_need()?;
        Some(format!("{}/{}/{need}", node.environment, node.component))
    }

    fn slices<'a>(&self, components: &'a BTreeMap<Key, Lowered>, slices: &mut Slices<'a>) {
        // A host without volumes is told so.
        for of_host in slices.values_mut() {
            of_host.entry("volumes").or_default();
        }
        for component in components.values() {
            for volume in &component.volumes {
                let of_host = slices.entry(&volume.host.value).or_default();
                let volumes = of_host.entry("volumes").or_default();
                volumes.insert(facts::id(component, volume), facts::facts(component, volume));
            }
        }
    }

    fn pieces(&self, component: &Lowered) -> Vec<Piece> {
        let hosts = facts::pieces(component).into_iter();
        hosts
            .map(|(host, (name, volumes))| {
                let states: Map<String, Value> = volumes
                    .into_iter()
                    .map(|volume| (facts::id(component, volume), facts::state(component, volume)))
                    .collect();
                Piece {
                    // Its pieces on several hosts are for these alone: no one host includes them all.
                    deploys: name == facts::PIECE,
                    name,
                    minion: host.to_owned(),
                    states: states.into(),
                    digest: facts::digest(component, host),
                }
            })
            .collect()
    }

    /// A workspace registers the volumes of its component.
    fn recorded(&self, component: &Lowered) -> Vec<String> {
        let hosts = facts::pieces(component).into_keys();
        let uncovered = hosts.filter(|_| !component.has_workspace());
        uncovered.map(|host| facts::digest(component, host)).collect()
    }

    fn files(&self, _: &Lowered) -> Vec<(&'static str, Vec<u8>)> {
        Vec::new()
    }

    fn makes(&self, wanted: &Wanted<'_, '_>) -> Vec<PhaseStep> {
        let component = wanted.component;
        let mut changes = wanted.changes_of(NodeKind::Volume);
        if !changes.any(|change| change.action != Action::Delete) {
            return Vec::new();
        }
        let lasting = loss::loses_data(component, wanted.changes_of(NodeKind::Volume));
        let ask = |(minion, (_, volumes)): (&str, (String, Vec<&Volume>))| {
            let host = wanted
                .input
                .observed
                .and_then(|observed| observed.storage.get(minion));
            let risks = volumes
                .iter()
                .map(|volume| storage::risk(component, volume, host));
            let paths = volumes.iter().map(|volume| volume.path.value.clone());
            PhaseStep {
                risk: risks.fold(wanted.risk, Risk::max),
                work: Work::Make(MadePart::Volume(Made {
                    minion: minion.to_owned(),
                    digest: facts::digest(component, minion),
                    paths: paths.collect(),
                    lasting,
                })),
            }
        };
        facts::pieces(component).into_iter().map(ask).collect()
    }

    fn removes(&self, going: &Going<'_, '_>) -> Vec<(Parting, PhaseStep)> {
        let doomed = loss::doomed(going.input, going.key);
        let kept = kept(going, &doomed).into_iter().map(|kept| PhaseStep {
            risk: Risk::Low,
            work: Work::Prove(Proof::Kept(kept)),
        });
        let mut by_host: BTreeMap<&str, Vec<&Doomed<'_>>> = BTreeMap::new();
        for volume in &doomed {
            by_host.entry(volume.host).or_default().push(volume);
        }
        let removed = by_host.into_iter().map(|(host, doomed)| {
            let with_data = doomed.iter().filter(|volume| !volume.ephemeral);
            let paths = doomed
                .iter()
                .map(|volume| (volume.name.clone(), volume.path.to_owned()));
            PhaseStep {
                risk: going.risk,
                work: Work::Unmake(UnmadePart::Volume(Unmade {
                    minion: host.to_owned(),
                    volumes: paths.collect(),
                    which: Which::WithData(with_data.map(|volume| volume.name.clone()).collect()),
                })),
            }
        });
        kept.chain(removed).map(|asked| (Parting::Last, asked)).collect()
    }

    fn leftovers(&self, input: &PlanInput<'_>) -> Vec<(Key, Work)> {
        let unused = input.left.into_iter().flat_map(|left| &left.unused_volumes);
        let removed = unused.filter_map(|((key, minion), volumes)| {
            let named = input.compilation.components.get(key);
            let wanted = named.into_iter().flat_map(|component| &component.volumes);
            let wanted: BTreeSet<String> = wanted.map(|volume| volume.id(&key.0, &key.1)).collect();
            let unwanted = volumes.iter().filter(|(name, _)| !wanted.contains(*name));
            let volumes: BTreeMap<String, String> = unwanted
                .map(|(name, path)| (name.clone(), path.clone()))
                .collect();
            let part = Unmade {
                minion: minion.clone(),
                volumes,
                which: Which::IfEmpty {},
            };
            let is_some = !part.volumes.is_empty();
            is_some.then(|| (key.clone(), Work::Unmake(UnmadePart::Volume(part))))
        });
        removed.collect()
    }

    fn waits_for<'c>(&self, _: &'c Lowered) -> Option<&'c str> {
        None
    }

    fn adds(&self, _: &PlanInput<'_>, _: &Key, _: &[Node], _: &mut Vec<Change>) {}

    /// What is mounted hides nothing but an empty directory.
    fn risk(&self, node: &Node, tiers: &Tiers) -> Risk {
        match node.text("volume_group") {
            Some(_) => Risk::Low,
            None => tiers.of_directory(node.text("path")),
        }
    }

    fn remark(&self, change: &mut Change, input: &PlanInput<'_>) {
        let (words, reversibility) = match change.action {
            Action::Delete => {
                let (words, reversibility) = loss::of_gone(change, input);
                (vec![words], reversibility)
            }
            Action::Create | Action::Change => match loss::of_wanted(change, input) {
                Some(said) => said,
                None => return,
            },
        };
        change.reversibility = reversibility;
        if !words.is_empty() {
            change.note = Some(words.join("; "));
        }
    }
}

/// What stays of a standalone volume, host by host.
fn kept(going: &Going<'_, '_>, doomed: &[Doomed<'_>]) -> Vec<Kept> {
    let mut hosts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let volumes = going
        .applied()
        .iter()
        .filter(|node| node.address.kind == NodeKind::Volume);
    for node in volumes.filter(|_| !going.ran()) {
        let goes = doomed.iter().any(|volume| *volume.address == node.address);
        if let (Some(host), Some(path), false) = (node.text("host"), node.text("path"), goes) {
            hosts.entry(host).or_default().push(path.to_owned());
        }
    }
    let kept = hosts.into_iter().map(|(host, paths)| {
        let standing = going
            .input
            .observed
            .and_then(|observed| observed.standing.get(host));
        let there = standing
            .into_iter()
            .flatten()
            .filter(|(path, _)| paths.contains(path));
        Kept {
            minion: host.to_owned(),
            there: there.map(|(path, uuid)| (path.clone(), uuid.clone())).collect(),
            paths,
        }
    });
    kept.collect()
}
