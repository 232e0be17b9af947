//! The lab's progress for people: bars on a terminal, plain lines elsewhere.

use super::text::{duration, shorten};
use crate::terminal;
use eos_lab::{Advance, Outcome, Progress, Step};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A step that is over sooner than this leaves no line behind.
const WORTH_A_LINE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(120);

pub struct LabProgress {
    bars: MultiProgress,
    running: Mutex<Vec<(Step, ProgressBar)>>,
    on_terminal: bool,
}

impl LabProgress {
    pub fn new() -> Self {
        let on_terminal = io::stderr().is_terminal();
        let target = if on_terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            bars: MultiProgress::with_draw_target(target),
            running: Mutex::default(),
            on_terminal,
        }
    }

    fn line(&self, text: &str) {
        let text = shorten(text, terminal::talk_width());
        match self.on_terminal {
            true => drop(self.bars.println(text)),
            false => drop(writeln!(io::stderr(), "{text}")),
        }
    }

    fn with(&self, step: &Step, act: impl FnOnce(&ProgressBar)) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bar)) = running.iter().find(|(known, _)| known == step) {
            act(bar);
        }
    }
}

fn title(step: &Step) -> String {
    match step.usual {
        // Some steps say it themselves.
        Some(usual) if !step.what.contains("usually") => {
            format!("{} (usually {})", step.what, usual_words(usual))
        }
        _ => step.what.clone(),
    }
}

fn usual_words(usual: Duration) -> String {
    match usual.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

impl Progress for LabProgress {
    fn started(&self, step: &Step) {
        if !self.on_terminal {
            self.line(&format!("  {}", title(step)));
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {prefix}  {msg}  {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self
            .bars
            .add(ProgressBar::new_spinner().with_style(style.tick_chars("|/-\\ ")));
        bar.set_prefix(title(step));
        bar.enable_steady_tick(TICK);
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((step.clone(), bar));
    }

    fn advanced(&self, step: &Step, advance: Advance, _: Duration) {
        let Advance { done, total, unit } = advance;
        self.with(step, |bar| {
            bar.set_message(format!("{done} of about {} {unit}", total.max(done)))
        });
    }

    fn noted(&self, step: &Step, words: &str) {
        match self.on_terminal {
            true => self.with(step, |bar| bar.set_message(words.to_owned())),
            false => self.line(&format!("    {words}")),
        }
    }

    fn ended(&self, step: &Step, outcome: Outcome, elapsed: Duration) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(known, bar)| {
            if known == step {
                bar.finish_and_clear();
            }
            known != step
        });
        drop(running);
        match outcome {
            Outcome::Failed => self.line(&format!("! {} failed after {}", step.what, duration(elapsed))),
            Outcome::Done if elapsed < WORTH_A_LINE => {}
            Outcome::Done => self.line(&format!("  {}: {}", step.what, duration(elapsed))),
        }
    }
}
