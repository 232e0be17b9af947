//! The storage pass: on which host a volume lies, and with which filesystem (requirement D6).

use crate::diagnostic::{Diagnostic, Place};
use crate::emit::digest_of;
use crate::expand::{Expanded, VOLUMES};
use crate::kinds::{HostParts, WorkspaceParts};
use crate::lowered::{Filesystem, Group, Lowered, Lvm, STANDING_RECIPE, Shape, Volume, instance_name};
use crate::name;
use crate::option;
use crate::passes::environment;
use crate::passes::placement::Ground;
use crate::pillar::{Host, STANDING_NEED, Setting, StandingVolume, VolumeSettings};
use crate::recipe::{Purpose, Risk, Run, Service, VolumeNeed, named};
use crate::source::{Overruled, Source, Sourced};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// XFS cannot be made smaller than this.
const XFS_LEAST: u64 = 300 << 20;

/// The volume group that is made where a host has devices and names none.
const DEFAULT_GROUP: &str = "data-vg";

/// Percent full at which a host says so.
const ALERT: u8 = 85;

static NOTHING_SET: VolumeSettings = VolumeSettings::NOTHING;

pub fn volumes(
    expanded: &Expanded<'_>,
    ground: &Ground<'_>,
    groups: &[Group],
    found: &mut Vec<Diagnostic>,
) -> Vec<Volume> {
    let mut volumes = Vec::new();
    for need in &expanded.recipe.volumes {
        match expanded.applies(&need.when) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(diagnostic) => {
                found.push(diagnostic);
                continue;
            }
        }
        for (host, why) in hosts(expanded, ground, need, groups, found) {
            match volume(expanded, need, host, why) {
                Ok(volume) => volumes.push(volume),
                Err(diagnostic) => found.push(diagnostic),
            }
        }
    }
    volumes
}

/// The component as one of its services sees it: a template may name where that finds its volumes. A container finds one
/// where it mounts it; a program finds its directory on the host.
pub fn seen_by<'e, 'a>(
    expanded: &'e Expanded<'a>,
    ground: &Ground<'_>,
    service: &Service,
) -> Result<Cow<'e, Expanded<'a>>, Diagnostic> {
    let recipe = expanded.recipe;
    let is_of_volumes = |name: &&str| name.split('.').next() == Some(VOLUMES);
    if recipe.option(VOLUMES).is_some() || !named(recipe).iter().any(is_of_volumes) {
        return Ok(Cow::Borrowed(expanded));
    }
    let mut found = Map::new();
    for need in &recipe.volumes {
        let mount = service.mounts.iter().find(|(volume, _)| *volume == need.name);
        let Some((_, mount)) = mount else { continue };
        let place = match (&service.run, expanded.applies(&need.when)?) {
            (_, false) => Value::Null,
            (Run::Image(..), true) => mount.text.as_str().into(),
            (Run::Program(_), true) => directory(expanded, ground, need)?.into(),
        };
        found.insert(need.name.clone(), place);
    }
    Ok(Cow::Owned(expanded.seen_with(found)))
}

/// The directory of a volume, which must be the same on every host that it may lie on.
fn directory(expanded: &Expanded<'_>, ground: &Ground<'_>, need: &VolumeNeed) -> Result<String, Diagnostic> {
    let path = expanded.text(&need.path)?.value;
    let clients = ground.clients(expanded.datacenter());
    let hosts = match need.each {
        true => clients.to_vec(),
        // Hosts that are missing are said where the volume is lowered.
        false => hosts(expanded, ground, need, &[], &mut Vec::new())
            .into_iter()
            .map(|(host, _)| host)
            .collect(),
    };
    let directories: BTreeSet<String> = hosts.iter().map(|host| below(host, &path)).collect();
    if directories.len() > 1 {
        let words = format!(
            "volume {} is in another directory on each host: {}",
            need.name,
            Vec::from_iter(directories).join(", ")
        );
        return Err(expanded.wrong(&need.path, &words));
    }
    Ok(directories.into_iter().next().unwrap_or(path))
}

/// Where a path of a volume is on a host.
fn below(host: &Host, path: &str) -> String {
    match &host.volumes_below {
        Some(below) => format!("{}{path}", below.trim_end_matches('/')),
        None => path.to_owned(),
    }
}

/// The hosts of a volume: where the pillar says it lies; those still missing are chosen. The choice depends on names
/// alone and spreads the volumes; the pillar keeps it, so that a new host moves nothing.
fn hosts<'a>(
    expanded: &Expanded<'_>,
    ground: &Ground<'a>,
    need: &VolumeNeed,
    groups: &[Group],
    found: &mut Vec<Diagnostic>,
) -> Vec<(&'a Host, Source)> {
    let component = &expanded.component;
    let clients = ground.clients(expanded.datacenter());
    let mounting = |group: &&Group| group.mounts.iter().any(|mount| mount.volume == need.name);
    let wanted = match need.each {
        true => groups
            .iter()
            .filter(mounting)
            .map(|group| group.count.value)
            .max(),
        false => Some(1),
    };
    let wanted = wanted.unwrap_or(1) as usize;
    let mut chosen: Vec<(&Host, Source)> = Vec::new();
    if let Some(kept) = component.hosts.get(&need.name) {
        for name in &kept.names {
            match clients.iter().find(|host| host.name == *name) {
                Some(host) => chosen.push((
                    host,
                    Source::Kept {
                        what: format!("hosts of volume {}", need.name),
                        file: kept.at.file.clone(),
                        line: kept.at.position.line,
                    },
                )),
                None => found.push(
                    Diagnostic::new(format!(
                        "Volume {} of {} lies on {}, which is no host with the role client",
                        need.name,
                        component.name,
                        name::named(name)
                    ))
                    .at(&kept.at.file, kept.at.position)
                    .hint("Bring the host back, or move the data and name another host here"),
                ),
            }
        }
        chosen.truncate(wanted);
    }
    if chosen.len() < wanted {
        let rank = |host: &Host| {
            let parts = [&component.environment, &component.name, &need.name, &host.name];
            digest_of(parts.map(String::as_bytes))
        };
        let taken: Vec<_> = chosen.iter().map(|(host, _)| host.name.as_str()).collect();
        let mut free: Vec<&Host> = clients
            .iter()
            .copied()
            .filter(|host| !taken.contains(&host.name.as_str()))
            .collect();
        free.sort_by_cached_key(|host| rank(host));
        let why = match clients.len() {
            1 => "the only host with the role client".to_owned(),
            many => format!("spread over {many} hosts with the role client"),
        };
        let missing = wanted - chosen.len();
        chosen.extend(
            free.into_iter()
                .take(missing)
                .map(|host| (host, Source::pass("storage", &why))),
        );
    }
    chosen
}

fn volume(
    expanded: &Expanded<'_>,
    need: &VolumeNeed,
    host: &Host,
    why: Source,
) -> Result<Volume, Diagnostic> {
    let component = &expanded.component;
    let settings = component.volumes.get(&need.name).unwrap_or(&NOTHING_SET);
    let size = expanded.text(&need.size)?;
    let wrong = |why: String| {
        Diagnostic::new(format!("Volume {} of {}: {why}", need.name, component.name))
            .at(&expanded.recipe.file, need.at)
    };
    let bytes = option::bytes(&size.value).map_err(wrong)?;
    let path = expanded.text(&need.path)?;
    if !option::is_absolute(&path.value) {
        let words = format!(
            "path {:?} is not absolute and plain, such as /srv/data",
            path.value
        );
        return Err(expanded.wrong(&need.path, &words));
    }
    let instance = instance_name(&component.environment, &component.name);
    WantedVolume {
        need: &need.name,
        name: format!("{instance}-{}", need.name),
        each: need.each,
        host,
        why,
        path,
        purpose: need.purpose,
        size: size.map(|_| bytes),
        filesystem: wanted_filesystem(expanded, need)?,
        settings,
        environment: &component.environment,
        owner: &need.owner,
        mode: &need.mode,
        declared: expanded.line_source(need.at.line),
        at: Place {
            file: expanded.recipe.file.clone(),
            position: need.at,
        },
    }
    .volume()
}

/// A volume that stands for itself, as a component of which nothing runs.
pub fn standing(volume: &StandingVolume, ground: &Ground<'_>) -> Result<Lowered, Diagnostic> {
    let (environment, name) = (&volume.environment, &volume.name);
    let host_name = &volume.host.names[0];
    let host = ground.hosts.get(host_name).ok_or_else(|| {
        Diagnostic::new(format!(
            "Volume {name} lies on {}, which is no host of the estate",
            name::named(host_name)
        ))
        .at(&volume.host.at.file, volume.host.at.position)
        .hint("`eos create host NAME --address ADDRESS` adds one; or name another here")
    })?;
    let at = |key: &str| Source::Option {
        option: key.to_owned(),
        file: volume.at.file.clone(),
        line: volume.at.position.line,
    };
    let size = volume.settings.size.as_ref().map_or(0, |size| size.value);
    let instance = instance_name(environment, name);
    let mount = match &volume.mount {
        Some(mount) => Sourced::new(mount.clone(), at("mount")),
        None => Sourced::new(
            format!("/srv/{instance}"),
            Source::pass("storage", "named after the volume"),
        ),
    };
    let asked = WantedVolume {
        need: STANDING_NEED,
        name: instance.clone(),
        each: false,
        host,
        why: Source::Option {
            option: "host".to_owned(),
            file: volume.host.at.file.clone(),
            line: volume.host.at.position.line,
        },
        path: mount,
        purpose: volume.purpose,
        size: Sourced::new(size, at("size")),
        filesystem: None,
        settings: &volume.settings,
        environment,
        owner: &volume.owner,
        mode: &volume.mode,
        declared: at("volume"),
        at: volume.at.clone(),
    };
    Ok(Lowered {
        profile: ground.profile,
        environment: environment.clone(),
        component: name.clone(),
        recipe: STANDING_RECIPE.to_owned(),
        version: String::new(),
        // Storage services are an operator's.
        risk: Risk::Medium,
        owner: None,
        is_member: false,
        uses: BTreeMap::new(),
        optional: BTreeSet::new(),
        before: BTreeSet::new(),
        wave: 0,
        datacenter: Sourced::new(host.datacenter.clone(), host.source()),
        generation: 0,
        shape: Shape::default(),
        groups: Box::default(),
        borrowed: BTreeMap::new(),
        in_workspace: WorkspaceParts::default(),
        volumes: [asked.volume()?].into(),
        parts: HostParts::default(),
        secrets: Box::default(),
        outputs: Box::default(),
        routed_by: None,
        asked: None,
        monitor: None,
        watched_by: None,
        at: volume.at.clone(),
    })
}

/// A volume that somebody asked for: a recipe, or a person by itself.
struct WantedVolume<'a> {
    need: &'a str,
    name: String,
    each: bool,
    host: &'a Host,
    /// Why on that host.
    why: Source,
    path: Sourced<String>,
    purpose: Purpose,
    size: Sourced<u64>,
    /// Over the policy's choice.
    filesystem: Option<Sourced<Filesystem>>,
    settings: &'a VolumeSettings,
    environment: &'a str,
    owner: &'a str,
    mode: &'a str,
    declared: Source,
    at: Place,
}

impl WantedVolume<'_> {
    fn volume(self) -> Result<Volume, Diagnostic> {
        let (host, settings) = (self.host, self.settings);
        let path = match &host.volumes_below {
            Some(_) => Sourced::new(
                below(host, &self.path.value),
                Source::Below {
                    host: host.name.clone(),
                    from: Box::new(self.path.from.clone()),
                },
            ),
            None => self.path.clone(),
        };
        let size = set_over(settings.size.as_ref(), self.size.clone());
        let policy = policy(self.purpose, host, settings);
        let filesystem = match self.filesystem.clone() {
            Some(wanted) => over(wanted, policy, Filesystem::word),
            None => policy,
        };
        let filesystem = match &settings.filesystem {
            Some(set) => over(
                Sourced::new(set.value, set.source()),
                filesystem,
                Filesystem::word,
            ),
            None => filesystem,
        };
        let wrong = |why: String| {
            Diagnostic::new(format!("Volume {}: {why}", self.name)).at(&self.at.file, self.at.position)
        };
        if filesystem.value == Filesystem::Xfs && size.value < XFS_LEAST {
            let why = format!("XFS needs {} at least", option::human_size(XFS_LEAST));
            return Err(wrong(why).hint("Ask for more, or for another filesystem, such as ext4"));
        }
        let lvm = match filesystem.value {
            Filesystem::Directory => None,
            Filesystem::Xfs | Filesystem::Btrfs | Filesystem::Ext4 => {
                if let Some(problem) = name::lvm_problem(&self.name) {
                    let words = Diagnostic::new(problem).at(&self.at.file, self.at.position);
                    return Err(words.hint("Choose another name"));
                }
                Some(Box::new(self.lvm(filesystem.value)))
            }
        };
        if lvm.is_none() && settings.needs_lvm() {
            let why = format!(
                "it is a directory of host {}, which has no volume group",
                host.name
            );
            let hint = format!(
                "Give the host one: `eos update host {} --volume-group NAME --device PATH`",
                host.name
            );
            return Err(wrong(why).hint(hint));
        }
        let compressed = lvm.as_ref().and_then(|lvm| lvm.compression.as_ref());
        if compressed.is_some() && filesystem.value != Filesystem::Btrfs {
            let why = format!("{} does not compress", filesystem.value.title());
            return Err(wrong(why).hint("Btrfs does: `eos convert filesystem PATH btrfs --compression zstd`"));
        }
        let (user, group) = self.owner.split_once(':').unwrap_or((self.owner, self.owner));
        Ok(Volume {
            need: self.need.to_owned(),
            name: self.name,
            each: self.each,
            host: Sourced::new(host.name.clone(), self.why),
            path,
            purpose: self.purpose,
            size,
            filesystem,
            lvm,
            durability: environment::durability(self.environment),
            user: user.to_owned(),
            group: group.to_owned(),
            mode: self.mode.to_owned(),
            declared: self.declared,
        })
    }

    fn lvm(&self, filesystem: Filesystem) -> Lvm {
        let (host, settings) = (self.host, self.settings);
        let by_pass = |why: &str| Source::pass("storage", why);
        let group = match (&settings.volume_group, &host.volume_group) {
            (Some(set), _) => Sourced::new(set.value.clone(), set.source()),
            (None, Some(group)) => Sourced::new(group.clone(), host.source()),
            (None, None) => Sourced::new(
                DEFAULT_GROUP.to_owned(),
                by_pass("made on the devices of the host"),
            ),
        };
        // The disks of a host are for its own group.
        let of_host = host.volume_group.as_deref().unwrap_or(DEFAULT_GROUP) == group.value;
        let mut devices = settings.devices.clone();
        let named = match devices.is_empty() {
            true => host.source(),
            false => self.declared.clone(),
        };
        for device in host.devices.iter().filter(|_| of_host) {
            if !devices.contains(device) {
                devices.push(device.clone());
            }
        }
        let compression = match &settings.compression {
            Some(set) => Some(Sourced::new(set.value.clone(), set.source())),
            None if filesystem == Filesystem::Btrfs && self.purpose == Purpose::Backup => Some(Sourced::new(
                "zstd".to_owned(),
                by_pass("backups are on Btrfs, compressed"),
            )),
            None => None,
        };
        let alert = match &settings.alert {
            Some(set) => Sourced::new(set.value, set.source()),
            None => Sourced::new(ALERT, by_pass("said of every volume unless it is set")),
        };
        Lvm {
            group,
            devices: Sourced::new(devices, named),
            compression,
            alert,
            shrink_from: settings.shrink_from,
            snapshots: settings.snapshots.clone(),
            restored: settings.restored.clone(),
            converted: settings.converted.clone(),
        }
    }
}

fn set_over(set: Option<&Setting<u64>>, asked: Sourced<u64>) -> Sourced<u64> {
    match set {
        // What a standing volume asks for is what is set of it.
        Some(set) if set.value == asked.value => Sourced::new(set.value, set.source()),
        Some(set) => {
            let over = Overruled {
                value: asked.value.into(),
                from: asked.from,
            };
            Sourced::new(set.value, set.source()).over([over])
        }
        None => asked,
    }
}

fn over<T: Copy>(wanted: Sourced<T>, less: Sourced<T>, word: fn(T) -> &'static str) -> Sourced<T> {
    let over = Overruled {
        value: word(less.value).into(),
        from: less.from,
    };
    wanted.over([over])
}

fn wanted_filesystem(
    expanded: &Expanded<'_>,
    need: &VolumeNeed,
) -> Result<Option<Sourced<Filesystem>>, Diagnostic> {
    let Some(template) = &need.filesystem else {
        return Ok(None);
    };
    let wanted = expanded.text(template)?;
    if wanted.value.is_empty() {
        return Ok(None);
    }
    let filesystem = Filesystem::from_word(&wanted.value).ok_or_else(|| {
        let words = Filesystem::WORDS.join(", ");
        expanded.wrong(
            template,
            &format!("{:?} is not a filesystem: use {words}", wanted.value),
        )
    })?;
    Ok(Some(Sourced::new(filesystem, wanted.from)))
}

fn policy(purpose: Purpose, host: &Host, settings: &VolumeSettings) -> Sourced<Filesystem> {
    let by = |filesystem, why: String| Sourced::new(filesystem, Source::pass("storage", why));
    let named = settings.volume_group.is_some() || !settings.devices.is_empty();
    if host.volume_group.is_none() && host.devices.is_empty() && !named {
        return by(
            Filesystem::Directory,
            format!("host {} has no volume group and no device", host.name),
        );
    }
    match purpose {
        Purpose::Application => by(Filesystem::Xfs, "applications are on XFS, on LVM".to_owned()),
        Purpose::Database => by(Filesystem::Xfs, "databases are on XFS, on LVM".to_owned()),
        Purpose::Backup => by(Filesystem::Btrfs, "backups are on Btrfs, compressed".to_owned()),
    }
}

/// No two volumes of a host have one name in a volume group, or one path.
pub fn check_volumes<'c>(components: impl Iterator<Item = &'c Lowered>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut taken: BTreeMap<(&str, &str, &str), &Lowered> = BTreeMap::new();
    for component in components {
        for volume in &component.volumes {
            let host = volume.host.value.as_str();
            let in_group = volume.lvm.as_ref();
            let in_group = in_group.map(|lvm| (host, lvm.group.value.as_str(), volume.name.as_str()));
            let places = [in_group, Some((host, "", volume.path.value.as_str()))];
            for place in places.into_iter().flatten() {
                if let Some(other) = taken.insert(place, component) {
                    let (_, group, name) = place;
                    let what = match group {
                        "" => format!("be at {name}"),
                        group => format!("be called {name} in {group}"),
                    };
                    let words = format!(
                        "A volume of {} and one of {} would both {what} on host {host}",
                        other.workspace(),
                        component.workspace()
                    );
                    found.push(
                        Diagnostic::new(words)
                            .at(&component.at.file, component.at.position)
                            .hint("Give one of them another name or path"),
                    );
                }
            }
        }
    }
    found
}
