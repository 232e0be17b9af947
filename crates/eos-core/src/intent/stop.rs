//! Stopping and starting a component. The pillar says that it is stopped, so that nothing starts it again unasked.

use super::{Editor, Subject, words_json};
use crate::compose::compose;
use crate::diagnostic::Diagnostic;
use crate::recipe::{self, Mode, Service};

const STOPPED: &str = "stopped";

pub fn stop(editor: &mut Editor, subject: &Subject<'_>) -> Result<(), Vec<Diagnostic>> {
    if of_itself(subject, "stop")?.stopped.is_some() {
        return Ok(());
    }
    subject.note(editor)?;
    editor.set(&[subject.name, STOPPED], &words_json(subject.said))
}

pub fn start(editor: &mut Editor, subject: &Subject<'_>) -> Result<(), Vec<Diagnostic>> {
    if of_itself(subject, "start")?.stopped.is_none() {
        return Ok(());
    }
    editor.remove(&[subject.name, STOPPED])?;
    subject.note(editor)
}

/// A component's own job, or one that it has beside.
pub(super) struct HasJob {
    pub mode: Mode,
    /// The component that is stopped, if it is: that of the job.
    pub stopped: Option<String>,
    /// The component whose further job it is.
    member_of: Option<String>,
    /// The further jobs of the component.
    pub members: Vec<(String, Mode)>,
}

/// All jobs of a component are stopped and started together.
fn of_itself(subject: &Subject<'_>, to_do: &str) -> Result<HasJob, Vec<Diagnostic>> {
    let found = with_job(subject, to_do)?;
    match &found.member_of {
        None => Ok(found),
        Some(owner) => {
            let words = format!(
                "{} is a job of {owner}, and stops and starts with it",
                subject.name
            );
            Err(vec![
                Diagnostic::new(words).hint(format!("`eos {to_do} {owner}`")),
            ])
        }
    }
}

/// The component, written in the pillar or another's own, if it has a job; or a job that a component has beside its own.
pub(super) fn with_job(subject: &Subject<'_>, to_do: &str) -> Result<HasJob, Vec<Diagnostic>> {
    let name = subject.name;
    let (composed, found) = compose(subject.pillar, subject.catalog);
    let key = (subject.environment.to_owned(), name.to_owned());
    let member = composed.members.get(&key);
    let of = member.map_or(&key.1, |member| &member.owner);
    let Some(expanded) = composed.components.get(&(key.0.clone(), of.clone())) else {
        return Err(match subject.existing() {
            Some(_) => found,
            None => vec![subject.missing()],
        });
    };
    let services = expanded.recipe.services.iter();
    // What cannot be evaluated is told where it is compiled.
    let there: Vec<&Service> = services
        .filter(|service| expanded.applies(&service.when).unwrap_or(true))
        .collect();
    let service = match member {
        Some(member) => there.iter().find(|one| one.name == member.service).copied(),
        None => recipe::jobs(&there)
            .first()
            .and_then(|own| own.services.first().copied()),
    };
    match service {
        Some(service) => Ok(HasJob {
            mode: service.mode.clone(),
            stopped: expanded.component.stopped.as_ref().map(|_| of.clone()),
            member_of: member.map(|member| member.owner.clone()),
            members: composed
                .members
                .iter()
                .filter(|(key, member)| key.0 == subject.environment && member.owner == *of)
                .filter_map(|(key, member)| {
                    let service = there.iter().find(|one| one.name == member.service)?;
                    Some((key.1.clone(), service.mode.clone()))
                })
                .collect(),
        }),
        None => {
            let words = format!("{name} has no job: there is nothing to {to_do}");
            let hint = format!("`eos read {name}` shows what it is");
            Err(vec![Diagnostic::new(words).hint(hint)])
        }
    }
}
