//! `eos snapshot`: a volume as it was at one moment, kept beside it.

use super::carry_out::need_engines;
use super::plan_file::PlanOnly;
use super::volume::{NamedVolume, change, found};
use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::storage::Snapshots;
use eos_engine::storage;
use jiff::Timestamp;
use serde_json::Value;

/// Snapshots of a volume
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos snapshot create postgres-data before-upgrade
  eos snapshot list postgres-data
  eos snapshot restore postgres-data before-upgrade
  eos snapshot delete postgres-data before-upgrade")]
pub struct Args {
    #[command(subcommand)]
    verb: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Create(Create),
    List(List),
    Restore(Named),
    Delete(Forget),
}

/// Take a snapshot of a volume
///
/// The snapshot holds changes up to its room: a fifth of the volume, or --room. It becomes invalid once more than that
/// changes. `eos storage` shows the room that is left.
#[derive(Debug, clap::Args)]
struct Create {
    /// The volume
    volume: String,
    /// Name of the snapshot [default: the current time]
    name: Option<String>,
    /// Room for what changes, such as 5G
    #[arg(long, value_name = "SIZE")]
    room: Option<String>,
    #[command(flatten)]
    look: PlanOnly,
}

/// Show the snapshots of a volume
#[derive(Debug, clap::Args)]
struct List {
    /// The volume
    volume: String,
}

/// Restore a volume from a snapshot
///
/// The volume loses later writes, and the snapshot is used up. No process may have files of the volume open.
#[derive(Debug, clap::Args)]
struct Named {
    /// The volume
    volume: String,
    /// The snapshot
    name: String,
    #[command(flatten)]
    look: PlanOnly,
}

/// Delete a snapshot
///
/// The volume itself stays untouched.
#[derive(Debug, clap::Args)]
struct Forget {
    /// The volume
    volume: String,
    /// The snapshot
    name: String,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    match &args.verb {
        What::Create(args) => create(session, args).await,
        What::List(args) => list(session, args).await,
        What::Restore(Named { volume, name, look }) => about(session, volume, ("restore", name), look).await,
        What::Delete(Forget { volume, name, look }) => about(session, volume, ("forget", name), look).await,
    }
}

async fn create(session: &mut Session<'_>, args: &Create) -> Ended {
    let estate = session.estate()?;
    let volume = found(session, &estate, &args.volume)?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => {
            let name = Timestamp::now().strftime("at-%Y-%m-%d-%H%M%S").to_string();
            session.filled_in.insert(name).clone()
        }
    };
    let mut options: Vec<(&'static str, Value)> = vec![("snapshot", name.into())];
    if let Some(room) = &args.room {
        options.push(("room", room.as_str().into()));
    }
    change(session, &estate, &volume, options, &args.look).await
}

async fn about(
    session: &mut Session<'_>,
    meant: &str,
    (option, name): (&'static str, &str),
    look: &PlanOnly,
) -> Ended {
    let estate = session.estate()?;
    let volume = found(session, &estate, meant)?;
    change(session, &estate, &volume, [(option, name.into())], look).await
}

async fn list(session: &mut Session<'_>, args: &List) -> Ended {
    let estate = session.estate()?;
    let NamedVolume { component, volume } = found(session, &estate, &args.volume)?;
    let engines = need_engines(&estate)?;
    let mut host = storage::of_host(&engines, &volume.host.value).await?;
    let id = volume.id(&session.environment(&estate), &component);
    host.volumes.retain(|volume| volume.id.as_ref() == Some(&id));
    session.view.show(&Snapshots(host));
    Ok(Exit::Done)
}
