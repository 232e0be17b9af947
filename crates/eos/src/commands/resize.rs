//! `eos resize`: a volume and its filesystem get another size, together and online.

use super::plan_file::PlanOnly;
use super::volume::{change, found};
use super::{Ended, Session};

/// Resize a volume
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos resize lvm postgres-data +50G
  eos resize lvm grafana-data 20G --plan")]
pub struct Args {
    #[command(subcommand)]
    noun: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Lvm(Lvm),
}

/// Resize a volume on LVM
///
/// Volume and filesystem grow together, while in use. XFS cannot shrink. ext4 and Btrfs shrink if Eos proves that their
/// data fits; it takes a snapshot first.
#[derive(Debug, clap::Args)]
struct Lvm {
    /// The volume, by the name that `eos storage` shows
    name: String,
    /// The new size, such as 200G, or the growth, such as +50G
    #[arg(allow_hyphen_values = true)]
    size: String,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let What::Lvm(args) = &args.noun;
    let estate = session.estate()?;
    let volume = found(session, &estate, &args.name)?;
    let options = [("size", args.size.as_str().into())];
    change(session, &estate, &volume, options, &args.look).await
}
