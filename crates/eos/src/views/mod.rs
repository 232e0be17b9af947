//! Views: one trait, one implementation for people and one for programs.

mod discover_text;
mod doctor_text;
mod drift_text;
mod effects_text;
mod expand_text;
mod governance_text;
mod graph_text;
mod human;
mod json;
mod lab_progress;
mod operation_text;
mod plan_text;
mod recipe_text;
pub mod reports;
mod status_text;
mod storage_text;
pub mod text;
mod why_text;

use crate::peek::Peek;
use crate::problem::{Exit, Problem};
use anstream::ColorChoice;
use eos_core::catalog::Catalog;
use eos_core::diagnostic::Diagnostic;
use eos_core::drift::Drift;
use eos_core::graph::Graph;
use eos_core::plan::Plan;
use eos_core::recipe::Recipe;
use eos_core::storage::HostStorage;
use eos_core::storage::expand::Decision;
use eos_core::why::Answer;
use eos_engine::audit;
use eos_engine::doctor::Finding;
use eos_engine::operation::{Dismissed, Finished, Watch};
use eos_engine::status::Status;
use eos_engine::storage::EstateStorage;
use eos_engine::store::{Entry, Operation};
use eos_lab::Progress;
pub use json::graph_document;
use reports::*;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// What a plan is shown for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It is the answer itself.
    Answer,
    /// It is to be confirmed and carried out.
    Confirm,
}

pub trait View: Watch {
    /// Text as it is: help, completions.
    fn text(&mut self, text: &str);
    fn plan(&mut self, plan: &Plan, purpose: Purpose);
    fn nothing_to_do(&mut self, plan: &Plan);
    fn finished(&mut self, finished: &Finished);
    fn made_estate(&mut self, made: &MadeEstate);
    fn logged_in(&mut self, login: &Login);
    fn components(&mut self, environment: &str, rows: &[ComponentRow]);
    fn hosts(&mut self, rows: &[HostRow]);
    fn discovered(&mut self, discovered: &Discovered);
    fn component(&mut self, component: &ComponentReport);
    fn revealed(&mut self, secret: &Revealed<'_>);
    fn history(&mut self, operations: &[Operation]);
    fn operation(&mut self, operation: &Operation, journal: &[Entry]);
    fn audit(&mut self, entries: &[audit::Entry]);
    fn audit_fits(&mut self, verdict: &audit::Verdict);
    fn home(&mut self, home: &HomeReport);
    /// What it means to make this machine the home, before it is confirmed.
    fn move_home(&mut self, home: &HomeReport);
    fn approved(&mut self, approved: &Approved);
    fn dismissed(&mut self, dismissed: &Dismissed);
    fn status(&mut self, status: &Status, extent: Extent);
    fn storage(&mut self, storage: &EstateStorage);
    /// The snapshots of the one volume that is told of.
    fn snapshots(&mut self, of: &HostStorage);
    /// What becomes of volumes that run full: the answer itself, or to be confirmed and carried out.
    fn decisions(&mut self, decisions: &[Decision], purpose: Purpose);
    fn doctor(&mut self, findings: &[Finding]);
    /// What differs; with `all` what is in step, too.
    fn drift(&mut self, drift: &Drift, all: bool);
    /// Generated files that are to be written again, before that is confirmed.
    fn files_to_write(&mut self, files: &[String]);
    fn files_written(&mut self, files: &[String]);
    fn logs(&mut self, logs: &[LogText]);
    fn recipes(&mut self, catalog: &Catalog);
    fn recipe(&mut self, recipe: &Recipe);
    fn linted(&mut self, linted: &Linted);
    fn made_recipe(&mut self, made: &MadeRecipe);
    fn compiled(&mut self, compiled: &Compiled);
    fn graph(&mut self, graph: &Graph);
    /// Terraform's own graph, in the language of Graphviz.
    fn terraform_graph(&mut self, environment: &str, component: &str, dot: &str);
    fn terraform_graph_written(&mut self, environment: &str, component: &str, file: &Path);
    fn graph_written(&mut self, graph: &Graph, file: &Path);
    fn why(&mut self, answer: &Answer);
    fn lab(&mut self, lab: &LabReport);
    fn lab_engines(&mut self, engines: &eos_lab::Engines);
    fn lab_image(&mut self, image: &eos_lab::PackedImage);
    /// One line of an engine's log, as it comes.
    fn lab_log_line(&mut self, engine: &str, line: &str);
    /// Who is told what the lab is doing.
    fn lab_progress(&self) -> Box<dyn Progress>;
    fn warn(&mut self, warning: &Diagnostic);
    fn problem(&mut self, problem: &Problem);
    /// Whether `--json` was asked for: then nobody is there to be asked.
    fn is_for_programs(&self) -> bool;
    /// The end: nothing is written after it.
    fn close(&mut self, exit: Exit) -> ExitCode;
}

pub fn make(peek: &Peek) -> Box<dyn View> {
    let color = match peek.color.as_deref() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    match peek.json {
        true => Box::new(json::Json::default()),
        false => Box::new(human::Human::new(color)),
    }
}

/// Writes one short answer, before there is a view.
pub fn answer(text: &str) -> ExitCode {
    let mut out = Out::default();
    out.write(&mut io::stdout(), text);
    out.close(Exit::Done)
}

/// Standard output, and whether writing to it went wrong on the way.
#[derive(Default)]
struct Out {
    failed: Option<io::Error>,
}

impl Out {
    fn write(&mut self, to: &mut dyn Write, text: &str) {
        if self.failed.is_none() {
            self.failed = to.write_all(text.as_bytes()).and_then(|()| to.flush()).err();
        }
    }

    /// A reader that has read enough is no failure; an answer that could not be written is.
    fn close(&mut self, exit: Exit) -> ExitCode {
        match self.failed.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(io::stderr(), "error: Cannot write to standard output: {error}");
                ExitCode::from(Exit::Failed as u8)
            }
            _ => ExitCode::from(exit as u8),
        }
    }
}
