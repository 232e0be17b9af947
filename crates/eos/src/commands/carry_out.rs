//! From a wish to a proved change: plan, confirm, carry out, and say how to go on if that was stopped.

use super::plan_file::{self, PlanOnly};
use super::{Ended, Session, now, who};
use crate::problem::{Exit, Problem, capital};
use crate::terminal;
use crate::views::View;
use crate::views::reports::plan::{NothingToDo, PlanReport};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{Intent, Sentence};
use eos_core::pillar::{Pillar, Words};
use eos_core::plan::Plan;
use eos_engine::audit::Actor;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::failure::Failure;
use eos_engine::operation::{self, Event, Finished, Stop};
use eos_engine::planning::{Planned, Wish};
use eos_engine::preview::{Joint, accepted};
use eos_engine::request::{Request, Requester};
use eos_engine::store::{Operation, Outcome};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::pin;

/// The sentence of a person, and what was given beside it.
pub struct Asked<'a> {
    pub sentence: Sentence,
    /// Where the component is; for a host, where the person happens to work.
    pub environment: String,
    /// Values that go to the secrets engine and nowhere else.
    pub secrets: BTreeMap<String, SecretString>,
    pub warnings: Vec<Diagnostic>,
    pub look: &'a PlanOnly,
}

impl<'a> Asked<'a> {
    /// A sentence without secrets.
    pub fn new(sentence: Sentence, environment: String, look: &'a PlanOnly) -> Self {
        Self {
            sentence,
            environment,
            secrets: BTreeMap::new(),
            warnings: Vec::new(),
            look,
        }
    }
}

/// Writes the intent down in full and has the change made.
pub async fn ask(session: &mut Session<'_>, estate: &Estate, asked: Asked<'_>) -> Ended {
    let by = session.requester();
    let Asked {
        sentence,
        environment,
        secrets,
        warnings,
        look,
    } = asked;
    for warning in &warnings {
        session.view.warn(warning);
    }
    let components = if let Sentence::PromoteEnvironment { from, .. } = &sentence {
        Some(components_of(estate, from)?)
    } else if let Sentence::DeleteEnvironment { .. } = &sentence {
        // What was applied and is in the pillar no longer is a part of the environment too.
        None
    } else {
        Some(sentence.component().map(str::to_owned).into_iter().collect())
    };
    let hosts = sentence.host().map(str::to_owned).into_iter().collect();
    let intent = Intent {
        sentence,
        said: said(&by),
    };
    let wish = Wish {
        environment,
        intent: Some(intent),
        components,
        hosts: Some(hosts),
        ..Wish::default()
    };
    let request = Request::new(by, wish).with_secrets(secrets);
    change(session, estate, request, look).await
}

/// The words of a command, with who gives it now.
pub fn said(by: &Requester) -> Words {
    Words {
        words: by.words.clone(),
        who: by.who.clone(),
        when: now(),
    }
}

/// Plans what is wanted, has it confirmed, and applies it; or only shows the plan.
pub async fn change(session: &mut Session<'_>, estate: &Estate, request: Request, look: &PlanOnly) -> Ended {
    let gives_secret = !request.secrets().is_empty();
    look.check(gives_secret)?;
    let engines = Engines::connect(&estate.settings)?;
    if look.plan {
        let Planned { plan, .. } = plan_as_possible(session, estate, engines.as_ref(), &request).await?;
        if let Some(file) = &look.out {
            plan_file::write(file, &plan)?;
        }
        session.view.show(&PlanReport::answer(&plan));
        return Ok(Exit::Done);
    }
    let planned = request.plan(estate, engines.as_ref()).await?;
    if planned.plan.is_nothing() {
        // Without engines nobody says what is there: of all that the pillar has, "nothing to do" would claim it.
        if engines.is_none() && planned.plan.intent.is_none() {
            return Err(no_engines(session, gives_secret));
        }
        session.view.show(&NothingToDo(&planned.plan));
        return Ok(Exit::Done);
    }
    session.view.show(&PlanReport::to_confirm(&planned.plan));
    let Some(engines) = engines else {
        return Err(no_engines(session, gives_secret));
    };
    confirm_plan(session, &planned.plan)?;
    carry_out(session, estate, &engines, &request, planned).await
}

fn components_of(estate: &Estate, environment: &str) -> Result<Vec<String>, Problem> {
    let pillar = Pillar::read(&estate.pillar_files()?)?;
    let keys = pillar.components.into_keys();
    let of_environment = keys.filter(|(of, _)| of == environment);
    Ok(of_environment.map(|(_, name)| name).collect())
}

/// Applies a plan that was confirmed.
pub async fn carry_out(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    request: &Request,
    planned: Planned,
) -> Ended {
    let stop = Stop::default();
    let mut watched = Watched::new(session.view);
    let mut hear = |event: &Event| watched.hear(event);
    let work = operation::apply(estate, engines, request, planned, &stop, &mut hear);
    let ended = until_stopped(work, &stop).await;
    watched.settle(estate, &stop, ended)
}

pub async fn go_on(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    operation: Option<&str>,
) -> Ended {
    let (by, stop) = (session.requester(), Stop::default());
    let mut watched = Watched::new(session.view);
    let mut hear = |event: &Event| watched.hear(event);
    let work = operation::resume(estate, engines, operation, &by, &stop, &mut hear);
    let ended = until_stopped(work, &stop).await;
    watched.settle(estate, &stop, ended)
}

/// Rolls back an operation that did not finish.
pub async fn give_up(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    operation: &Operation,
) -> Ended {
    let (by, stop) = (session.requester(), Stop::default());
    let mut watched = Watched::new(session.view);
    let mut hear = |event: &Event| watched.hear(event);
    let work = operation::take_back(estate, engines, operation, &by, &stop, &mut hear);
    let ended = until_stopped(work, &stop).await;
    watched.settle(estate, &stop, ended)
}

/// The joint plan, or what can be had of it if an engine is silent: a look is worth having either way.
pub async fn plan_as_possible(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: Option<&Engines>,
    request: &Request,
) -> Result<Planned, Problem> {
    let Joint { planned, silent } = request.look(estate, engines).await?;
    if let Some(error) = silent {
        let without = match planned.plan.effects.is_empty() {
            true => "this plan is made without the engines".to_owned(),
            false => format!("this plan is made without the state of {}", error.layer.name()),
        };
        let hint = error
            .hint
            .as_ref()
            .map_or(without.clone(), |hint| format!("{hint}; {without}"));
        session
            .view
            .warn(&Diagnostic::new(capital(&error.to_string())).hint(hint));
    }
    Ok(planned)
}

/// Asks the person about a plan that was shown. Nobody can confirm one that an engine refuses.
pub fn confirm_plan(session: &Session<'_>, plan: &Plan) -> Result<(), Problem> {
    accepted(plan)?;
    confirm(session, "Apply?")
}

/// Asks the person, unless `--yes` was said. Nobody to ask is a refusal, not a yes.
pub fn confirm(session: &Session<'_>, question: &str) -> Result<(), Problem> {
    if session.everywhere.yes {
        return Ok(());
    }
    if session.view.is_for_programs() || !terminal::can_ask() {
        return Err(Problem::usage(
            "Nothing was changed: there is no terminal to confirm it on",
            "Add --yes to go on without confirmation",
        ));
    }
    let answer = terminal::ask(&format!("\n{question} [y/N] "));
    match answer.map(|answer| answer.trim().to_lowercase()).as_deref() {
        Ok("y" | "yes") => Ok(()),
        Ok(_) => Err(Problem::not_done(
            "Nothing was changed: it was not confirmed",
            "Ended y, or add --yes",
        )),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Problem::not_done(
            "Nothing was changed: it was not confirmed",
            "Ended y, or add --yes",
        )),
        Err(error) => Err(Problem::not_done(
            format!("Cannot read the answer: {error}"),
            "Add --yes to go on without confirmation",
        )),
    }
}

/// The refusal of a change where no engine can apply it.
pub fn no_engines(session: &mut Session<'_>, secret_given: bool) -> Problem {
    if secret_given {
        session.view.warn(
            &Diagnostic::new("Eos does not keep the given secret")
                .hint("Give it again when the estate has engines"),
        );
    }
    Problem::not_done(
        "Nothing was changed: this estate has no engines",
        "`eos lab up` starts them on this machine; eos.toml can name others",
    )
}

/// The engines, where a verb cannot do without.
pub fn need_engines(estate: &Estate) -> Result<Engines, Problem> {
    Engines::connect(&estate.settings)?.ok_or_else(|| {
        Problem::not_done(
            "This estate has no engines",
            "`eos lab up` starts them on this machine; eos.toml can name others",
        )
    })
}

/// The first Ctrl-C lets the steps that have begun come to their end. At the second the work is dropped where it waits
/// (then there is no answer): the journal knows where that was.
async fn until_stopped(
    work: impl Future<Output = Result<Finished, Failure>>,
    stop: &Stop,
) -> Option<Result<Finished, Failure>> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            ended = &mut work => return Some(ended),
            // Without a handler Ctrl-C ends the program at once, which the journal bears as well.
            Ok(()) = tokio::signal::ctrl_c() => match stop.is_wanted() {
                true => return None,
                false => stop.want(),
            },
        }
    }
}

/// The view, and the operation it shows.
struct Watched<'a> {
    view: &'a mut dyn View,
    operation: Option<String>,
}

impl<'a> Watched<'a> {
    fn new(view: &'a mut dyn View) -> Self {
        Self {
            view,
            operation: None,
        }
    }

    fn hear(&mut self, event: &Event) {
        if let Event::Begin { operation, .. } = event {
            self.operation = Some(operation.clone());
        }
        self.view.event(event);
    }

    fn settle(self, estate: &Estate, stop: &Stop, ended: Option<Result<Finished, Failure>>) -> Ended {
        match ended {
            None => {
                if let Some(operation) = &self.operation {
                    let by = Actor {
                        who: &who(),
                        user: estate.settings.salt_user(),
                    };
                    estate
                        .store()?
                        .end_operation(operation, Outcome::Interrupted, by)?;
                }
                Err(Problem::Interrupted {
                    operation: self.operation,
                })
            }
            // It waited for others, and had not begun.
            Some(Err(Failure::Engine(_))) if stop.is_wanted() => {
                Err(Problem::Interrupted { operation: None })
            }
            Some(Err(failure)) => Err(failure.into()),
            Some(Ok(finished)) => {
                self.view.show(&finished);
                Ok(Exit::Done)
            }
        }
    }
}
