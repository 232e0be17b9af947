//! `eos graph`: what there is, what comes after what, and in which order it is done.

use super::{Ended, Session, find_component};
use crate::problem::{Exit, Problem};
use crate::views::json_of;
use crate::views::reports::graph::GraphFile;
use crate::views::reports::plain::Plain;
use crate::views::reports::terraform_graph::{Shown, TerraformGraph};
use eos_core::graph::{Graph, dot::dot, svg::svg};
use eos_core::name::quoted;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::{status, terraform_graph};
use std::path::{Path, PathBuf};

/// Show the dependency graph over all layers
///
/// Eos draws the graph in waves, as a picture or for programs. It reads the pillar; only `--live` and `--terraform` ask
/// the engines. It shows all environments unless you name one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos graph                       in waves: each comes after those above it
  eos graph grafana               with everything before it
  eos graph --out graph.svg       a picture, for a browser
  eos graph --format dot | dot -Tpdf > graph.pdf
  eos graph --live                with the health of each node
  eos graph --terraform grafana   Terraform's own graph, for Graphviz")]
pub struct Args {
    /// Only this component, and everything before it
    component: Option<String>,
    /// svg, dot or json [default: the ending of the file name]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Ask the engines, and show the health of each node
    #[arg(long)]
    live: bool,
    /// Terraform's own graph of this component as applied, for Graphviz
    #[arg(long, value_name = "COMPONENT", conflicts_with_all = ["component", "live"])]
    terraform: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Svg,
    Dot,
    Json,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    if let Some(component) = &args.terraform {
        return terraform(session, args, component).await;
    }
    let format = format(args, session.view.is_for_programs())?;
    let estate = session.estate()?;
    if let Some(component) = &args.component {
        refuse_unknown(session, &estate, component)?;
    }
    let compilation = estate.compile()?;
    let environment = session.everywhere.environment.as_ref();
    let all = compilation.all_nodes();
    let nodes = all
        .iter()
        .filter(|((of, _), _)| environment.is_none_or(|environment| environment == of))
        .flat_map(|(_, nodes)| nodes);
    let mut graph = Graph::new(nodes)?;
    if let Some(component) = &args.component {
        graph = graph.up_to(component);
    }
    if args.live {
        let engines = engines(&estate)?;
        graph.live = Some(status::live::ask(&estate, &engines, &graph.nodes).await?);
    }
    match (&args.out, format) {
        (Some(file), format) => {
            let format = format.map_or_else(|| format_of(file), Ok)?;
            write(file, &print(&graph, format))?;
            session.view.show(&GraphFile { graph: &graph, file });
        }
        (None, Some(format)) => session.view.show(&Plain(&print(&graph, format))),
        (None, None) => session.view.show(&graph),
    }
    Ok(Exit::Done)
}

/// Terraform draws in one language only, and knows one workspace at a time.
async fn terraform(session: &mut Session<'_>, args: &Args, component: &str) -> Ended {
    let named = args.out.as_deref().map(format_of).transpose();
    let format = args.format.map_or(named, |format| Ok(Some(format)))?;
    if !matches!(format, None | Some(Format::Dot)) {
        return Err(Problem::usage(
            "Terraform draws its graph for Graphviz only",
            format!("eos graph --terraform {component} | dot -Tsvg > graph.svg"),
        ));
    }
    let estate = session.estate()?;
    let environment = session.environment(&estate);
    find_component(&estate.whole_pillar()?, &environment, component)?;
    let engines = engines(&estate)?;
    let dot = terraform_graph::ask(&engines, &environment, component).await?;
    let shown = match &args.out {
        Some(file) => {
            write(file, &dot)?;
            Shown::File(file)
        }
        None => Shown::Dot(&dot),
    };
    session.view.show(&TerraformGraph {
        environment: &environment,
        component,
        shown,
    });
    Ok(Exit::Done)
}

fn engines(estate: &Estate) -> Result<Engines, Problem> {
    Engines::connect(&estate.settings)?.ok_or_else(|| {
        Problem::not_done(
            "This estate has no engines to ask",
            "`eos lab up` starts them on this machine; eos.toml can name others",
        )
    })
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(file, text).map_err(|error| {
        Problem::not_done(
            format!("Cannot write {}: {error}", file.display()),
            "Name a file that can be written",
        )
    })
}

/// The format that was asked for; where none was, the view has its own.
fn format(args: &Args, for_programs: bool) -> Result<Option<Format>, Problem> {
    match args.format {
        Some(Format::Svg | Format::Dot) if for_programs && args.out.is_none() => Err(Problem::usage(
            "--json and --format exclude each other",
            "Leave one of them out, or name a file with --out",
        )),
        format => Ok(format),
    }
}

fn format_of(file: &Path) -> Result<Format, Problem> {
    match file.extension().and_then(|kind| kind.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("dot" | "gv") => Ok(Format::Dot),
        Some("json") => Ok(Format::Json),
        _ => Err(Problem::usage(
            format!(
                "File name {} has no ending that names a format",
                quoted(&file.display().to_string())
            ),
            "End the name in .svg, .dot or .json, or add --format",
        )),
    }
}

fn print(graph: &Graph, format: Format) -> String {
    match format {
        Format::Svg => svg(graph),
        Format::Dot => dot(graph),
        Format::Json => json_of(graph),
    }
}

fn refuse_unknown(session: &Session<'_>, estate: &Estate, component: &str) -> Result<(), Problem> {
    let pillar = estate.whole_pillar()?;
    let anywhere = pillar.components.keys().any(|(_, name)| name == component);
    if session.everywhere.environment.is_none() && anywhere {
        return Ok(());
    }
    find_component(&pillar, &session.environment(estate), component).map(|_| ())
}
