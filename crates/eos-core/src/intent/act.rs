//! What is done with a component that the pillar does not say, such as a restart: only the intent's own record changes.

use super::{Editor, Intent, Sentence, Subject, stop};
use crate::compose::Key;
use crate::diagnostic::Diagnostic;
use crate::kinds::Deed;
use crate::recipe::Mode;

pub fn edit(editor: &mut Editor, subject: &Subject<'_>, deed: Deed) -> Result<(), Vec<Diagnostic>> {
    let name = subject.name;
    let found = stop::with_job(subject, deed.word())?;
    // Beside its own job a component may have one with which it can be done.
    let others = found
        .members
        .iter()
        .filter(|(other, mode)| *other != name && allows(deed, mode));
    let others: Vec<String> = others
        .map(|(other, _)| format!("`eos {} {other}`", deed.word()))
        .collect();
    let refused = |words: String, hint: String| {
        let hint = match others.is_empty() {
            true => hint,
            false => format!("{hint}; of its further jobs: {}", others.join(", ")),
        };
        Err(vec![Diagnostic::new(words).hint(hint)])
    };
    match (deed, found.mode) {
        (Deed::Restart, Mode::Service | Mode::System) => {}
        (Deed::Restart, Mode::Scheduled(_)) => {
            let words = format!("{name} runs at set times, so there is nothing to restart");
            return refused(words, format!("Start a run: `eos run {name}`"));
        }
        (Deed::Restart, Mode::Batch) => {
            let words = format!("{name} ran to its end, so there is nothing to restart");
            return refused(
                words,
                "It runs again once its options or its recipe change".to_owned(),
            );
        }
        (Deed::Run, Mode::Scheduled(_)) => {}
        (Deed::Run, Mode::Service | Mode::System) => {
            let words = format!("{name} runs all the time, and has no schedule");
            return refused(words, format!("Restart it: `eos restart {name}`"));
        }
        (Deed::Run, Mode::Batch) => {
            let words = format!("{name} has no schedule");
            return refused(words, "It runs once its options or its recipe change".to_owned());
        }
    }
    if let Some(stopped) = found.stopped {
        let words = format!("{name} is stopped: nothing of it runs");
        let hint = format!("Start it: `eos start {stopped}`");
        return Err(vec![Diagnostic::new(words).hint(hint)]);
    }
    subject.note(editor)
}

/// Whether it can be done with a job of this mode.
fn allows(deed: Deed, mode: &Mode) -> bool {
    match deed {
        Deed::Restart => mode.is_lasting(),
        Deed::Run => matches!(mode, Mode::Scheduled(_)),
    }
}

impl Intent {
    /// The component that it has something done with, and what.
    pub fn act(&self) -> Option<(Key, Deed)> {
        match &self.sentence {
            Sentence::Act {
                environment,
                component,
                deed,
            } => Some(((environment.clone(), component.clone()), *deed)),
            Sentence::CreateComponent { .. }
            | Sentence::CreateContainer { .. }
            | Sentence::UpdateComponent { .. }
            | Sentence::DeleteComponent { .. }
            | Sentence::StopComponent { .. }
            | Sentence::StartComponent { .. }
            | Sentence::PromoteComponent { .. }
            | Sentence::PromoteEnvironment { .. }
            | Sentence::DeleteEnvironment { .. }
            | Sentence::Rotate { .. }
            | Sentence::CreateHost { .. }
            | Sentence::UpdateHost { .. }
            | Sentence::DeleteHost { .. }
            | Sentence::CreateVolume { .. }
            | Sentence::UpdateVolume { .. }
            | Sentence::DeleteVolume { .. }
            | Sentence::Reconcile { .. } => None,
        }
    }
}
