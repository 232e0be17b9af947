//! Stopping and starting a component. The pillar says that it is stopped, so that nothing starts it again unasked.

use super::{Editor, Subject, words_json};
use crate::compose::compose;
use crate::diagnostic::Diagnostic;
use crate::pillar::Component;

const STOPPED: &str = "stopped";

pub fn stop(editor: &mut Editor, subject: &Subject<'_>) -> Result<(), Vec<Diagnostic>> {
    if with_job(subject, "stop")?.stopped.is_some() {
        return Ok(());
    }
    subject.note(editor)?;
    editor.set(&[subject.name, STOPPED], &words_json(subject.said))
}

pub fn start(editor: &mut Editor, subject: &Subject<'_>) -> Result<(), Vec<Diagnostic>> {
    if with_job(subject, "start")?.stopped.is_none() {
        return Ok(());
    }
    editor.remove(&[subject.name, STOPPED])?;
    subject.note(editor)
}

/// The component, written in the pillar or another's own, if it has a job.
pub(super) fn with_job(subject: &Subject<'_>, to_do: &str) -> Result<Component, Vec<Diagnostic>> {
    let name = subject.name;
    let (mut composed, found) = compose(subject.pillar, subject.catalog);
    let key = (subject.environment.to_owned(), name.to_owned());
    let Some(expanded) = composed.components.remove(&key) else {
        return Err(match subject.existing() {
            Some(_) => found,
            None => vec![subject.missing()],
        });
    };
    let mut services = expanded.recipe.services.iter();
    // What cannot be evaluated is told where it is compiled.
    match services.any(|service| expanded.applies(&service.when).unwrap_or(true)) {
        true => Ok(expanded.component.into_owned()),
        false => {
            let words = format!("{name} has no job: there is nothing to {to_do}");
            let hint = format!("`eos read {name}` shows what it is");
            Err(vec![Diagnostic::new(words).hint(hint)])
        }
    }
}
