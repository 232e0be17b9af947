//! `eos storage`: disks, volume groups, volumes and snapshots, as the hosts say.

use super::carry_out::need_engines;
use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use eos_core::name::{closest, quoted};
use eos_core::pillar::Pillar;
use eos_engine::storage;

/// Show disks, volumes and how full they are
///
/// Eos shows every host of the pillar. Volumes have their fill, their growth, and the day they are full at that rate.
/// Volume groups have their free space; an unusable disk has its reason. Eos asks all hosts at once. It names a host
/// that does not answer, and still shows the others. Nothing changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos storage
  eos storage node1
  eos storage --json | jq '.hosts[].storage.volumes[] | select(.percent > 80) | .name'")]
pub struct Args {
    /// Only this host
    host: Option<String>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    session.refuse_environment("A host belongs to no environment")?;
    let estate = session.estate()?;
    let pillar = estate.whole_pillar()?;
    let only = args.host.as_deref();
    if let Some(host) = only {
        find_host(&pillar, host)?;
    }
    let engines = need_engines(&estate)?;
    let seen = storage::look(&estate, &engines, &pillar, only).await?;
    session.view.show(&seen);
    Ok(match seen.is_known() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// Refuses a host that the pillar does not have.
pub fn find_host(pillar: &Pillar, host: &str) -> Result<(), Problem> {
    if pillar.hosts.contains_key(host) {
        return Ok(());
    }
    let hint = match closest(host, pillar.hosts.keys().map(String::as_str)) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => "`eos list --hosts` shows what there is".to_owned(),
    };
    Err(Problem::usage(format!("There is no host {}", quoted(host)), hint))
}
