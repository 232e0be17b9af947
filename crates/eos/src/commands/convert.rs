//! `eos convert`: another filesystem under the same files.

use super::plan_file::PlanOnly;
use super::volume::{change, found};
use super::{Ended, Session};
use crate::problem::Problem;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use eos_core::pillar::COMPRESSIONS;
use serde_json::Value;

/// Convert a volume to another filesystem
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos convert filesystem /data btrfs --compression zstd
  eos convert filesystem /data --commit
  eos undo                              go back, before the commit")]
pub struct Args {
    #[command(subcommand)]
    noun: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Filesystem(Filesystem),
}

/// Convert the filesystem of a volume
///
/// Eos converts ext4 to Btrfs in place where that is safe, after a snapshot. It copies everything else to a new volume.
/// Nothing may write to the volume meanwhile. Eos compares every file: content, owner, rights, attributes, links. It
/// keeps the old volume until --commit. `eos undo` goes back to it and loses later writes.
#[derive(Debug, clap::Args)]
struct Filesystem {
    /// Mount path or name of the volume
    #[arg(value_hint = ValueHint::DirPath)]
    path: String,
    /// The new filesystem: btrfs, xfs or ext4
    #[arg(
        required_unless_present = "commit", hide_possible_values = true,
        value_parser = PossibleValuesParser::new(["btrfs", "xfs", "ext4"])
    )]
    filesystem: Option<String>,
    /// Compression of Btrfs: zstd, zlib or lzo
    #[arg(long, hide_possible_values = true, value_parser = PossibleValuesParser::new(COMPRESSIONS))]
    compression: Option<String>,
    /// Delete the old volume that Eos kept
    #[arg(long, conflicts_with_all = ["filesystem", "compression"])]
    commit: bool,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let What::Filesystem(args) = &args.noun;
    let estate = session.estate()?;
    let volume = found(session, &estate, &args.path)?;
    let mut options: Vec<(&'static str, Value)> = Vec::new();
    match &args.filesystem {
        _ if args.commit => options.push(("commit", true.into())),
        Some(filesystem) => options.push(("filesystem", filesystem.as_str().into())),
        None => return Err(Problem::usage("FILESYSTEM is missing", "Use btrfs, xfs or ext4")),
    }
    if let Some(compression) = &args.compression {
        options.push(("compression", compression.as_str().into()));
    }
    change(session, &estate, &volume, options, &args.look).await
}
