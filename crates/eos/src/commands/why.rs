//! `eos why`: who set a value, over whom, and what changes it.

use super::{Answer, Session};
use crate::problem::{Exit, Problem};
use eos_core::compile::compile;
use eos_core::pillar::Pillar;
use eos_core::why::{Question, why};

/// Say who set a value, over whom, and what changes it
///
/// An address is that of a node, as `eos graph` shows them: job, secret, volume, service, namespace or host, a slash and
/// a name. A component stands for all its nodes. From the pillar, no engine is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos why job/grafana.group.count   one attribute
  eos why volume/grafana-data       all attributes of a node
  eos why grafana                   all nodes of a component
  eos why grafana.port              what an option of it sets")]
pub struct Args {
    /// An address or component, and after a dot one attribute of it
    #[arg(value_name = "ADDRESS[.ATTRIBUTE]")]
    address: String,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Answer {
    let estate = session.estate()?;
    let pillar = Pillar::read(&estate.pillar_files()?)?;
    let catalog = estate.catalog()?;
    let compilation = compile(&pillar, &catalog, estate.settings.profile)?;
    let question = Question {
        about: &args.address,
        environment: &session.environment(&estate),
        usual_environment: &estate.settings.environment,
    };
    let answer =
        why(&question, &pillar, &catalog, &compilation).map_err(|unknown| Problem::Usage(vec![unknown]))?;
    session.view.why(&answer);
    Ok(Exit::Done)
}
