//! `eos why`: who set a value, over whom, and what changes it.

use super::{Ended, Session};
use crate::problem::{Exit, Problem};
use eos_core::compile::compile;
use eos_core::pillar::Pillar;
use eos_core::why::{Question, why};

/// Show who set a value, over whom, and how to change it
///
/// An address names a node, as in `eos graph`: job, secret, volume, service, namespace or host, a slash and a name. A
/// component names all its nodes. Eos reads the pillar and asks no engine.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos why job/grafana.group.count   one attribute
  eos why volume/grafana-data       all attributes of a node
  eos why grafana                   all nodes of a component
  eos why grafana.port              what one of its options sets")]
pub struct Args {
    /// An address or component, optionally with a dot and one attribute
    #[arg(value_name = "ADDRESS[.ATTRIBUTE]")]
    address: String,
}

pub fn run(session: &mut Session<'_>, args: &Args) -> Ended {
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
    session.view.show(&answer);
    Ok(Exit::Done)
}
