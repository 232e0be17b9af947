//! `eos convert`: another filesystem under the same files.

use super::plan_file::Look;
use super::volume::{change, found};
use super::{Answer, Session};
use crate::options::shell_word;
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
  eos undo                              go back, as long as it is not committed")]
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
/// ext4 becomes Btrfs in place where that is safe, with a snapshot first; all else is copied to a new volume. Nothing may
/// write to it meanwhile. Every file is compared: content, owner, rights, attributes, links. The volume as it was is
/// kept until --commit; `eos undo` goes back to it, without what was written since.
#[derive(Debug, clap::Args)]
struct Filesystem {
    /// Where the volume is mounted, or its name
    #[arg(value_hint = ValueHint::DirPath)]
    path: String,
    /// The filesystem it shall have: btrfs, xfs or ext4
    #[arg(
        required_unless_present = "commit", hide_possible_values = true,
        value_parser = PossibleValuesParser::new(["btrfs", "xfs", "ext4"])
    )]
    filesystem: Option<String>,
    /// What Btrfs compresses with: zstd, zlib or lzo
    #[arg(long, hide_possible_values = true, value_parser = PossibleValuesParser::new(COMPRESSIONS))]
    compression: Option<String>,
    /// The volume as it was need not be kept any longer
    #[arg(long, conflicts_with_all = ["filesystem", "compression"])]
    commit: bool,
    #[command(flatten)]
    look: Look,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let What::Filesystem(args) = &args.noun;
    let estate = session.estate()?;
    let volume = found(session, &estate, &args.path)?;
    let mut words = vec![format!("eos convert filesystem {}", shell_word(&args.path))];
    let mut options: Vec<(&'static str, Value)> = Vec::new();
    match &args.filesystem {
        _ if args.commit => {
            words.push("--commit".to_owned());
            options.push(("commit", true.into()));
        }
        Some(filesystem) => {
            words.push(filesystem.clone());
            options.push(("filesystem", filesystem.as_str().into()));
        }
        None => return Err(Problem::usage("FILESYSTEM is missing", "Use btrfs, xfs or ext4")),
    }
    if let Some(compression) = &args.compression {
        words.push(format!("--compression {compression}"));
        options.push(("compression", compression.as_str().into()));
    }
    change(session, &estate, &volume, options, words, &args.look).await
}
