//! Volumes as a noun of `create`, `read` and `delete`, and what every verb about a volume shares.

use super::carry_out::{Asked, ask};
use super::plan_file::PlanOnly;
use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use crate::views::reports::component::IntentReport;
use crate::views::reports::list::Applied;
use crate::views::reports::thing::{ThingReport, facts, place};
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use eos_core::compile::lower;
use eos_core::intent::{Noun, Options, Sentence, find_volume};
use eos_core::kinds::volume::address;
use eos_core::lowered::{Lowered, Volume};
use eos_core::pillar::COMPRESSIONS;
use eos_core::recipe::Purpose;
use eos_engine::estate::Estate;
use eos_engine::planning::last_applied;
use serde_json::Value;

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

/// Show a volume in declarative form
///
/// Eos shows every fact of the volume with its source, and whether it is applied. A volume is standalone or belongs to a
/// component. `eos storage` asks the hosts how full it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos read volume archive
  eos read volume /srv/media --json")]
pub struct ReadArgs {
    /// The volume to show, by its name or the path it is mounted at
    #[arg(value_name = "NAME")]
    volume: String,
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

pub async fn create(session: &mut Session<'_>, args: &CreateArgs, look: &PlanOnly) -> Ended {
    let estate = session.estate()?;
    let texts = [
        ("size", Some(&args.size)),
        ("volume_group", args.volume_group.as_ref()),
        ("purpose", args.purpose.as_ref()),
        ("mount", args.mount.as_ref()),
        ("host", args.host.as_ref()),
        ("filesystem", args.filesystem.as_ref()),
        ("compression", args.compression.as_ref()),
        ("owner", args.owner.as_ref()),
    ];
    let given = texts.into_iter().filter_map(|(key, text)| Some((key, text?)));
    let mut options: Options = given
        .map(|(key, text)| (key.to_owned(), Value::from(text.as_str())))
        .collect();
    if !args.devices.is_empty() {
        options.insert("devices".to_owned(), args.devices.clone().into());
    }
    let environment = session.environment(&estate);
    let sentence = Sentence::CreateVolume {
        environment: environment.clone(),
        volume: args.name.clone(),
        facts: options,
    };
    ask(session, &estate, Asked::new(sentence, environment, look)).await
}

pub async fn read(session: &mut Session<'_>, args: &ReadArgs) -> Ended {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let compilation = estate.compile()?;
    let found = find_volume(&compilation.components, &environment, &args.volume);
    let (component, volume) = found.map_err(|missing| Problem::Usage(vec![missing]))?;
    let pillar = estate.whole_pillar()?;
    let standing = pillar.volume(&environment, &component.component);
    let owner = pillar.component(&environment, &component.component);
    let nodes = compilation.nodes(&component.key());
    let Some(node) = nodes.iter().find(|node| node.address == address(volume)) else {
        return Err(Problem::usage(
            format!("Volume {} has no node", volume.name),
            "`eos storage` shows the volumes there are",
        ));
    };
    let applied = last_applied(&estate, &environment).await?;
    let intent = match standing {
        Some(standing) => standing.intent.as_ref(),
        None => owner.and_then(|owner| owner.intent.as_ref()),
    };
    let report = ThingReport {
        noun: Noun::Volume,
        name: volume.name.clone(),
        component: standing.is_none().then(|| component.component.clone()),
        applied: Applied::of(node, applied.get(&component.key()).into_iter().flatten()),
        facts: facts(node),
        intent: intent.map(IntentReport::of),
        place: place(&component.at),
        environment: Some(environment),
    };
    session.view.show(&report);
    Ok(Exit::Done)
}

pub async fn delete(session: &mut Session<'_>, args: &DeleteArgs, look: &PlanOnly) -> Ended {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    let sentence = Sentence::DeleteVolume {
        environment: environment.clone(),
        volume: args.volume.clone(),
        with_data: args.with_data,
    };
    ask(session, &estate, Asked::new(sentence, environment, look)).await
}

/// A volume of the estate, as a person names it: by its name or the path it is mounted at.
pub struct NamedVolume {
    pub component: String,
    pub volume: Volume,
}

pub fn found(session: &Session<'_>, estate: &Estate, meant: &str) -> Result<NamedVolume, Problem> {
    let pillar = estate.whole_pillar()?;
    let (lowered, _) = lower(&pillar, &estate.catalog()?, estate.settings.profile);
    let environment = session.environment(estate);
    let (component, volume) =
        find_volume(&lowered, &environment, meant).map_err(|missing| Problem::Usage(vec![missing]))?;
    Ok(NamedVolume {
        component: component.component.clone(),
        volume: volume.clone(),
    })
}

/// A volume by the name that its host knows it under, with its environment.
pub fn found_by_id(estate: &Estate, id: &str) -> Result<(String, NamedVolume), Problem> {
    let pillar = estate.whole_pillar()?;
    let (lowered, _) = lower(&pillar, &estate.catalog()?, estate.settings.profile);
    let all = lowered
        .values()
        .flat_map(|component| component.volumes.iter().map(move |volume| (component, volume)));
    let is_it = |(component, volume): &(&Lowered, &Volume)| {
        volume.id(&component.environment, &component.component) == id
    };
    let found = all.into_iter().find(is_it).map(|(component, volume)| {
        let found = NamedVolume {
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
    found: &NamedVolume,
    facts: impl IntoIterator<Item = (&'static str, Value)>,
    look: &PlanOnly,
) -> Ended {
    let environment = session.environment(estate);
    let sentence = Sentence::UpdateVolume {
        environment: environment.clone(),
        component: found.component.clone(),
        need: found.volume.need.clone(),
        facts: facts
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    ask(session, estate, Asked::new(sentence, environment, look)).await
}
