//! `eos history`: the operations of an estate, and the journal of one.

use super::{Ended, Session};
use crate::problem::Exit;
use crate::views::reports::history::History;
use crate::views::reports::operation::OperationReport;
use eos_engine::operation::{Standings, find};

/// Show the operations of this estate, or one of them
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  eos history
  eos history --limit 100 --json
  eos history show 01KA3V9Q2M"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// How many operations, newest first
    #[arg(long, default_value_t = 20, value_name = "NUMBER")]
    limit: u32,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show one operation and its journal
    Show {
        /// The operation, by its id or the beginning of it
        operation: String,
    },
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let store = estate.store_to_read()?;
    let standings = Standings::read(&estate, &store)?;
    match &args.command {
        None => {
            let operations = store.history(args.limit)?.into_iter();
            let operations = operations.map(|operation| {
                let standing = standings.of(&operation);
                (operation, standing)
            });
            session.view.show(&History(operations.collect()));
        }
        Some(Command::Show { operation }) => {
            let operation = find(&store, operation)?;
            let journal = store.journal(&operation.id)?;
            session.view.show(&OperationReport {
                standing: standings.of(&operation),
                operation,
                journal,
            });
        }
    }
    Ok(Exit::Done)
}
