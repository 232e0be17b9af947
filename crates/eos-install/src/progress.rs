//! What the lab is doing, told to whoever shows it: this crate itself prints nothing.

use std::time::{Duration, Instant};

/// One thing the lab does that takes long enough to be told about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is about: `salt`, `terraform`, `nomad`, `go`, `lab`.
    pub engine: &'static str,
    /// What is done, as a person would say it: `build Nomad 1.11.2`.
    pub what: String,
    /// How long it usually takes, where that is worth knowing beforehand.
    pub usual: Option<Duration>,
}

/// How far a step has come. `total` is what it usually comes to, and may be passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    pub done: u64,
    pub total: u64,
    pub unit: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed,
}

/// Steps may overlap: an implementation tells them apart by `Step`.
pub trait Progress: Send + Sync {
    fn started(&self, step: &Step);
    fn advanced(&self, step: &Step, advance: Advance, elapsed: Duration);
    /// Something worth a line while the step goes on: a wait for somebody else, a retry.
    fn noted(&self, step: &Step, words: &str);
    fn ended(&self, step: &Step, outcome: Outcome, elapsed: Duration);
}

/// A step under way; one that is dropped before `done` has failed.
pub struct Running<'a> {
    progress: &'a dyn Progress,
    step: Step,
    since: Instant,
    outcome: Outcome,
}

impl<'a> Running<'a> {
    pub fn start(
        progress: &'a dyn Progress,
        engine: &'static str,
        what: impl Into<String>,
        usual: Option<Duration>,
    ) -> Running<'a> {
        let step = Step {
            engine,
            what: what.into(),
            usual,
        };
        progress.started(&step);
        Running {
            progress,
            step,
            since: Instant::now(),
            outcome: Outcome::Failed,
        }
    }

    pub fn advance(&self, done: u64, total: u64, unit: &'static str) {
        self.progress
            .advanced(&self.step, Advance { done, total, unit }, self.since.elapsed());
    }

    pub fn note(&self, words: &str) {
        self.progress.noted(&self.step, words);
    }

    pub fn done(mut self) {
        self.outcome = Outcome::Done;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.progress
            .ended(&self.step, self.outcome, self.since.elapsed());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Keeps what it was told, one line an event.
    #[derive(Default)]
    pub struct Kept(pub Mutex<Vec<String>>);

    impl Kept {
        pub fn lines(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Progress for Kept {
        fn started(&self, step: &Step) {
            self.0.lock().unwrap().push(format!("started {}", step.what));
        }
        fn advanced(&self, _: &Step, advance: Advance, _: Duration) {
            self.0
                .lock()
                .unwrap()
                .push(format!("{} of {} {}", advance.done, advance.total, advance.unit));
        }
        fn noted(&self, _: &Step, words: &str) {
            self.0.lock().unwrap().push(words.to_owned());
        }
        fn ended(&self, _: &Step, outcome: Outcome, _: Duration) {
            self.0.lock().unwrap().push(format!("{outcome:?}"));
        }
    }

    #[test]
    fn a_step_that_is_given_up_has_failed() {
        let kept = Kept::default();
        let step = Running::start(&kept, "nomad", "build", None);
        step.advance(1, 2, "packages");
        drop(step);
        Running::start(&kept, "nomad", "start", None).done();
        assert_eq!(
            kept.lines(),
            [
                "started build",
                "1 of 2 packages",
                "Failed",
                "started start",
                "Done"
            ]
        );
    }
}
