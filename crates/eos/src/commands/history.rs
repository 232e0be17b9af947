//! `eos history`: the operations of an estate, and the journal of one.

use super::{Answer, Session};
use crate::problem::{Exit, Problem};
use eos_core::name::quoted;
use eos_engine::Store;
use eos_engine::store::Operation;

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
    /// How many, the newest first
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

pub fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let store = session.estate()?.store()?;
    match &args.command {
        None => session.view.history(&store.history(args.limit)?),
        Some(Command::Show { operation }) => {
            let found = find(&store, operation)?;
            let journal = store.journal(&found.id)?;
            session.view.operation(&found, &journal);
        }
    }
    Ok(Exit::Done)
}

pub fn find(store: &Store, beginning: &str) -> Result<Operation, Problem> {
    let beginning = beginning.to_uppercase();
    let mut found: Vec<_> = store
        .history(u32::MAX)?
        .into_iter()
        .filter(|operation| operation.id.starts_with(&beginning))
        .collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Problem::usage(
            format!("There is no operation {}", quoted(&beginning)),
            "`eos history` shows them",
        )),
        count => Err(Problem::usage(
            format!("{} fits {count} operations", quoted(&beginning)),
            "Give more letters of its id; `eos history` shows them",
        )),
    }
}
