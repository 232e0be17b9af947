//! What a person reads: data on standard output, talk (plans, progress, errors) on standard error.

use super::lab_progress::LabProgress;
use super::report::{Page, Part, Report};
use super::text::{duration, hang, pad, pad_left, printable, warning_text, width};
use super::{Out, View};
use crate::problem::Exit;
use crate::terminal::{data_width, talk_width};
use anstream::{AutoStream, ColorChoice};
use eos_core::diagnostic::Diagnostic;
use eos_engine::operation::{Event, StepOf};
use eos_lab::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(120);
/// Lines of steps are not drawn out over a wide terminal.
const STEP_WIDTH: usize = 100;
/// Titles of steps are at most this wide: `terraform`.
const TITLE: usize = 9;

pub struct Human {
    color: ColorChoice,
    out: Out,
    total: usize,
    /// The steps under way, on a terminal; what is waited for is number 0.
    live: BTreeMap<usize, ProgressBar>,
    bars: MultiProgress,
}

impl Human {
    pub fn new(color: ColorChoice) -> Self {
        Self {
            color,
            out: Out::default(),
            total: 0,
            live: BTreeMap::new(),
            bars: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
        }
    }

    fn data(&mut self, text: &str) {
        self.out
            .write(&mut AutoStream::new(io::stdout(), self.color), text);
    }

    fn talk(&mut self, text: &str) {
        let color = self.color;
        // Talk that nobody hears is no reason to stop.
        self.bars.suspend(|| {
            let _ = AutoStream::new(io::stderr(), color).write_all(text.as_bytes());
        });
    }

    fn steps_prefix(&self, of: &StepOf) -> String {
        let digits = self.total.to_string().len();
        format!(
            "  {:>digits$}/{} {}  ",
            of.number,
            self.total,
            pad(of.title, TITLE)
        )
    }

    fn waiting(&mut self, message: &str) {
        let message = printable(message).replace('\n', " ");
        if !io::stderr().is_terminal() {
            let text = hang("waiting: ", &message, talk_width());
            return self.talk(&text);
        }
        match self.live.get(&0) {
            Some(bar) => bar.set_message(message),
            None => self.begin_live(0, "  waiting  ".to_owned(), message),
        }
    }

    fn done(&mut self, of: &StepOf, effect: &str, took: Duration) {
        self.end_live(of.number);
        let columns = talk_width().min(STEP_WIDTH);
        let prefix = self.steps_prefix(of);
        let time = format!(" {}", pad_left(&duration(took), 7));
        let room = columns.saturating_sub(width(&prefix) + width(&time));
        let effect = printable(effect).replace('\n', " ");
        let line = match width(&effect) <= room {
            true => format!("{prefix}{}{time}\n", pad(&effect, room)),
            false => timed(&prefix, &effect, &time, columns),
        };
        self.talk(&line);
    }

    fn end_live(&mut self, number: usize) {
        if let Some(bar) = self.live.remove(&number) {
            bar.finish_and_clear();
        }
    }

    fn end_all_live(&mut self) {
        for bar in std::mem::take(&mut self.live).into_values() {
            bar.finish_and_clear();
        }
    }

    fn begin_live(&mut self, number: usize, prefix: String, message: String) {
        let style = ProgressStyle::with_template("{prefix}{wide_msg} {elapsed:>8}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::new_spinner()
            .with_style(style)
            .with_prefix(prefix)
            .with_message(message);
        let bar = self.bars.add(bar);
        bar.enable_steady_tick(TICK);
        self.live.insert(number, bar);
    }
}

impl View for Human {
    fn show(&mut self, report: &dyn Report) {
        self.end_all_live();
        let mut page = Page::new(data_width(), talk_width(), io::stdout().is_terminal());
        report.text(&mut page);
        for part in page.into_parts() {
            match part {
                Part::Data(text) => self.data(&text),
                Part::Exact(text) => self.out.write(&mut io::stdout(), &text),
                Part::Talk(text) => self.talk(&text),
            }
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Begin { steps, .. } => {
                self.end_live(0);
                self.total = *steps;
            }
            Event::Waiting { message } => self.waiting(message),
            Event::Warning { message } => self.warn(&Diagnostic::new(message)),
            Event::Step(of) if io::stderr().is_terminal() => {
                self.begin_live(of.number, self.steps_prefix(of), of.component.clone());
            }
            // Elsewhere one line a step is enough.
            Event::Step(_) => {}
            Event::Progress { number, message } => {
                if let Some(bar) = self.live.get(number) {
                    bar.set_message(printable(message).replace('\n', " "));
                }
            }
            Event::Done { of, effect, took } => self.done(of, effect, *took),
            Event::TurnBack { why, steps } => {
                self.end_all_live();
                self.total = *steps;
                let text = hang("  ", &printable(why), talk_width());
                self.talk(&text);
            }
        }
    }

    fn warn(&mut self, warning: &Diagnostic) {
        self.talk(&warning_text(warning, talk_width()));
    }

    fn lab_progress(&self) -> Box<dyn Progress> {
        Box::new(LabProgress::new())
    }

    fn is_for_programs(&self) -> bool {
        false
    }

    fn is_done_writing(&self) -> bool {
        self.out.failed.is_some()
    }

    fn close(&mut self, exit: Exit) -> ExitCode {
        self.end_all_live();
        self.out.close(exit)
    }
}

/// Several lines, with the time at the end of the last one: there is always room for it.
fn timed(prefix: &str, effect: &str, time: &str, columns: usize) -> String {
    let room = columns.saturating_sub(width(time));
    let lines = hang(prefix, effect, room);
    let lines = lines.trim_end();
    let (above, last) = match lines.rsplit_once('\n') {
        Some((above, last)) => (format!("{above}\n"), last),
        None => (String::new(), lines),
    };
    format!("{above}{}{time}\n", pad(last, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_step_is_whole() {
        let effect = "1 added, 0 changed, 0 destroyed; snapshot 12";
        let text = timed("  3/9 terraform  ", effect, "   16.6 s", 50);
        assert_eq!(
            text,
            "  3/9 terraform  1 added, 0 changed, 0\n                 destroyed; snapshot 12     16.6 s\n"
        );
        assert!(text.lines().all(|line| width(line) <= 50));
    }
}
