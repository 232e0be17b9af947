//! What there is of storage on a host, as its minion says (`eos.examine`); `expand` decides what becomes of a volume that
//! runs full.

pub mod expand;

mod fit;

pub use fit::{Fit, Misfit, exact, fit, risk, smaller_instead};
use serde::{Deserialize, Serialize};

/// All storage of one host. Sizes are bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostStorage {
    pub disks: Vec<Disk>,
    pub groups: Vec<VolumeGroup>,
    pub volumes: Vec<LogicalVolume>,
    /// Those on real disks that are no logical volumes.
    pub filesystems: Vec<MountedFilesystem>,
    pub tools: Tools,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    pub path: String,
    pub size: u64,
    /// Whether a volume group may have it as it is.
    pub usable: bool,
    /// Why it is not usable, such as "mounted at /".
    pub why: Option<String>,
    /// The volume group that has it.
    pub group: Option<String>,
    pub model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VolumeGroup {
    pub name: String,
    pub size: u64,
    pub free: u64,
    /// What sizes in it are rounded up to.
    pub extent: u64,
    pub devices: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogicalVolume {
    pub name: String,
    pub group: String,
    /// `environment/component/need`; none, if Eos did not make it.
    pub id: Option<String>,
    pub size: u64,
    pub filesystem: Option<String>,
    pub uuid: Option<String>,
    pub mount: Option<String>,
    pub capacity: Option<u64>,
    pub used: Option<u64>,
    pub available: Option<u64>,
    pub open_files: Option<bool>,
    /// Percent full at which the host says so.
    pub alert: Option<u8>,
    /// Bytes a day; none, if too little was seen.
    pub growth: Option<f64>,
    #[serde(default)]
    pub samples: u64,
    pub snapshots: Vec<Snapshot>,
    /// What a conversion keeps until it is committed.
    pub old: Option<OldVolume>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub name: String,
    pub made: Option<String>,
    /// Room for what changes beside it.
    pub size: u64,
    pub used_percent: Option<f64>,
    /// Not any more, once more has changed than there is room for.
    pub valid: bool,
    /// Whether Eos made it.
    pub eos: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OldVolume {
    pub filesystem: Option<String>,
    pub since: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MountedFilesystem {
    pub path: String,
    pub source: String,
    pub filesystem: String,
    pub capacity: u64,
    pub used: u64,
    pub available: u64,
}

/// Which programs the host has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    pub lvm: bool,
    pub xfs: bool,
    pub btrfs: bool,
    pub ext4: bool,
}

impl HostStorage {
    pub fn group(&self, name: &str) -> Option<&VolumeGroup> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The volume that Eos made for a need.
    pub fn volume(&self, id: &str) -> Option<&LogicalVolume> {
        self.volumes
            .iter()
            .find(|volume| volume.id.as_deref() == Some(id))
    }
}

impl LogicalVolume {
    /// How full its filesystem is, in percent; none, if it is not mounted.
    pub fn percent(&self) -> Option<f64> {
        let (used, available) = (self.used? as f64, self.available? as f64);
        let all = used + available;
        (all > 0.0).then(|| used * 100.0 / all)
    }

    /// In how many days it is so full at the rate seen; none, if it is not mounted, does not grow or nobody knows.
    pub fn days_until(&self, percent: f64) -> Option<f64> {
        let (used, available) = (self.used? as f64, self.available? as f64);
        let growth = self.growth.filter(|growth| *growth > 0.0)?;
        Some(((used + available) * percent / 100.0 - used).max(0.0) / growth)
    }
}

impl VolumeGroup {
    /// What a volume of this size takes.
    pub fn rounded(&self, size: u64) -> u64 {
        size.div_ceil(self.extent.max(1)) * self.extent.max(1)
    }
}
