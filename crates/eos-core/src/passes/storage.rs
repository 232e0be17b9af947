//! The storage pass: on which host a volume lies, and with which filesystem (requirement D6).

use crate::diagnostic::Diagnostic;
use crate::emit::digest_of;
use crate::expand::Expanded;
use crate::lowered::{Filesystem, Group, Volume, instance_name};
use crate::option;
use crate::passes::environment;
use crate::passes::placement::Ground;
use crate::pillar::Host;
use crate::recipe::{Purpose, VolumeNeed};
use crate::source::{Overruled, Source, Sourced};

/// XFS cannot be made smaller than this.
const XFS_LEAST: u64 = 300 << 20;

/// The volume group that is made where a host has devices and names none.
const DEFAULT_GROUP: &str = "data-vg";

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
                        crate::name::named(name)
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
    let path = expanded.text(&need.path)?;
    let path = match &host.volumes_below {
        Some(below) => Sourced::new(
            format!("{}{}", below.trim_end_matches('/'), path.value),
            Source::Below {
                host: host.name.clone(),
                from: Box::new(path.from),
            },
        ),
        None => path,
    };
    let size = expanded.text(&need.size)?;
    let wrong = |why: String| {
        Diagnostic::new(format!("Volume {} of {}: {why}", need.name, component.name))
            .at(&expanded.recipe.file, need.at)
    };
    let bytes = option::bytes(&size.value).map_err(wrong)?;
    let filesystem = filesystem(expanded, need, host)?;
    if filesystem.value == Filesystem::Xfs && bytes < XFS_LEAST {
        let why = format!("XFS needs {} at least", option::human_size(XFS_LEAST));
        return Err(wrong(why).hint("Ask for more, or let the recipe choose filesystem: ext4"));
    }
    let volume_group = match filesystem.value {
        Filesystem::Directory => None,
        _ => Some(match &host.volume_group {
            Some(group) => Sourced::new(group.clone(), host.source()),
            None => Sourced::new(
                DEFAULT_GROUP.to_owned(),
                Source::pass("storage", "made on the devices of the host"),
            ),
        }),
    };
    let (user, group) = need.owner.split_once(':').unwrap_or((&need.owner, &need.owner));
    let instance = instance_name(&component.environment, &component.name);
    Ok(Volume {
        need: need.name.clone(),
        name: format!("{instance}-{}", need.name),
        each: need.each,
        host: Sourced::new(host.name.clone(), why),
        path,
        purpose: need.purpose,
        size: size.map(|_| bytes),
        filesystem,
        volume_group,
        durability: environment::durability(&component.environment),
        user: user.to_owned(),
        group: group.to_owned(),
        mode: need.mode.clone(),
        declared: expanded.line_source(need.at.line),
    })
}

fn filesystem(
    expanded: &Expanded<'_>,
    need: &VolumeNeed,
    host: &Host,
) -> Result<Sourced<Filesystem>, Diagnostic> {
    let policy = policy(need.purpose, host);
    let Some(template) = &need.filesystem else {
        return Ok(policy);
    };
    let wanted = expanded.text(template)?;
    if wanted.value.is_empty() {
        return Ok(policy);
    }
    let filesystem = Filesystem::from_word(&wanted.value).ok_or_else(|| {
        let words = Filesystem::WORDS.join(", ");
        expanded.wrong(
            template,
            &format!("{:?} is no filesystem: use {words}", wanted.value),
        )
    })?;
    let over = Overruled {
        value: policy.value.word().into(),
        from: policy.from,
    };
    Ok(Sourced::new(filesystem, wanted.from).over(vec![over]))
}

fn policy(purpose: Purpose, host: &Host) -> Sourced<Filesystem> {
    let by = |filesystem, why: String| Sourced::new(filesystem, Source::pass("storage", why));
    if host.volume_group.is_none() && host.devices.is_empty() {
        return by(
            Filesystem::Directory,
            format!("host {} has no volume group and no device", host.name),
        );
    }
    match purpose {
        Purpose::Application => by(Filesystem::Xfs, "applications are on XFS, on LVM".to_owned()),
        Purpose::Database => by(Filesystem::Xfs, "databases are on XFS, on LVM".to_owned()),
        Purpose::Backup => by(Filesystem::Btrfs, "backups are on Btrfs, compressed".to_owned()),
        Purpose::Shared => by(
            Filesystem::Directory,
            "shared data wants CephFS, which this estate does not have".to_owned(),
        ),
    }
}
