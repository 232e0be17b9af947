//! `eos audit`: who did what here, and whether that record is as it was written.

use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use crate::views::reports::audit::Entries;
use eos_engine::audit::{self, Verdict};

/// Show who did what, or verify that the record is complete
///
/// Eos records every operation, approval, revealed secret, login and move of the home as an entry. Each entry holds the
/// hash of the one before it. Every commit of an operation names the newest entry, in its trailer `Audit:`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos audit show
  eos audit show --limit 100 --json
  eos audit verify")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the entries, newest first
    Show {
        /// How many entries, newest first
        #[arg(long, default_value_t = 20, value_name = "NUMBER")]
        limit: u32,
    },
    /// Check every entry, the journals they seal and the commits that name one
    Verify,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    session.refuse_environment("The audit covers the whole estate")?;
    let estate = session.estate()?;
    let store = estate.store_to_read()?;
    match args.command {
        Command::Show { limit } => session.view.show(&Entries(store.audit_entries(limit)?)),
        Command::Verify => {
            let verdict = audit::verify(&estate, &store).await?;
            if let Some(problem) = misfit(&verdict) {
                return Err(problem);
            }
            session.view.show(&verdict);
        }
    }
    Ok(Exit::Done)
}

fn misfit(verdict: &Verdict) -> Option<Problem> {
    let misfit = verdict.misfit.as_ref()?;
    let message = format!("Entry {} of the audit {}", misfit.entry, misfit.words);
    let hint = format!(
        "All entries before it fit: {} of {}, compared with {} in commits; something other than Eos changed \
         .eos/store.db",
        misfit.entry - 1,
        verdict.counted_entries(),
        verdict.counted_anchors()
    );
    Some(Problem::not_done(message, hint))
}
