//! What is done with a component that the pillar does not say, such as a restart: only the intent's own record changes.

use super::{Editor, Intent, Sentence, Subject, stop};
use crate::compose::Key;
use crate::diagnostic::Diagnostic;
use crate::kinds::Deed;

pub fn edit(editor: &mut Editor, subject: &Subject<'_>, deed: Deed) -> Result<(), Vec<Diagnostic>> {
    match deed {
        Deed::Restart => {
            let name = subject.name;
            let found = stop::with_job(subject, deed.word())?;
            if found.stopped.is_some() {
                let stopped = Diagnostic::new(format!("{name} is stopped: nothing of it runs"));
                return Err(vec![stopped.hint(format!("Start it: `eos start {name}`"))]);
            }
        }
    }
    subject.note(editor)
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
