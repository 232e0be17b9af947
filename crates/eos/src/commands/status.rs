//! `eos status`: what runs, as the engines say.

use super::{Ended, Session, find_component};
use crate::problem::Exit;
use crate::views::reports::status::{Extent, StatusReport};
use eos_engine::engines::Engines;
use eos_engine::status;

/// Show components and engines
///
/// Eos prints a line per component, one line for the layers, and one per fault with the command that inspects it. It
/// names an engine that does not answer, and still shows the others.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos status
  eos status hello            its instances: where they run, since when, their checks
  eos status --layers         a table for each of Salt, Terraform, Nomad, Consul and Vault
  eos status --check          exit code 3 unless everything runs and is healthy")]
pub struct Args {
    /// Only this component, in detail
    component: Option<String>,
    /// A table per layer, instead of one line for all
    #[arg(long, conflicts_with = "component")]
    layers: bool,
    /// Exit with code 3 unless every component runs, is healthy, and every layer is well
    #[arg(long)]
    check: bool,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    if let Some(name) = &args.component {
        find_component(&estate.whole_pillar()?, &environment, name)?;
    }
    let engines = Engines::connect(&estate.settings)?;
    let status = status::look(&estate, engines.as_ref(), &environment, args.component.as_deref()).await?;
    let extent = match (&args.component, args.layers) {
        (Some(_), _) => Extent::Component,
        (None, true) => Extent::Layers,
        (None, false) => Extent::Short,
    };
    session.view.show(&StatusReport {
        status: &status,
        extent,
    });
    Ok(match args.check && !status.is_well() {
        true => Exit::Pending,
        false => Exit::Done,
    })
}
