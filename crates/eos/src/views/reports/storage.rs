//! The reports of `eos storage` and of snapshots: how much there is, a table a kind for each host, what is wrong, and what to do about it.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{BOLD, RED, Table, YELLOW, age, counted, hang, printable};
use eos_core::option::human_size;
use eos_core::storage::expand::{THRESHOLD, delete_command};
use eos_core::storage::{Disk, HostStorage, LogicalVolume, MountedFilesystem, Snapshot, VolumeGroup};
use eos_engine::storage::{DirectoryVolume, EstateStorage, HostReport, Said};
use jiff::Timestamp;
use serde_json::json;
use std::fmt::Write;

/// What stands below a host's name is set in by so much.
const INDENT: &str = "  ";
/// A volume that is full within so many days is worth a word.
const SOON_DAYS: f64 = 7.0;

impl Report for EstateStorage {
    fn text(&self, page: &mut Page) {
        page.data(storage_text(self, page.data_width, Timestamp::now()));
        if let Some(next) = next_words(self) {
            page.say(&next);
        }
    }

    /// As the hosts say, and what follows from it: how full each volume is, and when it would be.
    fn json(&self) -> Message {
        let mut content = value(self);
        let shown = content["hosts"].as_array_mut().into_iter().flatten();
        for (report, shown) in self.hosts.iter().zip(shown) {
            let Some(host) = report.storage() else { continue };
            let volumes = shown["storage"]["volumes"].as_array_mut();
            for (volume, shown) in host.volumes.iter().zip(volumes.into_iter().flatten()) {
                shown["percent"] = volume.percent().into();
                shown["days_to_full"] = volume.days_until(100.0).into();
            }
        }
        Message::Document("storage", content)
    }
}

/// The snapshots of these volumes alone.
pub struct Snapshots(pub HostStorage);

impl Report for Snapshots {
    fn text(&self, page: &mut Page) {
        match self.0.volumes.iter().any(|volume| !volume.snapshots.is_empty()) {
            true => page.data(print(snapshots(&self.0, Timestamp::now()), page.data_width)),
            false => page.talk("no snapshots\n"),
        }
    }

    fn json(&self) -> Message {
        Message::Document("snapshots", json!({"volumes": value(&self.0.volumes)}))
    }
}

/// Without `columns` nothing is wrapped.
fn storage_text(storage: &EstateStorage, columns: Option<usize>, now: Timestamp) -> String {
    let wide = columns.unwrap_or(usize::MAX);
    let mut text = String::new();
    for line in hang("", &summary(storage), wide).lines() {
        let _ = writeln!(text, "{BOLD}{line}{BOLD:#}");
    }
    for (report, host) in answered(storage) {
        let tables = tables(report, host, columns.map(|columns| columns - INDENT.len()), now);
        let _ = writeln!(text, "\n{BOLD}{}{BOLD:#}", report.host);
        match tables.is_empty() {
            true => text.push_str(&hang(INDENT, "nothing: no disks, no filesystems", wide)),
            false => text.push_str(&indented(&tables.join("\n"))),
        }
    }
    let troubles = troubles(storage);
    if !troubles.is_empty() {
        text.push('\n');
    }
    for (glyph, words) in troubles {
        let style = if glyph == '!' { RED } else { YELLOW };
        let lines = hang(&format!("{glyph} "), &printable(&words), wide);
        text.push_str(&lines.replacen(glyph, &format!("{style}{glyph}{style:#}"), 1));
    }
    text
}

/// What to do, if anything.
fn next_words(storage: &EstateStorage) -> Option<String> {
    let volumes = || answered(storage).flat_map(|(_, host)| &host.volumes);
    let mut next = Vec::new();
    if volumes().any(|volume| volume.id.is_some() && (is_full(volume) || is_full_soon(volume))) {
        next.push("grow volumes that are filling up: eos expand storage --auto");
    }
    if storage.hosts.iter().any(|report| report.storage().is_none()) {
        next.push("does not answer: eos doctor");
    }
    (!next.is_empty()).then(|| next.join("   "))
}

fn answered(storage: &EstateStorage) -> impl Iterator<Item = (&HostReport, &HostStorage)> {
    let hosts = storage.hosts.iter();
    hosts.filter_map(|report| Some((report, report.storage()?)))
}

/// `2 hosts: 3 volumes, 1 too full; 120 GiB free in 2 groups; 1 disk unused`
fn summary(storage: &EstateStorage) -> String {
    let all = storage.hosts.len();
    let silent = all - answered(storage).count();
    let hosts = match (silent, storage.hosts.as_slice()) {
        (_, []) => return "the pillar has no hosts".to_owned(),
        (0, [one]) => one.host.clone(),
        (0, _) => format!("{all} hosts"),
        (_, _) if silent == all => return format!("none of {} answers", counted(all, "host", "hosts")),
        (_, _) => format!("{} of {all} hosts", all - silent),
    };
    let volumes: Vec<&LogicalVolume> = answered(storage).flat_map(|(_, host)| &host.volumes).collect();
    let groups: Vec<&VolumeGroup> = answered(storage).flat_map(|(_, host)| &host.groups).collect();
    let disks = answered(storage).flat_map(|(_, host)| &host.disks);
    let unused = disks.filter(|disk| disk.usable).count();
    let full = match volumes.iter().filter(|volume| is_full(volume)).count() {
        0 => String::new(),
        count => format!(", {count} too full"),
    };
    let free = match groups.len() {
        0 => "no group".to_owned(),
        count => format!(
            "{} free in {}",
            human_size(groups.iter().map(|group| group.free).sum()),
            counted(count, "group", "groups")
        ),
    };
    let directories: usize = storage.hosts.iter().map(|report| report.directories.len()).sum();
    let volumes = match directories {
        0 => counted(volumes.len(), "volume", "volumes"),
        count => format!(
            "{} on disks, {} in {}",
            counted(volumes.len(), "volume", "volumes"),
            count,
            if count == 1 { "a directory" } else { "directories" }
        ),
    };
    format!(
        "{hosts}: {volumes}{full}; {free}; {} unused",
        counted(unused, "disk", "disks")
    )
}

fn tables(report: &HostReport, host: &HostStorage, columns: Option<usize>, now: Timestamp) -> Vec<String> {
    let all = [
        volumes(host),
        directories(report),
        snapshots(host, now),
        kept(host, now),
        groups(host),
        disks(report, host),
        filesystems(host),
    ];
    let all = all.into_iter().filter(|table| !table.rows.is_empty());
    all.map(|table| print(table, columns)).collect()
}

/// Where there is no room for a table, and so for its headings, each row says what it is of.
fn print(mut table: Table<'_>, columns: Option<usize>) -> String {
    if columns.is_some_and(|columns| table.width() > columns) {
        let kind = table.headings[0];
        for row in &mut table.rows {
            row[0] = format!("{kind} {}", row[0]);
        }
    }
    table.print(columns)
}

/// Volumes without a size of their own: the filesystem around them says how full they are.
fn directories(report: &HostReport) -> Table<'static> {
    let row = |directory: &DirectoryVolume| {
        vec![
            directory.volume.clone(),
            format!("{}/{}", directory.environment, directory.component),
            directory.path.clone(),
        ]
    };
    Table {
        headings: &["directory", "of", "path"],
        right: &[],
        rows: report.directories.iter().map(row).collect(),
    }
}

fn volumes(host: &HostStorage) -> Table<'static> {
    let row = |volume: &LogicalVolume| {
        let is_mounted = volume.percent().is_some();
        let growth = match volume.growth {
            Some(growth) => change(growth),
            None if is_mounted => "?".to_owned(),
            None => String::new(),
        };
        vec![
            name(volume, host),
            human_size(volume.size),
            percent(volume.percent(), is_full(volume)),
            growth,
            volume.days_until(100.0).map_or_else(String::new, days),
            filesystem_of(volume),
        ]
    };
    Table {
        headings: &["volume", "size", "full", "a day", "full in", "filesystem"],
        right: &[1, 2, 3, 4],
        rows: host.volumes.iter().map(row).collect(),
    }
}

/// With its group, where the host has several.
fn name(volume: &LogicalVolume, host: &HostStorage) -> String {
    match host.groups.len() {
        0 | 1 => cell(&volume.name),
        _ => cell(&format!("{}/{}", volume.group, volume.name)),
    }
}

/// `xfs at /srv/x, not made by Eos`
fn filesystem_of(volume: &LogicalVolume) -> String {
    let kind = volume.filesystem.as_deref();
    let filesystem = match (kind, &volume.mount) {
        (Some(kind), Some(mount)) => format!("{kind} at {mount}"),
        (Some(kind), None) => format!("{kind}, not mounted"),
        (None, Some(mount)) => format!("at {mount}"),
        (None, None) => "none".to_owned(),
    };
    match volume.id {
        Some(_) => cell(&filesystem),
        None => cell(&format!("{filesystem}, not made by Eos")),
    }
}

fn snapshots(host: &HostStorage, now: Timestamp) -> Table<'static> {
    let row = |volume: &LogicalVolume, snapshot: &Snapshot| {
        let note = match (snapshot.valid, snapshot.eos) {
            (false, true) => "invalid",
            (false, false) => "invalid, not made by Eos",
            (true, false) => "not made by Eos",
            (true, true) => "",
        };
        vec![
            cell(&snapshot.name),
            name(volume, host),
            human_size(snapshot.size),
            percent(snapshot.used_percent, !snapshot.valid),
            ago(snapshot.made.as_deref(), now),
            note.to_owned(),
        ]
    };
    let rows = host
        .volumes
        .iter()
        .flat_map(|volume| volume.snapshots.iter().map(move |snapshot| row(volume, snapshot)));
    let rows: Vec<Vec<String>> = rows.collect();
    let has_notes = rows.iter().any(|row| !row[5].is_empty());
    Table {
        headings: match has_notes {
            true => &["snapshot", "of", "size", "full", "age", "note"],
            false => &["snapshot", "of", "size", "full", "age"],
        },
        right: &[2, 3],
        rows,
    }
}

fn kept(host: &HostStorage, now: Timestamp) -> Table<'static> {
    let rows = host.volumes.iter().filter_map(|volume| {
        let old = volume.old.as_ref()?;
        Some(vec![
            cell(old.filesystem.as_deref().unwrap_or("?")),
            name(volume, host),
            ago(old.since.as_deref(), now),
            "until the conversion is committed".to_owned(),
        ])
    });
    Table {
        headings: &["kept", "of", "age", "note"],
        right: &[],
        rows: rows.collect(),
    }
}

fn groups(host: &HostStorage) -> Table<'static> {
    let row = |group: &VolumeGroup| {
        vec![
            cell(&group.name),
            human_size(group.size),
            human_size(group.free),
            cell(&group.devices.join(", ")),
        ]
    };
    Table {
        headings: &["volume group", "size", "free", "disks"],
        right: &[1, 2],
        rows: host.groups.iter().map(row).collect(),
    }
}

fn disks(report: &HostReport, host: &HostStorage) -> Table<'static> {
    let row = |disk: &Disk| {
        vec![
            cell(&disk.path),
            human_size(disk.size),
            cell(&disk_words(disk, report)),
            cell(disk.model.as_deref().unwrap_or_default()),
        ]
    };
    // One that the pillar names and the host has not is as good as a disk that cannot be used.
    let missing = report
        .devices
        .iter()
        .filter(|path| host.disks.iter().all(|disk| disk.path != **path))
        .map(|path| {
            vec![
                cell(path),
                "?".to_owned(),
                "missing, given to Eos".to_owned(),
                String::new(),
            ]
        });
    let rows: Vec<Vec<String>> = host.disks.iter().map(row).chain(missing).collect();
    let has_models = rows.iter().any(|row| !row[3].is_empty());
    Table {
        headings: match has_models {
            true => &["disk", "size", "use", "model"],
            false => &["disk", "size", "use"],
        },
        right: &[1],
        rows,
    }
}

fn disk_words(disk: &Disk, report: &HostReport) -> String {
    let is_given = report.devices.contains(&disk.path);
    match (&disk.group, disk.usable, is_given) {
        (Some(group), ..) => format!("in {group}"),
        (None, true, true) => "unused, given to Eos".to_owned(),
        (None, true, false) => "unused, not given to Eos".to_owned(),
        (None, false, is_given) => {
            let why = disk.why.as_deref().unwrap_or("not usable");
            match is_given {
                true => format!("{why}, yet given to Eos"),
                false => why.to_owned(),
            }
        }
    }
}

fn filesystems(host: &HostStorage) -> Table<'static> {
    let row = |one: &MountedFilesystem| {
        let all = one.used as f64 + one.available as f64;
        let full = (all > 0.0).then(|| one.used as f64 * 100.0 / all);
        vec![
            cell(&one.path),
            human_size(one.capacity),
            percent(full, full.is_some_and(|full| full >= f64::from(THRESHOLD))),
            cell(&format!("{} on {}", one.filesystem, one.source)),
        ]
    };
    Table {
        headings: &["mounted at", "size", "full", "filesystem"],
        right: &[1, 2],
        rows: host.filesystems.iter().map(row).collect(),
    }
}

/// What is wrong, and the command that mends it where there is one for it alone.
fn troubles(storage: &EstateStorage) -> Vec<(char, String)> {
    let mut troubles = Vec::new();
    let environment = &storage.environment;
    for report in &storage.hosts {
        let host = &report.host;
        let storage = match &report.said {
            Said::Storage(storage) => storage,
            Said::Silent(silent) => {
                troubles.push(('!', format!("{host}: {}", silent.words)));
                continue;
            }
        };
        if !storage.tools.lvm && (report.volume_group.is_some() || !report.devices.is_empty()) {
            troubles.push((
                '!',
                format!("{host} has no LVM, which volumes on its disks need: install lvm2 there"),
            ));
        }
        for volume in &storage.volumes {
            let name = &volume.name;
            let in_days = volume.days_until(100.0).map(days).unwrap_or_default();
            if is_full(volume) {
                let percent = volume.percent().unwrap_or_default() as u64;
                troubles.push((
                    '!',
                    format!(
                        "{name} on {host} is {percent} % full; its limit is {} %",
                        level(volume)
                    ),
                ));
            } else if is_full_soon(volume) {
                troubles.push(('~', format!("{name} on {host} is full in {in_days} at this rate")));
            }
            for snapshot in volume.snapshots.iter().filter(|one| !one.valid) {
                let command = match (&volume.id, snapshot.eos) {
                    (Some(id), true) => {
                        format!(": {}", delete_command(id, name, &snapshot.name, environment))
                    }
                    _ => String::new(),
                };
                let snapshot = &snapshot.name;
                troubles.push((
                    '~',
                    format!("snapshot {snapshot} of {name} on {host} is invalid{command}"),
                ));
            }
        }
    }
    troubles
}

/// How full a volume may be.
fn level(volume: &LogicalVolume) -> u8 {
    volume.alert.unwrap_or(THRESHOLD)
}

fn is_full(volume: &LogicalVolume) -> bool {
    volume
        .percent()
        .is_some_and(|percent| percent >= f64::from(level(volume)))
}

fn is_full_soon(volume: &LogicalVolume) -> bool {
    volume.days_until(100.0).is_some_and(|days| days <= SOON_DAYS)
}

/// Text of a host in one line of a table.
fn cell(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// Down, so that only what is full is said to be; `!` marks what is too much.
fn percent(percent: Option<f64>, is_too_much: bool) -> String {
    let mark = if is_too_much { "!" } else { " " };
    match percent {
        Some(percent) => format!("{} %{mark}", percent as u64),
        None if is_too_much => "!".to_owned(),
        None => String::new(),
    }
}

/// Bytes a day, either way.
fn change(growth: f64) -> String {
    // So little is the noise of a filesystem's own accounts.
    match growth.abs() as u64 {
        0..1024 => "0 B".to_owned(),
        bytes if growth < 0.0 => format!("-{}", human_size(bytes)),
        bytes => format!("+{}", human_size(bytes)),
    }
}

fn days(days: f64) -> String {
    match days {
        days if days * 24.0 < 1.0 => "1 hour".to_owned(),
        days if days < 2.0 => format!("{} hours", (days * 24.0) as u64),
        days if days < 730.0 => format!("{} days", days as u64),
        _ => "years".to_owned(),
    }
}

/// In a tag of LVM, which has no colons, a time has underscores in their place.
fn ago(moment: Option<&str>, now: Timestamp) -> String {
    let Some(text) = moment else {
        return String::new();
    };
    match text.replace('_', ":").parse() {
        Ok(moment) => age(moment, now),
        Err(_) => cell(text),
    }
}

fn indented(text: &str) -> String {
    let line = |line: &str| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{INDENT}{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::text::width;
    use eos_core::drift::Silent;
    use serde_json::{Value, json};

    const GIB: u64 = 1 << 30;

    fn host(name: &str, devices: &[&str], storage: Value) -> HostReport {
        HostReport {
            host: name.to_owned(),
            devices: devices.iter().map(|path| (*path).to_owned()).collect(),
            volume_group: None,
            directories: Vec::new(),
            said: Said::Storage(serde_json::from_value(storage).expect("as a host says it")),
        }
    }

    fn silent(name: &str, words: &str) -> HostReport {
        HostReport {
            host: name.to_owned(),
            devices: Vec::new(),
            volume_group: None,
            directories: Vec::new(),
            said: Said::Silent(Silent {
                words: words.to_owned(),
                hint: None,
            }),
        }
    }

    fn disk(path: &str, size: u64, why: Option<&str>, group: Option<&str>, model: Option<&str>) -> Value {
        json!({"path": path, "size": size, "usable": why.is_none(), "why": why, "group": group, "model": model})
    }

    fn with(disks: Value) -> Value {
        json!({
            "disks": disks, "groups": [], "volumes": [], "filesystems": [],
            "tools": {"lvm": true, "xfs": true, "btrfs": true, "ext4": true},
        })
    }

    fn busy() -> Value {
        let volume = |name: &str, id: Value, facts: Value| {
            let mut all = json!({
                "name": name, "group": "data-vg", "id": id, "size": 100 * GIB, "filesystem": "xfs", "uuid": "1-2",
                "mount": format!("/srv/{name}"), "capacity": 99 * GIB, "used": 10 * GIB, "available": 89 * GIB,
                "open_files": true, "alert": 85, "growth": null, "samples": 1, "snapshots": [], "old": null,
            });
            let all_facts = all.as_object_mut().expect("an object");
            all_facts.extend(facts.as_object().expect("an object").clone());
            all
        };
        json!({
            "disks": [
                disk("/dev/sdb", 400 * GIB, Some("physical volume of group data-vg"), Some("data-vg"), Some("QEMU HARDDISK")),
                disk("/dev/sdc", 500 * GIB, None, None, None),
            ],
            "groups": [{"name": "data-vg", "size": 400 * GIB, "free": 97 * GIB, "extent": 4194304, "devices": ["/dev/sdb"]}],
            "volumes": [
                volume("postgres-data", json!("production/postgres-data/data"), json!({
                    "used": 90 * GIB, "available": 9 * GIB, "growth": 1.25 * GIB as f64,
                    "snapshots": [
                        {"name": "before-upgrade", "made": "2026-11-13T12:00:00Z", "size": GIB, "used_percent": 12.7, "valid": true, "eos": true},
                        {"name": "forgotten", "made": "2026-09-01T12:00:00Z", "size": GIB, "used_percent": 100.0, "valid": false, "eos": true},
                        {"name": "by-hand", "made": null, "size": GIB, "used_percent": null, "valid": true, "eos": false},
                    ],
                })),
                volume("grafana-data", json!("production/grafana/data"), json!({
                    "filesystem": "btrfs", "growth": -4096.0, "old": {"filesystem": "ext4", "since": "2026-11-14T12_00_00Z"},
                })),
                volume("queue", json!("production/queue/data"), json!({"used": 50 * GIB, "available": 49 * GIB, "growth": 20.0 * GIB as f64})),
                volume("scratch", json!(null), json!({
                    "filesystem": null, "mount": null, "capacity": null, "used": null, "available": null, "alert": null,
                })),
            ],
            "filesystems": [{"path": "/", "source": "/dev/vda1", "filesystem": "ext4", "capacity": 20 * GIB, "used": 19 * GIB, "available": GIB}],
            "tools": {"lvm": true, "xfs": true, "btrfs": true, "ext4": true},
        })
    }

    fn now() -> Timestamp {
        "2026-11-16T12:00:00Z".parse().expect("a time")
    }

    fn plain(hosts: Vec<HostReport>, columns: Option<usize>) -> (String, Option<String>) {
        let storage = EstateStorage {
            environment: "production".to_owned(),
            hosts,
        };
        let text = storage_text(&storage, columns, now());
        (
            anstream::adapter::strip_str(&text).to_string(),
            next_words(&storage),
        )
    }

    fn odd() -> HostReport {
        let disks = json!([
            disk("/dev/vda", 20 * GIB, Some("mounted at /"), None, None),
            disk("/dev/vdb", 4 * GIB, Some("swap"), None, None),
            disk(
                "/dev/sdb",
                20 * GIB,
                Some("holds a filesystem (ntfs)"),
                None,
                None
            ),
            disk(
                "/dev/sdc",
                3 << 39,
                Some("physical volume of group other-vg"),
                Some("other-vg"),
                None
            ),
            disk("/dev/md0", 20 * GIB, None, None, None),
            disk(
                "/dev/\u{1b}[2Jx",
                0,
                Some("smaller than 64 MiB\nevil"),
                None,
                None
            ),
        ]);
        host("node3", &["/dev/sdx", "/dev/sdb", "/dev/md0"], with(disks))
    }

    #[test]
    fn a_host_at_a_glance() {
        let hosts = vec![
            host("node1", &["/dev/sdb"], busy()),
            silent("node2", "Salt does not answer for minion node2"),
            odd(),
        ];
        let (text, next) = plain(hosts, Some(80));
        assert_eq!(text, include_str!("storage.txt"));
        assert_eq!(
            next.as_deref(),
            Some("grow volumes that are filling up: eos expand storage --auto   does not answer: eos doctor")
        );
    }

    #[test]
    fn nothing_is_wider_than_asked_for() {
        for columns in [30, 40, 60, 80] {
            let hosts = vec![
                host("node1", &["/dev/sdb"], busy()),
                odd(),
                silent("node2", "gone"),
            ];
            let (text, _) = plain(hosts, Some(columns));
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns}: {line:?}");
            }
        }
        let (text, _) = plain(vec![host("node1", &[], busy())], Some(30));
        assert!(
            text.contains("  volume postgres-data\n    size        100 GiB\n"),
            "{text}"
        );
        // Read by a program, a thing is a line.
        let (text, _) = plain(vec![host("node1", &[], busy())], None);
        let line = text
            .lines()
            .find(|line| line.contains("postgres-data "))
            .unwrap_or_default();
        assert!(line.ends_with("xfs at /srv/postgres-data"), "{text}");
    }

    #[test]
    fn little_is_said_in_few_words() {
        let empty = || host("node1", &[], with(json!([])));
        let cases = [
            (vec![], "the pillar has no hosts\n", None),
            (
                vec![silent("node1", "gone"), silent("node2", "gone")],
                "none of 2 hosts answers\n\n! node1: gone\n! node2: gone\n",
                Some("does not answer: eos doctor"),
            ),
            (
                vec![empty()],
                "node1: 0 volumes; no group; 0 disks unused\n\nnode1\n  nothing: no disks, no filesystems\n",
                None,
            ),
            (
                vec![HostReport {
                    volume_group: Some("data-vg".to_owned()),
                    said: Said::Storage(HostStorage::default()),
                    ..empty()
                }],
                "node1: 0 volumes; no group; 0 disks unused\n\nnode1\n  nothing: no disks, no filesystems\n\n\
                 ! node1 has no LVM, which volumes on its disks need: install lvm2 there\n",
                None,
            ),
        ];
        for (hosts, expected, next) in cases {
            let (text, said) = plain(hosts, Some(80));
            assert_eq!(text, expected);
            assert_eq!(said.as_deref(), next);
        }
    }

    #[test]
    fn volumes_in_directories_count() {
        let host = HostReport {
            directories: vec![DirectoryVolume {
                volume: "redis-data".to_owned(),
                environment: "production".to_owned(),
                component: "redis".to_owned(),
                path: "/opt/redis/data".to_owned(),
            }],
            ..host(
                "node1",
                &[],
                json!({"disks": [], "groups": [], "volumes": [], "filesystems": [],
                    "tools": {"lvm": false, "xfs": true, "btrfs": true, "ext4": true}}),
            )
        };
        let (text, _) = plain(vec![host], Some(80));
        assert_eq!(
            text,
            "node1: 0 volumes on disks, 1 in a directory; no group; 0 disks unused\n\nnode1\n  directory   of                \
             path\n  redis-data  production/redis  /opt/redis/data\n"
        );
    }

    #[test]
    fn times_and_changes_are_said_in_one_unit() {
        let said = [0.01, 0.5, 1.5, 2.0, 20.9, 729.0, 1e9].map(days);
        assert_eq!(
            said,
            [
                "1 hour", "12 hours", "36 hours", "2 days", "20 days", "729 days", "years"
            ]
        );
        let said = [0.0, 100.0, -100.0, 2048.0, -3.0 * GIB as f64].map(change);
        assert_eq!(said, ["0 B", "0 B", "0 B", "+2 KiB", "-3 GiB"]);
    }

    #[test]
    fn storage_says_how_full_and_when() {
        let said = json!({
            "disks": [], "groups": [], "filesystems": [],
            "volumes": [
                {"name": "a", "group": "vg", "id": null, "size": 200, "filesystem": "xfs", "uuid": null, "mount": "/a", "capacity": 200,
                 "used": 50, "available": 150, "open_files": null, "alert": null, "growth": 15.0, "snapshots": [], "old": null},
                {"name": "b", "group": "vg", "id": null, "size": 200, "filesystem": null, "uuid": null, "mount": null, "capacity": null,
                 "used": null, "available": null, "open_files": null, "alert": null, "growth": null, "snapshots": [], "old": null},
            ],
            "tools": {"lvm": true, "xfs": true, "btrfs": true, "ext4": true},
        });
        let host = HostReport {
            host: "node1".to_owned(),
            devices: Vec::new(),
            volume_group: None,
            directories: Vec::new(),
            said: Said::Storage(serde_json::from_value(said).expect("as a host says it")),
        };
        let storage = EstateStorage {
            environment: "production".to_owned(),
            hosts: vec![host],
        };
        let Message::Document("storage", document) = storage.json() else {
            panic!("the answer of eos storage is one document");
        };
        let volumes = &document["hosts"][0]["storage"]["volumes"];
        assert_eq!(
            (&volumes[0]["percent"], &volumes[0]["days_to_full"]),
            (&json!(25.0), &json!(10.0))
        );
        assert_eq!(
            (&volumes[1]["percent"], &volumes[1]["days_to_full"]),
            (&Value::Null, &Value::Null)
        );
        assert!(document.get("environment").is_none());
    }
}
