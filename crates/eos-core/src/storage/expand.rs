//! What to do about volumes that run full: a pure decision over what the hosts say, by rules that are tried in order.
//!
//! 1. Snapshots, and what conversions keep, are named where it would help to delete them, and never deleted unasked.
//! 2. The volume grows in its volume group, which keeps a reserve.
//! 3. A disk that the pillar gives to Eos joins the group, and the volume grows.
//! 4. Nothing is done, and it is said what a person can do.
//!
//! A rule wins if it takes the reason away: what is too full is not any more, or will not be soon.

use super::{Disk, HostStorage, LogicalVolume, Snapshot, VolumeGroup};
use crate::option::human_size;
use crate::recipe::Risk;
use serde::Serialize;

/// How full a volume may be unless a person says otherwise, in percent.
pub const THRESHOLD: u8 = 85;
/// How much of a volume group is kept free, in percent of its size.
pub const RESERVE: u8 = 10;
/// A snapshot that is older may have been forgotten.
pub const OLD_SNAPSHOT_DAYS: i64 = 30;
/// A volume that reaches its level within so many days grows now; alerts are set to come so many days before it is full.
const SOON_DAYS: f64 = 7.0;
/// A volume that grows is to last so long at the rate seen.
const LASTING_DAYS: f64 = 30.0;
/// So many points of percent below its level a volume is to be once it has grown.
const MARGIN: f64 = 15.0;
/// No growth is smaller, where there is room: each is an operation.
const LEAST_GROWTH: f64 = 1.2;
const ALERTS: std::ops::RangeInclusive<u8> = 50..=95;
/// What LVM keeps of a disk for itself, at least.
const DISK_METADATA: u64 = 1 << 20;

/// What holds for all volumes.
#[derive(Clone, Debug)]
pub struct Terms {
    /// In percent: a volume so full is to grow. One whose own alert is lower is held to that.
    pub threshold: u8,
    /// In percent of a group's size: what growing leaves free in it.
    pub reserve: u8,
    /// The environment that commands mean where none is named.
    pub environment: String,
    /// The day before which a snapshot is old, such as `2026-10-17`.
    pub old_before: String,
}

/// One host: what it says, and which of its disks the pillar gives to Eos.
#[derive(Clone, Copy, Debug)]
pub struct HostDisks<'a> {
    pub host: &'a str,
    pub storage: &'a HostStorage,
    pub devices: &'a [String],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    Grow,
    AddDisk,
    Nothing,
}

/// What becomes of one volume.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    pub host: String,
    /// `environment/component/need`
    pub volume: String,
    pub name: String,
    pub group: String,
    pub rule: Rule,
    /// In one sentence, without full stop.
    pub why: String,
    /// How full it is now, and once it has grown.
    pub percent: f64,
    pub percent_after: Option<f64>,
    /// Bytes.
    pub from: u64,
    pub to: Option<u64>,
    /// The disk that joins the group.
    pub device: Option<String>,
    /// The percent at which the host says so from then on.
    pub alert: u8,
    /// None if nothing is done.
    pub risk: Option<Risk>,
    /// At the rate seen, as it is now.
    pub days_to_full: Option<f64>,
    /// What else there was, and why it was not done.
    pub considered: Vec<Candidate>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    pub candidate: String,
    pub why_not: String,
    /// For a person who wants it all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Decision {
    pub fn is_done_by_eos(&self) -> bool {
        self.rule != Rule::Nothing
    }
}

/// One decision for each mounted volume of Eos's that is too full, or will be soon. What a fuller volume takes of its
/// group, the others of that group do not get.
pub fn decide(hosts: &[HostDisks<'_>], terms: &Terms) -> Vec<Decision> {
    hosts.iter().flat_map(|host| decide_host(*host, terms)).collect()
}

fn decide_host(host: HostDisks<'_>, terms: &Terms) -> Vec<Decision> {
    let mut full: Vec<Full<'_>> = host
        .storage
        .volumes
        .iter()
        .filter_map(|volume| Full::find(volume, terms))
        .collect();
    full.sort_by(|a, b| b.percent.total_cmp(&a.percent).then_with(|| a.id.cmp(b.id)));
    let mut rooms: Vec<Room> = host.storage.groups.iter().map(Room::of).collect();
    let mut joined: Vec<String> = Vec::new();
    full.iter()
        .map(|full| {
            let decision = decide_volume(host, full, &rooms, &joined, terms);
            let room = rooms.iter_mut().find(|room| room.group == decision.group);
            if let (Some(room), Some(to)) = (room, decision.to) {
                let disk = decision.device.as_ref().and_then(|path| host.disk(path));
                room.add(disk);
                room.free = room.free.saturating_sub(to.saturating_sub(decision.from));
                room.is_shared = true;
            }
            joined.extend(decision.device.clone());
            decision
        })
        .collect()
}

impl<'a> HostDisks<'a> {
    fn disk(&self, path: &str) -> Option<&'a Disk> {
        self.storage.disks.iter().find(|disk| disk.path == path)
    }
}

/// A volume that is too full, or will be soon.
struct Full<'a> {
    volume: &'a LogicalVolume,
    id: &'a str,
    used: f64,
    /// How much of its size files can have.
    share: f64,
    percent: f64,
    /// How full it may be.
    level: f64,
    /// Days until its level, if that and not its fill is the reason.
    soon: Option<f64>,
}

impl<'a> Full<'a> {
    fn find(volume: &'a LogicalVolume, terms: &Terms) -> Option<Self> {
        let id = volume.id.as_deref()?;
        volume.mount.as_ref()?;
        let percent = volume.percent()?;
        let level = f64::from(volume.alert.unwrap_or(terms.threshold).min(terms.threshold));
        let soon = volume.days_until(level).filter(|days| *days <= SOON_DAYS);
        let is_full = percent >= level;
        if !is_full && soon.is_none() {
            return None;
        }
        let (used, available) = (volume.used? as f64, volume.available? as f64);
        Some(Full {
            volume,
            id,
            used,
            // A filesystem that is far smaller than its volume is about to be grown into it.
            share: ((used + available) / (volume.size.max(1) as f64)).clamp(0.5, 1.0),
            percent,
            level,
            soon: soon.filter(|_| !is_full),
        })
    }

    fn growth(&self) -> Option<f64> {
        self.volume.growth.filter(|growth| *growth > 0.0)
    }

    /// The size it is to have, if there is room.
    fn wanted(&self) -> u64 {
        let goal = (self.level - MARGIN).max(self.level / 2.0);
        let by_fill = self.used * 100.0 / goal + 1.0;
        let by_trend = self
            .growth()
            .map_or(0.0, |growth| self.used + growth * LASTING_DAYS);
        let by_files = by_fill.max(by_trend) / self.share;
        let least = self.volume.size as f64 * LEAST_GROWTH;
        by_files.max(least).ceil() as u64
    }

    fn percent_at(&self, size: u64) -> f64 {
        self.used * 100.0 / (size as f64 * self.share)
    }

    /// Whether this size takes the reason away.
    fn is_enough(&self, size: u64) -> bool {
        let is_below = self.percent_at(size) < self.level;
        let lasts = || {
            let until_level = size as f64 * self.share * self.level / 100.0 - self.used;
            self.growth()
                .is_none_or(|growth| until_level / growth > SOON_DAYS)
        };
        is_below && (self.soon.is_none() || lasts())
    }

    /// The alert that comes `SOON_DAYS` before it is full.
    fn alert_at(&self, size: u64, threshold: u8) -> u8 {
        let Some(growth) = self.growth() else {
            return threshold;
        };
        let percent = 100.0 - growth * SOON_DAYS * 100.0 / (size as f64 * self.share);
        // A number below zero becomes zero.
        (percent as u8)
            .clamp(*ALERTS.start(), *ALERTS.end())
            .min(threshold)
    }

    fn reason(&self) -> String {
        let (name, percent, level) = (&self.volume.name, shown(self.percent), self.level);
        let growth = self.growth().map(|growth| human_size(growth as u64));
        match (self.soon, growth) {
            (Some(days), Some(growth)) => format!(
                "{name} is {percent} % full and grows by {growth} a day, which makes it {level} % in {}",
                shown_days(days)
            ),
            _ => format!("{name} is {percent} % full; its limit is {level} %"),
        }
    }
}

/// What a group has, as decisions take from it.
#[derive(Clone)]
struct Room {
    group: String,
    size: u64,
    free: u64,
    extent: u64,
    /// Whether a fuller volume has taken some of it.
    is_shared: bool,
}

impl Room {
    fn of(group: &VolumeGroup) -> Self {
        Room {
            group: group.name.clone(),
            size: group.size,
            free: group.free,
            extent: group.extent.max(1),
            is_shared: false,
        }
    }

    fn add(&mut self, disk: Option<&Disk>) {
        let more = disk.map_or(0, |disk| self.extents(disk.size.saturating_sub(DISK_METADATA)));
        self.size += more;
        self.free += more;
    }

    fn with(&self, disk: &Disk) -> Self {
        let mut more = self.clone();
        more.add(Some(disk));
        more
    }

    fn extents(&self, bytes: u64) -> u64 {
        bytes / self.extent * self.extent
    }

    fn reserve(&self, terms: &Terms) -> u64 {
        (u128::from(self.size) * u128::from(terms.reserve) / 100) as u64
    }

    fn to_give(&self, terms: &Terms) -> u64 {
        self.extents(self.free.saturating_sub(self.reserve(terms)))
    }

    /// The size that a volume gets here, which may be less than it is to have.
    fn size_for(&self, full: &Full<'_>, terms: &Terms) -> u64 {
        let wanted = full.wanted().div_ceil(self.extent) * self.extent;
        wanted.min(full.volume.size + self.to_give(terms))
    }

    /// `data-vg has 4 GiB above its reserve of 10 GiB`
    fn words(&self, terms: &Terms) -> String {
        let has = match self.to_give(terms) {
            0 => "nothing".to_owned(),
            bytes => human_size(bytes),
        };
        let group = &self.group;
        let reserve = human_size(self.reserve(terms));
        match self.is_shared {
            false => format!("{group} has {has} above its reserve of {reserve}"),
            true => format!("fuller volumes leave {group} {has} above its reserve of {reserve}"),
        }
    }
}

/// What a rule would do.
struct Way<'a> {
    to: u64,
    disk: Option<&'a Disk>,
}

fn decide_volume(
    host: HostDisks<'_>,
    full: &Full<'_>,
    rooms: &[Room],
    joined: &[String],
    terms: &Terms,
) -> Decision {
    let volume = full.volume;
    let mut considered = snapshot_candidates(host, full, terms);
    considered.extend(conversion_candidates(host, full, terms));
    let room = rooms.iter().find(|room| room.group == volume.group);
    let way = match room {
        _ if !volume.snapshots.is_empty() => {
            considered.push(not(
                format!("grow {}", volume.name),
                "LVM grows no volume that is in use and has snapshots",
            ));
            None
        }
        None => {
            let words = format!("{} does not report that group", host.host);
            considered.push(not(format!("grow in {}", volume.group), words));
            None
        }
        Some(room) => find_way(host, full, room, joined, terms, &mut considered),
    };
    let (rule, risk) = match &way {
        None => (Rule::Nothing, None),
        Some(Way { disk: None, .. }) => (Rule::Grow, Some(Risk::Medium)),
        Some(Way { disk: Some(_), .. }) => (Rule::AddDisk, Some(Risk::High)),
    };
    Decision {
        host: host.host.to_owned(),
        volume: full.id.to_owned(),
        name: volume.name.clone(),
        group: volume.group.clone(),
        rule,
        why: why(host, full, way.as_ref(), &considered),
        percent: full.percent,
        percent_after: way.as_ref().map(|way| full.percent_at(way.to)),
        from: volume.size,
        to: way.as_ref().map(|way| way.to),
        device: way
            .as_ref()
            .and_then(|way| way.disk)
            .map(|disk| disk.path.clone()),
        alert: match &way {
            Some(way) => full.alert_at(way.to, terms.threshold),
            None => volume.alert.unwrap_or(terms.threshold),
        },
        risk,
        days_to_full: volume.days_until(100.0),
        considered,
    }
}

/// By growing in the group, or by the first disk that is enough for it.
fn find_way<'a>(
    host: HostDisks<'a>,
    full: &Full<'_>,
    room: &Room,
    joined: &[String],
    terms: &Terms,
    considered: &mut Vec<Candidate>,
) -> Option<Way<'a>> {
    let too_little = |room: &Room, to: u64| {
        let left = match to > full.volume.size {
            true => format!(", which would leave it {} % full", shown(full.percent_at(to))),
            false => String::new(),
        };
        format!("{}{left}", room.words(terms))
    };
    let to = room.size_for(full, terms);
    let mut way = None;
    match to > full.volume.size && full.is_enough(to) {
        true => way = Some(Way { to, disk: None }),
        false => considered.push(not(format!("grow in {}", room.group), too_little(room, to))),
    }
    let given: Vec<&String> = host
        .devices
        .iter()
        .filter(|path| !joined.contains(path))
        .collect();
    for path in given {
        let disk = host.disk(path);
        if disk.is_some_and(|disk| disk.group.as_ref() == Some(&room.group)) {
            continue;
        }
        let why_not = match (disk, &way) {
            (None, _) => format!("{} has no such disk", host.host),
            (Some(disk), _) if !disk.usable => disk.why.clone().unwrap_or("it is not usable".to_owned()),
            (Some(_), Some(Way { disk: None, .. })) => format!("{} has the room", room.group),
            (
                Some(_),
                Some(Way {
                    disk: Some(first), ..
                }),
            ) => format!("{} is enough", first.path),
            (Some(disk), None) => {
                let more = room.with(disk);
                let to = more.size_for(full, terms);
                if to > full.volume.size && full.is_enough(to) {
                    way = Some(Way { to, disk: Some(disk) });
                    continue;
                }
                format!("with it {}", too_little(&more, to))
            }
        };
        considered.push(not(format!("add disk {path}"), why_not));
    }
    let is_in_group = matches!(way, Some(Way { disk: None, .. }));
    let others = host.storage.disks.iter().filter(|_| !is_in_group);
    for disk in others.filter(|disk| disk.usable && !host.devices.contains(&disk.path)) {
        let all: Vec<&str> = host
            .devices
            .iter()
            .chain([&disk.path])
            .map(String::as_str)
            .collect();
        considered.push(Candidate {
            candidate: format!("add disk {} ({})", disk.path, human_size(disk.size)),
            why_not: "the pillar does not give it to Eos".to_owned(),
            command: Some(format!(
                "eos update host {} --device {}",
                host.host,
                all.join(",")
            )),
        });
    }
    way
}

fn not(candidate: impl Into<String>, why_not: impl Into<String>) -> Candidate {
    Candidate {
        candidate: candidate.into(),
        why_not: why_not.into(),
        command: None,
    }
}

/// Snapshots in the same group whose room is for nothing, or may be; and all that keep this volume from growing.
fn snapshot_candidates(host: HostDisks<'_>, full: &Full<'_>, terms: &Terms) -> Vec<Candidate> {
    let in_group = host.storage.volumes.iter();
    in_group
        .filter(|volume| volume.group == full.volume.group)
        .flat_map(|volume| volume.snapshots.iter().map(move |snapshot| (volume, snapshot)))
        .filter_map(|(volume, snapshot)| {
            let is_own = volume.id.as_deref() == Some(full.id);
            let about = about_snapshot(snapshot, is_own, terms)?;
            let id = volume.id.as_deref().filter(|_| snapshot.eos);
            let (why_not, command) = match id {
                Some(id) => (
                    format!("{about}; Eos deletes a snapshot only on request"),
                    Some(delete_command(
                        id,
                        &volume.name,
                        &snapshot.name,
                        &terms.environment,
                    )),
                ),
                None => (format!("{about}; Eos did not make it"), None),
            };
            let (volume, snapshot) = (&volume.name, &snapshot.name);
            Some(Candidate {
                candidate: format!("delete snapshot {snapshot} of {volume}"),
                why_not,
                command,
            })
        })
        .collect()
}

/// Conversions in the same group that still keep what was there before.
fn conversion_candidates(host: HostDisks<'_>, full: &Full<'_>, terms: &Terms) -> Vec<Candidate> {
    let in_group = host.storage.volumes.iter();
    let kept = in_group.filter(|volume| volume.group == full.volume.group && volume.old.is_some());
    kept.filter_map(|volume| {
        let (id, name) = (volume.id.as_deref()?, &volume.name);
        let more = environment_words(id, &terms.environment);
        Some(Candidate {
            candidate: format!("commit the conversion of {name}"),
            why_not: "the old volume takes room; Eos deletes it only on request".to_owned(),
            command: Some(format!("eos convert filesystem {name} --commit{more}")),
        })
    })
    .collect()
}

fn about_snapshot(snapshot: &Snapshot, is_own: bool, terms: &Terms) -> Option<String> {
    let size = human_size(snapshot.size);
    let day = |text: &str| text.get(..10).map(str::to_owned);
    let made = snapshot.made.as_deref().and_then(day);
    let is_old = made.is_some() && made < day(&terms.old_before);
    match (snapshot.valid, made.filter(|_| is_old), is_own) {
        (false, ..) => Some(format!("it is invalid and takes {size}")),
        (true, Some(made), _) => Some(format!("it is of {made} and takes {size}")),
        (true, None, true) => Some(format!("it takes {size}")),
        (true, None, false) => None,
    }
}

/// The command that deletes a snapshot of a volume, where `usual` is the environment that is meant if none is named.
pub fn delete_command(id: &str, volume: &str, snapshot: &str, usual: &str) -> String {
    let more = environment_words(id, usual);
    format!("eos snapshot delete {volume} {snapshot}{more}")
}

fn environment_words(id: &str, usual: &str) -> String {
    match id.split('/').next() {
        Some(environment) if environment != usual => format!(" --environment {environment}"),
        _ => String::new(),
    }
}

fn why(host: HostDisks<'_>, full: &Full<'_>, way: Option<&Way<'_>>, considered: &[Candidate]) -> String {
    let (volume, reason) = (full.volume, full.reason());
    let group = &volume.group;
    let Some(way) = way else {
        let can = match volume.snapshots.is_empty() {
            false => "its snapshots prevent its growth: delete them, or move data elsewhere".to_owned(),
            true => {
                let named = |what: &str| {
                    considered
                        .iter()
                        .any(|one| one.candidate.starts_with(what) && one.command.is_some())
                };
                let disk = if named("add disk") {
                    "give Eos a disk"
                } else {
                    "add a disk"
                };
                let snapshots = if named("delete snapshot") {
                    ", delete snapshots"
                } else {
                    ""
                };
                let host = host.host;
                format!(
                    "neither {group} nor a disk given to Eos on {host} has the room: {disk}{snapshots} or \
                     move data elsewhere"
                )
            }
        };
        return format!("{reason}; {can}");
    };
    let more = human_size(way.to - volume.size);
    let percent = shown(full.percent_at(way.to));
    let lasts = full.growth().map_or_else(String::new, |growth| {
        let days = (way.to as f64 * full.share - full.used) / growth;
        format!(" and full in {} at this rate", shown_days(days))
    });
    match way.disk {
        None => format!("{reason}; {more} more of {group} make it {percent} %{lasts}"),
        Some(disk) => format!(
            "{reason}, and {group} has too little; with {} in {group}, {more} more make it {percent} %{lasts}",
            disk.path
        ),
    }
}

/// Down, so that nothing is said to be full that is not.
fn shown(percent: f64) -> u64 {
    percent as u64
}

fn shown_days(days: f64) -> String {
    match days {
        days if days < 1.0 => "less than a day".to_owned(),
        days if days < 2.0 => "1 day".to_owned(),
        days if days < 1000.0 => format!("{} days", days as u64),
        _ => "more than 1000 days".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{OldVolume, Tools};

    const GIB: u64 = 1 << 30;
    const MIB: u64 = 1 << 20;

    fn terms() -> Terms {
        Terms {
            threshold: THRESHOLD,
            reserve: RESERVE,
            environment: "production".to_owned(),
            old_before: "2026-10-17".to_owned(),
        }
    }

    /// A volume of whole GiB in `data-vg`, all of which files can have.
    fn volume(name: &str, size: u64, used: u64) -> LogicalVolume {
        LogicalVolume {
            name: name.to_owned(),
            group: "data-vg".to_owned(),
            id: Some(format!("production/{name}/data")),
            size: size * GIB,
            filesystem: Some("xfs".to_owned()),
            uuid: None,
            mount: Some(format!("/srv/{name}")),
            capacity: Some(size * GIB),
            used: Some(used * GIB),
            available: Some((size - used) * GIB),
            open_files: Some(true),
            alert: Some(THRESHOLD),
            growth: None,
            samples: 0,
            snapshots: Vec::new(),
            old: None,
        }
    }

    fn growing(volume: LogicalVolume, gib_a_day: f64) -> LogicalVolume {
        LogicalVolume {
            growth: Some(gib_a_day * GIB as f64),
            ..volume
        }
    }

    fn disk(path: &str, size: u64, why: Option<&str>) -> Disk {
        Disk {
            path: path.to_owned(),
            size: size * GIB,
            usable: why.is_none(),
            why: why.map(str::to_owned),
            group: None,
            model: None,
        }
    }

    /// A group of so many GiB with so many free, on /dev/sdb.
    fn host(size: u64, free: u64, disks: Vec<Disk>, volumes: Vec<LogicalVolume>) -> HostStorage {
        let first = Disk {
            group: Some("data-vg".to_owned()),
            ..disk("/dev/sdb", size, Some("physical volume of group data-vg"))
        };
        HostStorage {
            disks: [vec![first], disks].concat(),
            groups: vec![VolumeGroup {
                name: "data-vg".to_owned(),
                size: size * GIB,
                free: free * GIB,
                extent: 4 * MIB,
                devices: vec!["/dev/sdb".to_owned()],
            }],
            volumes,
            filesystems: Vec::new(),
            tools: Tools::default(),
        }
    }

    fn decided(storage: &HostStorage, devices: &[&str]) -> Vec<Decision> {
        let devices: Vec<String> = devices.iter().map(|path| (*path).to_owned()).collect();
        let host = HostDisks {
            host: "node1",
            storage,
            devices: &devices,
        };
        decide(&[host], &terms())
    }

    /// `postgres grow 100 -> 130 alert 85`
    fn line(decision: &Decision) -> String {
        let size = decision.to.map_or("nothing".to_owned(), |to| {
            format!("{:.2}", to as f64 / GIB as f64)
        });
        let device = decision
            .device
            .as_ref()
            .map_or(String::new(), |path| format!(" with {path}"));
        let rule = match decision.rule {
            Rule::Grow => "grow",
            Rule::AddDisk => "add-disk",
            Rule::Nothing => "nothing",
        };
        format!(
            "{} {rule} -> {size}{device} alert {}",
            decision.name, decision.alert
        )
    }

    #[test]
    fn the_rules_are_tried_in_order() {
        let full = || volume("postgres", 100, 90);
        let spare = || disk("/dev/sdc", 500, None);
        let cases: Vec<(&str, HostStorage, &[&str], &[&str])> = vec![
            (
                "nothing is too full",
                host(400, 300, vec![], vec![volume("postgres", 100, 84)]),
                &[],
                &[],
            ),
            // 90 of 70 percent is 128.6, in extents of 4 MiB.
            (
                "space in the group",
                host(400, 300, vec![], vec![full()]),
                &[],
                &["postgres grow -> 128.57 alert 85"],
            ),
            // 80 of 70 percent are 114, and 30 days are 110.
            (
                "at least a fifth more",
                host(400, 300, vec![], vec![growing(volume("postgres", 100, 80), 1.0)]),
                &[],
                &["postgres grow -> 120.00 alert 85"],
            ),
            (
                "space in the group comes before a disk",
                host(400, 300, vec![spare()], vec![full()]),
                &["/dev/sdb", "/dev/sdc"],
                &["postgres grow -> 128.57 alert 85"],
            ),
            // 50 free, of which 40 are kept: 110 is 81.8 percent.
            (
                "what there is, if that is enough",
                host(400, 50, vec![], vec![full()]),
                &[],
                &["postgres grow -> 110.00 alert 85"],
            ),
            // 42 free, of which 40 are kept: 102 is 88 percent.
            (
                "the reserve is kept",
                host(400, 42, vec![], vec![full()]),
                &[],
                &["postgres nothing -> nothing alert 85"],
            ),
            (
                "a spare disk",
                host(110, 10, vec![spare()], vec![full()]),
                &["/dev/sdb", "/dev/sdc"],
                &["postgres add-disk -> 128.57 with /dev/sdc alert 85"],
            ),
            (
                "a disk of nobody's",
                host(110, 10, vec![spare()], vec![full()]),
                &["/dev/sdb"],
                &["postgres nothing -> nothing alert 85"],
            ),
            (
                "the first that is enough",
                host(
                    110,
                    10,
                    vec![
                        disk("/dev/sdc", 500, Some("mounted at /mnt")),
                        disk("/dev/sdd", 4, None),
                        disk("/dev/sde", 50, None),
                        spare(),
                    ],
                    vec![full()],
                ),
                &["/dev/sdb", "/dev/sdc", "/dev/sdd", "/dev/sde", "/dev/gone"],
                &["postgres add-disk -> 128.57 with /dev/sde alert 85"],
            ),
            (
                "neither",
                host(110, 10, vec![], vec![full()]),
                &["/dev/sdb"],
                &["postgres nothing -> nothing alert 85"],
            ),
            // 70 and 4 a day are 85 in less than four days; 30 days are 190.
            (
                "the trend says soon",
                host(400, 300, vec![], vec![growing(volume("postgres", 100, 70), 4.0)]),
                &[],
                &["postgres grow -> 190.00 alert 85"],
            ),
            (
                "the trend says not soon",
                host(400, 300, vec![], vec![growing(volume("postgres", 100, 70), 1.0)]),
                &[],
                &[],
            ),
            (
                "it shrinks",
                host(400, 300, vec![], vec![growing(volume("postgres", 100, 84), -4.0)]),
                &[],
                &[],
            ),
            // 7 days of 20 are a fifth of 690.
            (
                "an alert in time",
                host(
                    9000,
                    8000,
                    vec![],
                    vec![growing(volume("postgres", 100, 90), 20.0)],
                ),
                &[],
                &["postgres grow -> 690.00 alert 79"],
            ),
            // 15 more GiB last three days.
            (
                "a trend that the group cannot meet",
                host(400, 55, vec![], vec![growing(volume("postgres", 100, 80), 5.0)]),
                &[],
                &["postgres nothing -> nothing alert 85"],
            ),
            (
                "two compete, the fuller one first",
                host(400, 75, vec![], vec![volume("grafana", 100, 88), full()]),
                &[],
                &[
                    "postgres grow -> 128.57 alert 85",
                    "grafana grow -> 106.43 alert 85",
                ],
            ),
            (
                "two compete for a disk",
                host(
                    220,
                    20,
                    vec![disk("/dev/sdc", 36, None)],
                    vec![volume("grafana", 100, 88), full()],
                ),
                &["/dev/sdc"],
                &[
                    "postgres add-disk -> 128.57 with /dev/sdc alert 85",
                    "grafana nothing -> nothing alert 85",
                ],
            ),
            (
                "not made by Eos",
                host(400, 300, vec![], vec![LogicalVolume { id: None, ..full() }]),
                &[],
                &[],
            ),
            (
                "not mounted",
                host(
                    400,
                    300,
                    vec![],
                    vec![LogicalVolume {
                        mount: None,
                        used: None,
                        available: None,
                        capacity: None,
                        ..full()
                    }],
                ),
                &[],
                &[],
            ),
            // 60 of 35 percent.
            (
                "an alert of its own",
                host(
                    400,
                    300,
                    vec![],
                    vec![LogicalVolume {
                        alert: Some(50),
                        ..volume("postgres", 100, 60)
                    }],
                ),
                &[],
                &["postgres grow -> 171.43 alert 85"],
            ),
            // 118 is 50.8 percent.
            (
                "an alert of its own that the group cannot meet",
                host(
                    400,
                    58,
                    vec![],
                    vec![LogicalVolume {
                        alert: Some(50),
                        ..volume("postgres", 100, 60)
                    }],
                ),
                &[],
                &["postgres nothing -> nothing alert 50"],
            ),
            (
                "an alert above the threshold",
                host(
                    400,
                    300,
                    vec![],
                    vec![LogicalVolume {
                        alert: Some(95),
                        ..full()
                    }],
                ),
                &[],
                &["postgres grow -> 128.57 alert 85"],
            ),
            (
                "a group that the host does not know",
                HostStorage {
                    groups: vec![],
                    ..host(400, 300, vec![spare()], vec![full()])
                },
                &["/dev/sdc"],
                &["postgres nothing -> nothing alert 85"],
            ),
        ];
        for (name, storage, devices, expected) in cases {
            let lines: Vec<String> = decided(&storage, devices).iter().map(line).collect();
            assert_eq!(lines, expected, "{name}");
        }
    }

    #[test]
    fn what_is_decided_takes_the_reason_away_and_leaves_the_reserve() {
        for (size, used, growth, free) in (1..40u64).flat_map(|n| {
            let sizes = [(100, 60 + n), (10, 6 + n % 4), (1, 1)];
            sizes.map(|(size, used)| (size, used, n as f64 / 10.0, n * 13))
        }) {
            let mut storage = host(600, free, vec![], vec![growing(volume("v", size, used), growth)]);
            for decision in decided(&storage, &[]).iter().filter(|one| one.is_done_by_eos()) {
                let to = decision.to.expect("it grows");
                let taken = to - decision.from;
                let group = &mut storage.groups[0];
                assert_eq!(taken % group.extent, 0);
                assert!(taken > 0 && group.free - taken >= group.size / 10, "{decision:?}");
                assert!(
                    decision.percent_after.is_some_and(|percent| percent < 85.0),
                    "{decision:?}"
                );
                assert!((50..=85).contains(&decision.alert));
            }
        }
    }

    #[test]
    fn it_is_said_why_and_why_not() {
        let snapshot = |name: &str, made: &str, valid, eos| Snapshot {
            name: name.to_owned(),
            made: Some(made.to_owned()),
            size: GIB,
            used_percent: Some(1.0),
            valid,
            eos,
        };
        let mut other = volume("grafana", 10, 1);
        other.old = Some(OldVolume {
            filesystem: Some("ext4".to_owned()),
            since: None,
        });
        other.snapshots = vec![
            snapshot("old", "2026-09-01T10:00:00Z", true, true),
            snapshot("new", "2026-11-01T10:00:00Z", true, true),
            snapshot("full", "2026-11-01T10:00:00Z", false, true),
            snapshot("by-hand", "2026-11-01T10:00:00Z", false, false),
        ];
        let disks = vec![
            disk("/dev/sdc", 4, None),
            disk("/dev/sdd", 500, None),
            disk("/dev/vda", 20, Some("mounted at /")),
        ];
        let storage = host(110, 12, disks, vec![volume("postgres", 100, 90), other]);
        let found = decided(&storage, &["/dev/sdb", "/dev/sdc"]);
        let [decision] = found.as_slice() else {
            panic!("one decision")
        };
        assert_eq!(
            decision.why,
            "postgres is 90 % full; its limit is 85 %; neither data-vg nor a disk given to Eos on node1 has the room: \
             give Eos a disk, delete snapshots or move data elsewhere"
        );
        let said: Vec<String> = decision
            .considered
            .iter()
            .map(|one| {
                format!(
                    "{}: {} [{}]",
                    one.candidate,
                    one.why_not,
                    one.command.as_deref().unwrap_or_default()
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                "delete snapshot old of grafana: it is of 2026-09-01 and takes 1 GiB; Eos deletes a snapshot only on request [eos snapshot delete grafana old]",
                "delete snapshot full of grafana: it is invalid and takes 1 GiB; Eos deletes a snapshot only on request [eos snapshot delete grafana full]",
                "delete snapshot by-hand of grafana: it is invalid and takes 1 GiB; Eos did not make it []",
                "commit the conversion of grafana: the old volume takes room; Eos deletes it only on request [eos convert filesystem grafana --commit]",
                "grow in data-vg: data-vg has 1 GiB above its reserve of 11 GiB, which would leave it 89 % full []",
                "add disk /dev/sdc: with it data-vg has 4.6 GiB above its reserve of 11.4 GiB, which would leave it 86 % full []",
                "add disk /dev/sdd (500 GiB): the pillar does not give it to Eos [eos update host node1 --device /dev/sdb,/dev/sdc,/dev/sdd]",
            ]
        );
    }

    #[test]
    fn snapshots_of_its_own_keep_a_volume_from_growing() {
        let mut full = LogicalVolume {
            id: Some("staging/postgres/data".to_owned()),
            ..volume("postgres", 100, 90)
        };
        full.snapshots = vec![Snapshot {
            name: "before-upgrade".to_owned(),
            made: None,
            size: GIB,
            used_percent: None,
            valid: true,
            eos: true,
        }];
        let found = decided(&host(400, 300, vec![], vec![full]), &[]);
        assert_eq!(found[0].rule, Rule::Nothing);
        assert_eq!(
            found[0].why,
            "postgres is 90 % full; its limit is 85 %; its snapshots prevent its growth: delete them, or move data elsewhere"
        );
        let command = found[0].considered[0].command.as_deref();
        assert_eq!(
            command,
            Some("eos snapshot delete postgres before-upgrade --environment staging")
        );
    }

    #[test]
    fn why_a_volume_grows_is_one_sentence() {
        let why = |storage: &HostStorage, devices: &[&str]| decided(storage, devices)[0].why.clone();
        let trend = || growing(volume("postgres", 100, 70), 4.0);
        assert_eq!(
            why(&host(400, 300, vec![], vec![volume("postgres", 100, 90)]), &[]),
            "postgres is 90 % full; its limit is 85 %; 28.6 GiB more of data-vg make it 69 %"
        );
        assert_eq!(
            why(&host(400, 300, vec![], vec![trend()]), &[]),
            "postgres is 70 % full and grows by 4 GiB a day, which makes it 85 % in 3 days; \
             90 GiB more of data-vg make it 36 % and full in 30 days at this rate"
        );
        assert_eq!(
            why(
                &host(110, 10, vec![disk("/dev/sdc", 500, None)], vec![trend()]),
                &["/dev/sdc"]
            ),
            "postgres is 70 % full and grows by 4 GiB a day, which makes it 85 % in 3 days, and data-vg has too little; \
             with /dev/sdc in data-vg, 90 GiB more make it 36 % and full in 30 days at this rate"
        );
    }
}
