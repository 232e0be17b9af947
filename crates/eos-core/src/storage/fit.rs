//! Whether the volumes that are wanted can be had of what a host has, and what that takes.

use super::{HostStorage, LogicalVolume};
use crate::lowered::{Filesystem, Lowered, Lvm, Volume};
use crate::option::human_size;
use crate::recipe::Risk;

/// What making or changing a volume would take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Disks that become a part of the volume group.
    pub disks: Vec<String>,
    /// What the volume takes, rounded up to extents.
    pub size: u64,
}

/// Why a volume cannot be had, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    pub words: String,
    pub hint: String,
}

/// What LVM keeps of a disk for itself, at most.
const LABEL: u64 = 8 << 20;
/// What is left free of a filesystem that is made smaller, beside what it holds.
const LEFT: u64 = 64 << 20;

/// The risk of making a volume as it is wanted: disks are high, storage in what there is medium. Without an answer of the
/// host, every disk that is named may be taken.
pub fn risk(component: &Lowered, volume: &Volume, host: Option<&HostStorage>) -> Risk {
    let Some(lvm) = &volume.lvm else {
        return component.risk;
    };
    let takes_disks = match host {
        Some(host) => fit(component, volume, host).is_ok_and(|fit| !fit.disks.is_empty()),
        None => !lvm.devices.value.is_empty(),
    };
    match takes_disks {
        true => Risk::High,
        false => component.risk.max(Risk::Medium),
    }
}

pub fn fit(component: &Lowered, volume: &Volume, host: &HostStorage) -> Result<Fit, Misfit> {
    let Some(lvm) = &volume.lvm else {
        return Ok(Fit::default());
    };
    let id = volume.id(&component.environment, &component.component);
    let wanted = Wanted {
        volume,
        lvm,
        host,
        there: host.volume(&id),
    };
    wanted.refuse_without_tools()?;
    wanted.refuse_strangers(&id)?;
    wanted.refuse_other_mount(&id)?;
    match wanted.there {
        Some(there) => {
            wanted.refuse_other_filesystem(there)?;
            wanted.refuse_shrink(there)?;
            wanted.refuse_growth_with_snapshots(there)?;
            wanted.refuse_open_files(there)?;
            wanted.room(there.size)
        }
        None => wanted.room(0),
    }
}

struct Wanted<'a> {
    volume: &'a Volume,
    lvm: &'a Lvm,
    host: &'a HostStorage,
    there: Option<&'a LogicalVolume>,
}

fn misfit<T>(words: String, hint: impl Into<String>) -> Result<T, Misfit> {
    Err(Misfit {
        words,
        hint: hint.into(),
    })
}

impl Wanted<'_> {
    fn on(&self) -> &str {
        &self.volume.host.value
    }

    fn refuse_without_tools(&self) -> Result<(), Misfit> {
        let (filesystem, tools) = (self.volume.filesystem.value, self.host.tools);
        let missing = match filesystem {
            _ if !tools.lvm => "lvm2",
            Filesystem::Xfs if !tools.xfs => "xfsprogs",
            Filesystem::Btrfs if !tools.btrfs => "btrfs-progs",
            Filesystem::Ext4 if !tools.ext4 => "e2fsprogs",
            _ => return Ok(()),
        };
        let what = if missing == "lvm2" {
            "LVM"
        } else {
            filesystem.title()
        };
        misfit(
            format!("host {} has no {what}", self.on()),
            format!("Install it there: apt install {missing}"),
        )
    }

    /// A volume of that name which Eos did not make for this is nobody's to touch.
    fn refuse_strangers(&self, id: &str) -> Result<(), Misfit> {
        let group = &self.lvm.group.value;
        let mut volumes = self.host.volumes.iter();
        let same_name = |volume: &&LogicalVolume| volume.name == self.volume.name && volume.group == *group;
        match volumes.find(same_name) {
            Some(other) if other.id.as_deref() != Some(id) => misfit(
                format!(
                    "{group} of host {} has a volume {} that Eos did not make for this",
                    self.on(),
                    other.name
                ),
                "Choose another name, or rename that one with lvrename",
            ),
            _ => Ok(()),
        }
    }

    fn refuse_other_mount(&self, id: &str) -> Result<(), Misfit> {
        let path = self.volume.path.value.as_str();
        let volumes = self.host.volumes.iter();
        let volume = volumes
            .filter(|volume| volume.id.as_deref() != Some(id) && volume.mount.as_deref() == Some(path))
            .map(|volume| volume.name.as_str());
        let mut filesystems = self.host.filesystems.iter();
        let source = filesystems
            .find(|other| other.path == path)
            .map(|other| other.source.as_str());
        match volume.chain(source).next() {
            Some(other) => misfit(
                format!("{other} is mounted at {path} of host {}", self.on()),
                "Choose another path with --mount",
            ),
            None => Ok(()),
        }
    }

    fn refuse_other_filesystem(&self, there: &LogicalVolume) -> Result<(), Misfit> {
        let wanted = self.volume.filesystem.value.word();
        let Some(has) = there.filesystem.as_deref().filter(|has| *has != wanted) else {
            return Ok(());
        };
        let converted = self
            .lvm
            .converted
            .as_ref()
            .is_some_and(|converted| converted.from.word() == has);
        let kept = there
            .old
            .as_ref()
            .is_some_and(|old| old.filesystem.as_deref() == Some(wanted));
        if converted || kept {
            return Ok(());
        }
        misfit(
            format!("{} holds {has}, and Eos never formats over data", there.name),
            format!(
                "`eos convert filesystem {} {wanted}` keeps what is on it",
                self.volume.path.value
            ),
        )
    }

    fn refuse_shrink(&self, there: &LogicalVolume) -> Result<(), Misfit> {
        let size = self.rounded(self.volume.size.value);
        if size >= there.size {
            return Ok(());
        }
        let (name, has, asked) = (&there.name, human_size(there.size), human_size(size));
        if there.filesystem.as_deref() == Some("xfs") {
            let words = format!("it has {has} and cannot shrink to {asked}: XFS has no shrink");
            return misfit(words, smaller_instead(name, self.volume.size.value));
        }
        if self
            .lvm
            .shrink_from
            .is_none_or(|from| there.size > self.rounded(from))
        {
            let words = format!(
                "it has {has}, more than the {asked} of the pillar, and no command asked to shrink it"
            );
            return misfit(
                words,
                format!("`eos resize lvm {name} {}` keeps it as it is", exact(there.size)),
            );
        }
        let used = there.used.unwrap_or(there.size);
        let least = used + used / 10 + LEFT;
        if size < least {
            let words = format!(
                "it holds {} and cannot shrink to {asked}: the minimum is {}",
                human_size(used),
                human_size(least)
            );
            return misfit(words, "Free space on it first, or shrink it less");
        }
        Ok(())
    }

    /// LVM does not extend what has snapshots while it is in use.
    fn refuse_growth_with_snapshots(&self, there: &LogicalVolume) -> Result<(), Misfit> {
        let names: Vec<&str> = there
            .snapshots
            .iter()
            .map(|snapshot| snapshot.name.as_str())
            .collect();
        if self.rounded(self.volume.size.value) <= there.size || names.is_empty() {
            return Ok(());
        }
        misfit(
            format!(
                "LVM does not let it grow while it has snapshots: {}",
                names.join(", ")
            ),
            format!("`eos snapshot delete {} {}` first", there.name, names[0]),
        )
    }

    /// Nobody's files are taken away under their hands.
    fn refuse_open_files(&self, there: &LogicalVolume) -> Result<(), Misfit> {
        let has = there.filesystem.as_deref();
        let is_restored = self.lvm.restored.as_ref().is_some_and(|restored| {
            let mut snapshots = there.snapshots.iter();
            // It is used up by that.
            !self.lvm.snapshots.contains_key(&restored.snapshot)
                && snapshots.any(|snapshot| snapshot.name == restored.snapshot)
        });
        let what = match there.open_files {
            Some(true) if is_restored => "restored",
            Some(true) if has.is_some_and(|has| has != self.volume.filesystem.value.word()) => "converted",
            Some(true) if has == Some("ext4") && self.rounded(self.volume.size.value) < there.size => {
                "made smaller"
            }
            _ => return Ok(()),
        };
        let path = there.mount.as_deref().unwrap_or(&self.volume.path.value);
        misfit(
            format!("it cannot be {what} while files are open in {path}"),
            format!(
                "Stop the processes that use it; `fuser -vm {path}` on host {} lists them",
                self.on()
            ),
        )
    }

    fn rounded(&self, size: u64) -> u64 {
        let group = self.host.group(&self.lvm.group.value);
        // LVM's own default, where the group is still to be made.
        group.map_or(size.div_ceil(4 << 20) * (4 << 20), |group| group.rounded(size))
    }

    /// The group has room, or gets it by disks that it may have.
    fn room(&self, has: u64) -> Result<Fit, Misfit> {
        let group_name = &self.lvm.group.value;
        let group = self.host.group(group_name);
        let size = self.rounded(self.volume.size.value);
        let made: Vec<&str> = self
            .there
            .iter()
            .flat_map(|there| there.snapshots.iter().map(|snapshot| snapshot.name.as_str()))
            .collect();
        let snapshots: u64 = self
            .lvm
            .snapshots
            .iter()
            .filter(|(name, _)| !made.contains(&name.as_str()))
            .map(|(_, room)| self.rounded(*room))
            .sum();
        let more = size.saturating_sub(has) + snapshots;
        let mut fit = Fit {
            disks: Vec::new(),
            size,
        };
        let mut free = group.map_or(0, |group| group.free);
        if group.is_some() && more <= free {
            return Ok(fit);
        }
        let mut why_not = Vec::new();
        for path in &self.lvm.devices.value {
            if group.is_some_and(|group| group.devices.contains(path)) {
                continue;
            }
            match self.host.disks.iter().find(|disk| disk.path == *path) {
                Some(disk) if disk.usable => {
                    fit.disks.push(path.clone());
                    free += disk.size.saturating_sub(LABEL);
                    // A group that is still to be made is made of all of them.
                    if more <= free && group.is_some() {
                        return Ok(fit);
                    }
                }
                Some(disk) => {
                    let why = disk.why.as_deref().unwrap_or("not usable");
                    why_not.push(format!("disk {path} cannot be used: {why}"));
                }
                None => why_not.push(format!("there is no disk {path}")),
            }
        }
        if more <= free && why_not.is_empty() && !fit.disks.is_empty() {
            return Ok(fit);
        }
        let (on, spare) = (self.on(), self.spare());
        let hint = match &spare {
            Some(disk) => format!("{disk} of host {on} is unused: `eos update host {on} --device {disk}`"),
            None => format!("`eos storage {on}` shows what there is"),
        };
        match (group, why_not.is_empty()) {
            (_, false) => misfit(format!("on host {on}, {}", why_not.join("; ")), hint),
            (None, true) if fit.disks.is_empty() => misfit(
                format!("host {on} has no volume group {group_name} and no disk for it"),
                hint,
            ),
            _ => misfit(
                format!(
                    "{group_name} of host {on} has {} free and needs {} more",
                    human_size(free),
                    human_size(more)
                ),
                hint,
            ),
        }
    }

    fn spare(&self) -> Option<&str> {
        let usable = |disk: &&super::Disk| disk.usable && !self.lvm.devices.value.contains(&disk.path);
        self.host.disks.iter().find(usable).map(|disk| disk.path.as_str())
    }
}

/// What to do in place of a shrink that cannot be.
pub fn smaller_instead(name: &str, size: u64) -> String {
    format!(
        "Make a smaller volume and move the data: eos create volume {name}2 --size {}",
        exact(size)
    )
}

/// A size in the largest unit that says it exactly.
pub fn exact(bytes: u64) -> String {
    let units = ["", "K", "M", "G", "T"];
    let mut size = bytes;
    let mut at = 0;
    while size >= 1024 && size.is_multiple_of(1024) && at + 1 < units.len() {
        size /= 1024;
        at += 1;
    }
    format!("{size}{}", units[at])
}
