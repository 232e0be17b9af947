//! Volumes as a noun of `create` and `delete`, and what every verb about a volume shares.

use super::carry_out::{Asked, ask};
use super::plan_file::Look;
use super::{Answer, Session};
use crate::options::{Chosen, shell_word};
use crate::problem::Problem;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use eos_core::compile::lower;
use eos_core::intent::{Noun, Verb, find_volume};
use eos_core::lowered::{Lowered, Volume};
use eos_core::pillar::COMPRESSIONS;
use eos_core::recipe::Purpose;
use eos_engine::estate::Estate;
use serde_json::Value;
use std::collections::BTreeMap;

/// Create a volume on a host: LVM, a filesystem, mounted
///
/// The purpose chooses the filesystem: XFS for applications and databases, Btrfs with compression for backups. If the
/// volume group is missing or full, the disk of --device joins it, which an architect must approve. Eos never takes a
/// disk that holds anything. Without a volume group, a volume is a directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos create volume postgres-data --size 100G --on data-vg --device /dev/sdb
  eos create volume archive --size 2T --on data-vg --purpose backup --host node2
  eos create volume media --size 500G --on data-vg --mount /srv/media --plan")]
pub struct CreateArgs {
    /// Name of the volume, also in LVM
    name: String,
    /// Size, such as 20G, 1.5T or 100GiB; LVM rounds it up to its extents
    #[arg(long)]
    size: String,
    /// LVM volume group [default: the group of the host]
    #[arg(long = "on", value_name = "GROUP")]
    volume_group: Option<String>,
    /// A whole disk for the volume group [may be repeated]
    #[arg(long = "device", value_name = "PATH", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    devices: Vec<String>,
    /// Purpose: application, database, backup or shared
    #[arg(long, hide_possible_values = true, value_parser = PossibleValuesParser::new(Purpose::WORDS))]
    purpose: Option<String>,
    /// Mount path [default: below /srv, by its name]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    mount: Option<String>,
    /// Host of the volume, if there are several
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Filesystem, instead of the one for its purpose: xfs, btrfs or ext4
    #[arg(long, hide_possible_values = true, value_parser = PossibleValuesParser::new(["xfs", "btrfs", "ext4"]))]
    filesystem: Option<String>,
    /// Compression of Btrfs: zstd, zlib or lzo
    #[arg(long, hide_possible_values = true, value_parser = PossibleValuesParser::new(COMPRESSIONS))]
    compression: Option<String>,
    /// Owner of its root directory, as user:group [default: root:root]
    #[arg(long, value_name = "USER:GROUP")]
    owner: Option<String>,
}

/// Remove a volume from the estate
///
/// The volume stays mounted with all its data; Eos stops managing it. With --with-data Eos unmounts the volume and
/// deletes it with all its data; you cannot roll that back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos delete volume archive --plan
  eos delete volume archive --with-data")]
pub struct DeleteArgs {
    /// The volume to remove
    #[arg(value_name = "NAME")]
    volume: String,
    /// Delete it on its host, with all data and snapshots
    #[arg(long)]
    with_data: bool,
}

pub async fn create(session: &mut Session<'_>, args: &CreateArgs, look: &Look) -> Answer {
    let estate = session.estate()?;
    let texts = [
        ("size", "size", Some(&args.size)),
        ("volume_group", "on", args.volume_group.as_ref()),
        ("purpose", "purpose", args.purpose.as_ref()),
        ("mount", "mount", args.mount.as_ref()),
        ("host", "host", args.host.as_ref()),
        ("filesystem", "filesystem", args.filesystem.as_ref()),
        ("compression", "compression", args.compression.as_ref()),
        ("owner", "owner", args.owner.as_ref()),
    ];
    let given = texts
        .into_iter()
        .filter_map(|(key, flag, text)| Some((key, flag, text?)));
    let mut options = BTreeMap::new();
    let mut words = vec![format!("eos create volume {}", shell_word(&args.name))];
    for (key, flag, text) in given {
        options.insert(key.to_owned(), Value::from(text.as_str()));
        words.push(format!("--{flag} {}", shell_word(text)));
    }
    if !args.devices.is_empty() {
        options.insert("devices".to_owned(), args.devices.clone().into());
        words.push(format!("--device {}", shell_word(&args.devices.join(","))));
    }
    let wish = VolumeWish {
        verb: Verb::Create,
        component: &args.name,
        options,
        words,
    };
    wish.ask(session, &estate, look).await
}

pub async fn delete(session: &mut Session<'_>, args: &DeleteArgs, look: &Look) -> Answer {
    let estate = session.estate()?;
    let mut words = vec![format!("eos delete volume {}", shell_word(&args.volume))];
    let mut options = BTreeMap::new();
    if args.with_data {
        options.insert("with_data".to_owned(), true.into());
        words.push("--with-data".to_owned());
    }
    let wish = VolumeWish {
        verb: Verb::Delete,
        component: &args.volume,
        options,
        words,
    };
    wish.ask(session, &estate, look).await
}

/// Something to be changed about a volume, in the words it was asked for with.
pub struct VolumeWish<'a> {
    pub verb: Verb,
    /// The owner of the volume; a standalone volume owns itself.
    pub component: &'a str,
    pub options: BTreeMap<String, Value>,
    pub words: Vec<String>,
}

impl VolumeWish<'_> {
    pub async fn ask(self, session: &mut Session<'_>, estate: &Estate, look: &Look) -> Answer {
        let asked = Asked {
            verb: self.verb,
            noun: Noun::Volume,
            environment: session.environment(estate),
            from: None,
            upgrade: false,
            component: self.component,
            recipe: None,
            chosen: Chosen {
                options: self.options,
                ..Chosen::default()
            },
            words: self.words,
            look,
        };
        ask(session, estate, asked).await
    }
}

/// A volume of the estate, as a person names it: by its name or the path it is mounted at.
pub struct Found {
    pub component: String,
    pub volume: Volume,
}

pub fn found(session: &Session<'_>, estate: &Estate, meant: &str) -> Result<Found, Problem> {
    let pillar = estate.whole_pillar()?;
    let (lowered, _) = lower(&pillar, &estate.catalog()?, estate.settings.profile);
    let environment = session.environment(estate);
    let (component, volume) =
        find_volume(&lowered, &environment, meant).map_err(|missing| Problem::Usage(vec![missing]))?;
    Ok(Found {
        component: component.component.clone(),
        volume: volume.clone(),
    })
}

/// A volume by the name that its host knows it under, with its environment.
pub fn found_by_id(estate: &Estate, id: &str) -> Result<(String, Found), Problem> {
    let pillar = estate.whole_pillar()?;
    let (lowered, _) = lower(&pillar, &estate.catalog()?, estate.settings.profile);
    let all = lowered
        .values()
        .flat_map(|component| component.volumes.iter().map(move |volume| (component, volume)));
    let is_it = |(component, volume): &(&Lowered, &Volume)| {
        volume.id(&component.environment, &component.component) == id
    };
    let found = all.into_iter().find(is_it).map(|(component, volume)| {
        let found = Found {
            component: component.component.clone(),
            volume: volume.clone(),
        };
        (component.environment.clone(), found)
    });
    found.ok_or_else(|| {
        Problem::usage(
            format!("Volume {id} is on its host, but not in the pillar"),
            "`eos storage` shows the volumes there are",
        )
    })
}

/// Has a volume that is there changed.
pub async fn change(
    session: &mut Session<'_>,
    estate: &Estate,
    found: &Found,
    options: impl IntoIterator<Item = (&'static str, Value)>,
    words: Vec<String>,
    look: &Look,
) -> Answer {
    let need = ("need", Value::from(found.volume.need.as_str()));
    let options = options.into_iter().chain([need]);
    let wish = VolumeWish {
        verb: Verb::Update,
        component: &found.component,
        options: options.map(|(name, value)| (name.to_owned(), value)).collect(),
        words,
    };
    wish.ask(session, estate, look).await
}
