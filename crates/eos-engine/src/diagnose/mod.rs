//! Why a step failed: which layer, which object, that engine's own lines, and what to do. It asks the engines, and only
//! by reading; what it cannot learn in time it leaves out, and it never fails itself.

mod hidden;
mod instance;
mod job;
mod placement;
mod record;
mod witness;

use std::future::Future;
use std::time::Duration;

use eos_core::kinds::{Acted, Proof};
use eos_core::plan::{Step, Work};
use serde::{Deserialize, Serialize};

use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use record::Record;

pub use hidden::Hidden;
pub use witness::Witness;

/// For all questions together. What was learnt until then is kept.
const ALL: Duration = Duration::from_secs(12);
/// For one of them: an engine that hangs must not use up the time of the others.
const ONE: Duration = Duration::from_secs(5);
/// How much of an engine's own text is shown, from its end.
const LINES: usize = 20;
/// How our Terraform provider marks what to do.
const HINT: &str = "hint: ";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    pub layer: Layer,
    /// What failed, as a person would name it: `job grafana`, `state /srv/data`.
    pub object: String,
    /// The cause, one sentence without full stop.
    pub words: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LogLines>,
    pub hint: String,
}

/// What an engine, or a task in it, said of the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLines {
    /// Who said it: `task web, stderr`.
    pub from: String,
    pub lines: Vec<String>,
}

/// A step that failed, and what was seen of it on the way.
#[derive(Clone, Copy)]
pub struct Failed<'a> {
    pub operation: &'a str,
    pub step: &'a Step,
    pub error: &'a EngineError,
    pub witness: &'a Witness,
}

/// Diagnoses a step that failed. To be asked before anything is taken back: what is gone cannot be read.
pub async fn diagnose(engines: &Engines, failed: Failed<'_>) -> Diagnosis {
    let error = failed.error;
    let mut found = Diagnosis {
        layer: error.layer,
        object: error.object.clone(),
        words: first_sentence(&error.words),
        lines: Vec::new(),
        hint: error.hint.clone().unwrap_or_else(|| default_hint(error)),
    };
    // Who does not answer has nothing to add.
    if error.kind != ErrorKind::Unreachable {
        let look = Inquiry {
            engines,
            failed,
            hidden: None,
        };
        // Cut off, it has written down what it knew.
        tokio::time::timeout(ALL, look.at(&mut found)).await.ok();
    }
    found
}

struct Inquiry<'a> {
    engines: &'a Engines,
    failed: Failed<'a>,
    /// Without it nothing that a task said may be shown.
    hidden: Option<Hidden>,
}

impl Inquiry<'_> {
    async fn at(mut self, found: &mut Diagnosis) {
        let Failed {
            operation,
            step,
            error,
            ..
        } = self.failed;
        let operations = [operation];
        let hidden = Hidden::of(self.engines, &step.environment, &step.component, &operations);
        let (hidden, record) = tokio::join!(answered(hidden), self.record());
        self.hidden = hidden;
        if let Some(hidden) = &self.hidden {
            found.words = hidden.mask(&found.words);
        }
        let rest: Vec<String> = error.words.lines().map(str::to_owned).collect();
        match &step.work {
            work if work.is_workspace() => {
                let since = record.as_ref().and_then(Record::started);
                let known = error.layer == Layer::Nomad && self.job(since, found).await.is_some();
                if !known {
                    self.refusal(found);
                }
                if let Some(record) = &record {
                    record.terraform(found);
                }
            }
            Work::Make(made) => {
                let minion = made.request().minion();
                match &record {
                    Some(record) => record.states(minion, found),
                    None => self.say(found, format!("Salt on {minion}"), rest),
                }
            }
            Work::Prove(Proof::Healthy(healthy)) => {
                if self.job(None, found).await.is_none() {
                    self.registration(&healthy.groups, found).await;
                }
            }
            Work::Act(Acted::Job(restarted)) => {
                if self.job(None, found).await.is_none() {
                    self.registration(&restarted.groups, found).await;
                }
            }
            Work::Prove(Proof::Ended(_)) => {
                self.job(None, found).await;
            }
            Work::Prove(Proof::Stopped(stopped)) => self.remains(&stopped.services, found).await,
            Work::Prove(Proof::Gone(gone)) => self.remains(&gone.services, found).await,
            // The error says all that there is to know.
            Work::Prove(
                Proof::Scheduled(_)
                | Proof::Kept(_)
                | Proof::Host(_)
                | Proof::Present(_)
                | Proof::Routed(_)
                | Proof::Unwatched(_),
            )
            | Work::Unmake(_)
            | Work::Secret(_)
            | Work::Deliver => {}
        }
        if self.hidden.is_none() {
            let words = "left out the output of the tasks: Eos could not read their secrets to hide them";
            found.lines.push(LogLines {
                from: "eos".to_owned(),
                lines: vec![words.to_owned()],
            });
        }
    }

    /// What a provider said that was refused: its own hint is the best there is.
    fn refusal(&self, found: &mut Diagnosis) {
        let error = self.failed.error;
        let (hints, said): (Vec<&str>, Vec<&str>) = error
            .words
            .lines()
            .filter(|line| !line.trim().is_empty())
            .partition(|line| line.starts_with(HINT));
        found.hint = match hints.first() {
            Some(hint) => hint.trim_start_matches(HINT).to_owned(),
            // The formula's own, which knows what it did.
            None if error.layer == Layer::Salt => found.hint.clone(),
            None => format!("Fix the fault that {} names", error.layer.name()),
        };
        if said.len() > 1 {
            let said = said.into_iter().map(str::to_owned).collect();
            self.say(found, error.layer.name(), said);
        }
    }

    /// What the minion wrote down of the step, where one ran it.
    async fn record(&self) -> Option<Record> {
        let Failed { operation, step, .. } = self.failed;
        let minion = step.work.request()?.minion();
        let asked = serde_json::json!({"operation": operation, "step": step.id});
        let salt = &self.engines.salt;
        answered(salt.call(minion, "eos.status", asked, ONE))
            .await
            .map(Record)
    }

    /// Adds the last lines that somebody said, without the secrets. Nothing where these are not known.
    fn say(&self, found: &mut Diagnosis, from: impl Into<String>, lines: Vec<String>) {
        let Some(hidden) = &self.hidden else { return };
        let text = hidden.mask(&lines.join("\n"));
        let lines: Vec<String> = text.lines().map(printable).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        if !last.is_empty() {
            found.lines.push(LogLines {
                from: from.into(),
                lines: last.to_vec(),
            });
        }
    }
}

/// The answer, if one came in time.
async fn answered<T>(question: impl Future<Output = Result<T, EngineError>>) -> Option<T> {
    tokio::time::timeout(ONE, question).await.ok()?.ok()
}

/// What a task wrote may hold anything, such as what moves the cursor of a terminal.
fn printable(line: &str) -> String {
    line.trim_end()
        .replace('\t', "    ")
        .chars()
        .filter(|letter| !letter.is_control())
        .collect()
}

fn first_sentence(words: &str) -> String {
    let line = words.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    let line = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    line.trim_end_matches(['.', ':']).to_owned()
}

fn default_hint(error: &EngineError) -> String {
    match error.kind {
        ErrorKind::Unreachable | ErrorKind::Timeout => {
            format!("Is {} healthy? eos doctor checks it", error.layer.name())
        }
        _ => format!("Fix the fault that {} names", error.layer.name()),
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first digits of an id, as engines themselves show it.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_is_the_cause() {
        let cases = [
            ("Permission denied", "Permission denied"),
            ("\nError: no backend\n\nAnd more.\n", "Error: no backend"),
            ("The path /a.b exists. It is a file.", "The path /a.b exists"),
            ("", ""),
        ];
        for (words, expected) in cases {
            assert_eq!(first_sentence(words), expected);
        }
    }

    #[test]
    fn a_line_cannot_move_the_cursor() {
        assert_eq!(printable("\u{1b}[2Jgone\ta\r"), "[2Jgone    a");
    }
}
