//! Views: one for people and one for programs; each shows every report of `reports`.

mod human;
mod json;
mod lab_progress;
pub mod report;
pub mod reports;
pub mod text;

use crate::peek::Peek;
use crate::problem::{Exit, Problem};
use anstream::ColorChoice;
use eos_core::diagnostic::Diagnostic;
use eos_engine::operation::Event;
use eos_engine::waiting::Stopwatch;
use eos_lab::Progress;
pub use report::Purpose;
use report::Report;
use std::io::{self, Write};
use std::process::ExitCode;

pub trait View {
    fn show(&mut self, report: &dyn Report);
    /// What an operation under way tells.
    fn event(&mut self, event: &Event);
    fn warn(&mut self, warning: &Diagnostic);
    /// Who watches the lab at work.
    fn lab_progress(&self) -> Box<dyn Progress>;
    /// Whether `--json` was given: then there is no person to ask.
    fn is_for_programs(&self) -> bool;
    /// Whether standard output takes nothing more: its reader has read enough, or the disk is full.
    fn is_done_writing(&self) -> bool;
    /// The end: nothing is written after it.
    fn close(&mut self, exit: Exit) -> ExitCode;

    fn problem(&mut self, problem: &Problem) {
        for fault in problem.faults() {
            self.show(&fault);
        }
    }
}

/// A report as `--json` prints it, for a verb that writes it elsewhere.
pub fn json_of(report: &dyn Report) -> String {
    json::document(report, &Stopwatch::start())
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
                ExitCode::from(Exit::Failed.code())
            }
            _ => ExitCode::from(exit.code()),
        }
    }
}
