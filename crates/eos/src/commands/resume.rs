//! `eos resume`: go on with an operation that was stopped or failed.

use super::carry_out::{go_on, need_engines};
use super::{Ended, Session};

/// Continue an operation that stopped or failed
///
/// Eos checks every step that began and did not end; it never assumes a result. You confirmed the operation when it
/// began, so Eos does not ask again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos resume                  the unfinished operation
  eos resume 01KA3V9Q2M")]
pub struct Args {
    /// The operation, by its id or the beginning of it
    operation: Option<String>,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let engines = need_engines(&estate)?;
    go_on(session, &estate, &engines, args.operation.as_deref()).await
}
