//! Volumes in the pillar: those that stand for themselves, and what is set of a component's own.

use super::{HostsOfVolume, Words, read_words};
use crate::diagnostic::{Place, Position};
use crate::lowered::Filesystem;
use crate::name::{self, Sort};
use crate::option;
use crate::read::{Reader, find};
use crate::recipe::Purpose;
use crate::source::Source;
use crate::yaml::{Entry, Node};
use std::collections::BTreeMap;

/// The need of a volume that stands for itself, as its host knows it: `environment/name/data`.
pub const STANDING_NEED: &str = "data";

/// How full a volume may be before its host says so, in percent.
pub const ALERTS: std::ops::RangeInclusive<u8> = 1..=99;

/// A volume that a person asked for by itself.
#[derive(Clone, Debug)]
pub struct StandingVolume {
    pub environment: String,
    pub name: String,
    pub host: HostsOfVolume,
    pub purpose: Purpose,
    /// Where it is mounted.
    pub mount: Option<String>,
    /// `user:group`, as numbers or names.
    pub owner: String,
    pub mode: String,
    pub settings: VolumeSettings,
    pub intent: Option<Words>,
    pub at: Place,
}

/// What the pillar says of a volume, over what its recipe and the policy say.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSettings {
    pub size: Option<Setting<u64>>,
    pub filesystem: Option<Setting<Filesystem>>,
    pub compression: Option<Setting<String>>,
    pub volume_group: Option<Setting<String>>,
    /// Disks that the volume group may have.
    pub devices: Vec<String>,
    /// Percent full at which its host says so.
    pub alert: Option<Setting<u8>>,
    /// It was larger than this when it was asked to be smaller: what is larger still was made so by somebody else.
    pub shrink_from: Option<u64>,
    /// Name -> room for what changes beside it.
    pub snapshots: BTreeMap<String, u64>,
    pub restored: Option<Restored>,
    pub converted: Option<Converted>,
}

impl VolumeSettings {
    pub const NOTHING: Self = Self {
        size: None,
        filesystem: None,
        compression: None,
        volume_group: None,
        devices: Vec::new(),
        alert: None,
        shrink_from: None,
        snapshots: BTreeMap::new(),
        restored: None,
        converted: None,
    };

    /// Whether something is set that a directory does not have.
    pub fn needs_lvm(&self) -> bool {
        self.compression.is_some()
            || self.alert.is_some()
            || self.restored.is_some()
            || self.converted.is_some()
            || !self.snapshots.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    pub value: T,
    /// As `eos why` names it.
    pub key: String,
    pub at: Place,
}

impl<T> Setting<T> {
    pub fn source(&self) -> Source {
        Source::Option {
            option: self.key.clone(),
            file: self.at.file.clone(),
            line: self.at.position.line,
        }
    }
}

/// The volume has once been brought back to a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    pub snapshot: String,
    pub when: String,
}

/// The volume has got another filesystem than it was made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    pub from: Filesystem,
    pub when: String,
    /// What it was before need not be kept any longer.
    pub committed: bool,
}

/// What may be set of a volume. The pillar's schema has the same.
pub const SETTINGS: &[&str] = &[
    "alert",
    "compression",
    "converted",
    "devices",
    "filesystem",
    "restored",
    "shrink_from",
    "size",
    "snapshots",
    "volume_group",
];

/// What else a standing volume has.
pub const STANDING: &[&str] = &["host", "intent", "mode", "mount", "owner", "purpose"];

pub fn read_standing(reader: &mut Reader<'_>, entry: &Entry, environment: &str) -> Option<StandingVolume> {
    if let Some(problem) = name::problem(Sort::Volume, &entry.key) {
        reader.report_with_hint(entry.key_at, problem, "Choose another name");
    }
    let known = [SETTINGS, STANDING].concat();
    let fields = reader.record("a volume", &entry.value, &known);
    let given = |key: &str| find(fields, key).filter(|node| !node.is_null());
    let file = reader.file.to_owned();
    let place = |position| Place {
        file: file.clone(),
        position,
    };
    let host = match given("host") {
        Some(node) => HostsOfVolume {
            names: vec![reader.text("host", node)?],
            at: place(node.at),
        },
        None => {
            reader.report_with_hint(
                entry.key_at,
                format!("Volume {} has no host", name::named(&entry.key)),
                "Add host: with the name of its host",
            );
            return None;
        }
    };
    let purpose = match given("purpose") {
        Some(node) => read_purpose(reader, node)?,
        None => Purpose::Application,
    };
    let mount = given("mount").and_then(|node| {
        let path = reader.text("mount", node)?;
        if !option::is_absolute(&path) {
            let words = format!("mount cannot be {}", name::quoted(&path));
            reader.report_with_hint(node.at, words, "Give an absolute path without . and ..");
        }
        Some(path)
    });
    let owner = given("owner").map_or(Some("root:root".to_owned()), |node| read_owner(reader, node))?;
    let mode = given("mode").map_or(Some("0755".to_owned()), |node| read_mode(reader, node))?;
    let settings = read_settings(reader, "", fields);
    if settings.size.is_none() {
        reader.report_with_hint(
            entry.key_at,
            format!("Volume {} has no size", name::named(&entry.key)),
            "Add size: such as 20G",
        );
    }
    Some(StandingVolume {
        environment: environment.to_owned(),
        name: entry.key.clone(),
        host,
        purpose,
        mount,
        owner,
        mode,
        settings,
        intent: given("intent").map(|node| read_words(reader, "intent", node)),
        at: place(entry.key_at),
    })
}

/// What is set of the volumes of one component, by need.
pub fn read_of_component(reader: &mut Reader<'_>, node: &Node) -> BTreeMap<String, VolumeSettings> {
    let mut volumes = BTreeMap::new();
    for entry in reader.map("volumes", node) {
        let fields = reader.record("what is set of a volume", &entry.value, SETTINGS);
        let settings = read_settings(reader, &format!("volumes.{}.", entry.key), fields);
        volumes.insert(entry.key.clone(), settings);
    }
    volumes
}

const NOTHING_SHARED: &str = "No volume can be shared: Eos makes no storage yet that several hosts have";

pub fn read_purpose(reader: &mut Reader<'_>, node: &Node) -> Option<Purpose> {
    let purpose = node.as_str().and_then(Purpose::from_word);
    if purpose.is_none() {
        let words = match node.as_str() {
            Some(Purpose::SHARED) => NOTHING_SHARED,
            _ => "Unknown purpose of a volume",
        };
        let hint = format!("Use {}", Purpose::WORDS.join(", "));
        reader.report_with_hint(node.at, words, hint);
    }
    purpose
}

pub fn read_owner(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let owner = reader.text("owner", node)?;
    if owner.split(':').count() != 2 {
        reader.report_with_hint(
            node.at,
            "The owner of a volume is user:group",
            "For example owner: \"472:472\"",
        );
    }
    Some(owner)
}

pub fn read_mode(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let mode = reader.text("mode", node)?;
    if !(3..=4).contains(&mode.len()) || !mode.bytes().all(|digit| (b'0'..=b'7').contains(&digit)) {
        reader.report_with_hint(
            node.at,
            format!("The mode of a volume cannot be {}", name::quoted(&mode)),
            "Use three or four octal digits in quotes, such as \"0750\"",
        );
    }
    Some(mode)
}

fn read_settings(reader: &mut Reader<'_>, prefix: &str, fields: &[Entry]) -> VolumeSettings {
    let given = |key: &str| find(fields, key).filter(|node| !node.is_null());
    let file = reader.file.to_owned();
    let at = |position: Position| Place {
        file: file.clone(),
        position,
    };
    fn set<T>(prefix: &str, key: &str, at: Place, value: T) -> Setting<T> {
        Setting {
            value,
            key: format!("{prefix}{key}"),
            at,
        }
    }
    let size = given("size").and_then(|node| {
        let bytes = read_size(reader, "size", node)?;
        Some(set(prefix, "size", at(node.at), bytes))
    });
    let filesystem = given("filesystem").and_then(|node| {
        let filesystem = read_filesystem(reader, node)?;
        Some(set(prefix, "filesystem", at(node.at), filesystem))
    });
    let compression = given("compression").and_then(|node| {
        let word = reader.text("compression", node)?;
        if !COMPRESSIONS.contains(&word.as_str()) {
            let hint = format!("Btrfs has {}", COMPRESSIONS.join(", "));
            let words = format!("compression cannot be {}", name::quoted(&word));
            reader.report_with_hint(node.at, words, hint);
        }
        Some(set(prefix, "compression", at(node.at), word))
    });
    let volume_group = given("volume_group").and_then(|node| {
        let group = reader.text("volume_group", node)?;
        if let Some(wrong) = group_problem(&group) {
            reader.report(node.at, wrong);
        }
        Some(set(prefix, "volume_group", at(node.at), group))
    });
    let devices = given("devices").map_or_else(Vec::new, |node| {
        let devices = reader.texts("devices", node);
        for device in devices.iter().filter(|device| !is_device(device)) {
            let words = format!("{} is not a device", name::quoted(device));
            reader.report_with_hint(node.at, words, "For example devices: [/dev/sdb]");
        }
        devices
    });
    let alert = given("alert").and_then(|node| {
        let (low, high) = (i64::from(*ALERTS.start()), i64::from(*ALERTS.end()));
        let percent = reader.whole_number("alert", node, low, high)?;
        Some(set(prefix, "alert", at(node.at), percent as u8))
    });
    let shrink_from = given("shrink_from").and_then(|node| read_size(reader, "shrink_from", node));
    let mut snapshots = BTreeMap::new();
    for snapshot in given("snapshots").map_or(&[][..], |node| reader.map("snapshots", node)) {
        if let Some(problem) = name::problem(Sort::Snapshot, &snapshot.key) {
            reader.report(snapshot.key_at, problem);
        }
        let room = read_size(reader, "snapshots", &snapshot.value);
        snapshots.extend(room.map(|room| (snapshot.key.clone(), room)));
    }
    let restored = given("restored").and_then(|node| {
        let fields = reader.record("restored", node, &["snapshot", "when"]);
        Some(Restored {
            snapshot: reader.text("snapshot", find(fields, "snapshot")?)?,
            when: reader.text("when", find(fields, "when")?)?,
        })
    });
    let converted = given("converted").and_then(|node| {
        let fields = reader.record("converted", node, &["from", "when", "committed"]);
        let committed = find(fields, "committed").and_then(|node| reader.flag("committed", node));
        Some(Converted {
            from: read_filesystem(reader, find(fields, "from")?)?,
            when: reader.text("when", find(fields, "when")?)?,
            committed: committed.unwrap_or_default(),
        })
    });
    VolumeSettings {
        size,
        filesystem,
        compression,
        volume_group,
        devices,
        alert,
        shrink_from,
        snapshots,
        restored,
        converted,
    }
}

/// What Btrfs can compress with.
pub const COMPRESSIONS: &[&str] = &["lzo", "zlib", "zstd"];

pub fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.contains("..") && path.chars().all(|c| c.is_ascii_graphic())
}

/// Why LVM has no volume group of this name, or nothing if it can.
pub fn group_problem(group: &str) -> Option<String> {
    let fits = !group.is_empty()
        && group.len() <= 64
        && !group.starts_with(['-', '.'])
        && group
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+_.-".contains(c));
    (!fits).then(|| format!("{} cannot name a volume group", name::quoted(group)))
}

fn read_size(reader: &mut Reader<'_>, what: &str, node: &Node) -> Option<u64> {
    let text = reader.text(what, node)?;
    option::bytes(&text)
        .inspect_err(|why| reader.report(node.at, format!("{what}: {why}")))
        .ok()
}

fn read_filesystem(reader: &mut Reader<'_>, node: &Node) -> Option<Filesystem> {
    let filesystem = node.as_str().and_then(Filesystem::from_word);
    if filesystem.is_none() {
        let hint = format!("Use {}", Filesystem::WORDS.join(", "));
        reader.report_with_hint(node.at, "Unknown filesystem", hint);
    }
    filesystem
}
