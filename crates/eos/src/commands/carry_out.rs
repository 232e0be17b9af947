//! From a wish to a proved change: plan, confirm, carry out, and say how to go on if that was stopped.

use super::plan_file::{self, Look};
use super::{Answer, Session, environment_words, now, who};
use crate::options::Chosen;
use crate::problem::{Exit, Problem, capital};
use crate::terminal;
use crate::views::View;
use crate::views::reports::plan::{NothingToDo, PlanReport};
use eos_core::diagnostic::Diagnostic;
use eos_core::intent::{Intent, Noun, Verb};
use eos_core::pillar::Pillar;
use eos_core::plan::Plan;
use eos_engine::audit::Actor;
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::failure::Failure;
use eos_engine::operation::{self, Author, Event, Finished, Order, Stop, Terms};
use eos_engine::planning::{Wish, make_plan};
use eos_engine::preview::{Joint, joint_plan, without_preview};
use eos_engine::store::{Operation, Outcome};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::pin;

/// The wanted change, and the words of the request.
pub struct Change<'a> {
    pub wish: Wish,
    pub secrets: &'a BTreeMap<String, SecretString>,
    pub words: &'a str,
    pub look: &'a Look,
}

/// A verb of a person on one component, one host, or a whole environment.
pub struct Asked<'a> {
    pub verb: Verb,
    pub noun: Noun,
    /// Where the component is; for a host, where the person happens to work.
    pub environment: String,
    pub component: &'a str,
    pub recipe: Option<&'a str>,
    /// The environment that is promoted from.
    pub from: Option<String>,
    /// Take the newest recipe.
    pub upgrade: bool,
    pub chosen: Chosen,
    /// The command as it was typed, without the environment; secrets are `***`.
    pub words: Vec<String>,
    pub look: &'a Look,
}

/// Writes the intent down in full and has the change made.
pub async fn ask(session: &mut Session<'_>, estate: &Estate, asked: Asked<'_>) -> Answer {
    let environment = asked.environment;
    let mut words = asked.words;
    words.extend(environment_words(session));
    let words = words.join(" ");
    let Chosen {
        options,
        secrets,
        warnings,
    } = asked.chosen;
    for warning in &warnings {
        session.view.warn(warning);
    }
    let intent = Intent {
        verb: asked.verb,
        noun: asked.noun,
        environment: environment.clone(),
        component: asked.component.to_owned(),
        recipe: asked.recipe.map(str::to_owned),
        options,
        from: asked.from,
        upgrade: asked.upgrade,
        words: words.clone(),
        who: who(),
        when: now(),
    };
    let components = match (asked.noun, &intent.from) {
        (Noun::Component | Noun::Volume, _) => Some(vec![asked.component.to_owned()]),
        (Noun::Host, _) => Some(Vec::new()),
        (Noun::Environment, Some(from)) => Some(components_of(estate, from)?),
        // What was applied and is in the pillar no longer is a part of the environment too.
        (Noun::Environment, None) => None,
    };
    let wish = Wish {
        environment,
        intent: Some(intent),
        components,
        given: secrets.keys().cloned().collect(),
        ..Wish::default()
    };
    let look = asked.look;
    change(
        session,
        estate,
        Change {
            wish,
            secrets: &secrets,
            words: &words,
            look,
        },
    )
    .await
}

pub async fn change(session: &mut Session<'_>, estate: &Estate, change: Change<'_>) -> Answer {
    change.look.check(!change.secrets.is_empty())?;
    let engines = Engines::connect(&estate.settings)?;
    if change.look.plan {
        let plan = plan_as_possible(session, estate, engines.as_ref(), change.wish).await?;
        if let Some(file) = &change.look.out {
            plan_file::write(file, &plan)?;
        }
        session.view.show(&PlanReport::answer(&plan));
        return Ok(Exit::Done);
    }
    let plan = plan_to_confirm(session, estate, engines.as_ref(), change.wish).await?;
    if is_nothing(&plan) {
        session.view.show(&NothingToDo(&plan));
        return Ok(Exit::Done);
    }
    session.view.show(&PlanReport::to_confirm(&plan));
    let Some(engines) = engines else {
        return Err(no_engines(session, !change.secrets.is_empty()));
    };
    confirm(session, "Apply?")?;
    let confirmed = Confirmed {
        plan: &plan,
        secrets: change.secrets,
        words: change.words,
        takes_back: None,
        exact: false,
    };
    carry_out(session, estate, &engines, confirmed).await
}

/// A plan that was confirmed.
pub struct Confirmed<'a> {
    pub plan: &'a Plan,
    pub secrets: &'a BTreeMap<String, SecretString>,
    pub words: &'a str,
    /// The operation that it rolls back.
    pub takes_back: Option<&'a str>,
    /// It was made before, and holds only as long as nothing has moved.
    pub exact: bool,
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
    confirmed: Confirmed<'_>,
) -> Answer {
    let who = who();
    let order = Order {
        plan: confirmed.plan,
        secrets: confirmed.secrets,
        author: Author {
            who: &who,
            words: confirmed.words,
        },
        takes_back: confirmed.takes_back,
    };
    let terms = Terms {
        exact: confirmed.exact,
        ..terms(session)
    };
    let mut watched = Watched::new(session.view);
    let mut hear = |event: &Event| watched.hear(event);
    let work = operation::apply(estate, engines, order, &terms, &mut hear);
    let ended = until_stopped(work, &terms.stop).await;
    watched.settle(estate, &terms.stop, ended)
}

pub async fn go_on(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    operation: Option<&str>,
) -> Answer {
    let terms = terms(session);
    let mut watched = Watched::new(session.view);
    let mut hear = |event: &Event| watched.hear(event);
    let work = operation::resume(estate, engines, operation, &terms, &mut hear);
    let ended = until_stopped(work, &terms.stop).await;
    watched.settle(estate, &terms.stop, ended)
}

/// Rolls back an operation that did not finish.
pub async fn give_up(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    operation: &Operation,
) -> Answer {
    let terms = terms(session);
    let mut watched = Watched::new(session.view);
    let mut hear = |event: &Event| watched.hear(event);
    let work = operation::take_back(estate, engines, operation, &terms, &mut hear);
    let ended = until_stopped(work, &terms.stop).await;
    watched.settle(estate, &terms.stop, ended)
}

fn terms(session: &Session<'_>) -> Terms {
    Terms {
        keep: session.everywhere.keep,
        no_wait: session.everywhere.no_wait,
        who: Some(who()),
        ..Terms::default()
    }
}

/// The joint plan, or what can be had of it if an engine is silent: a look is worth having either way.
pub async fn plan_as_possible(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: Option<&Engines>,
    wish: Wish,
) -> Result<Plan, Problem> {
    let Joint { plan, silent } = joint_plan(estate, engines, wish).await?;
    if let Some(error) = silent {
        let without = match plan.effects.is_empty() {
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
    Ok(plan)
}

/// The plan that a person is asked about. Where nobody is, the engines are not asked what they would do: they do it next.
pub async fn plan_to_confirm(
    session: &Session<'_>,
    estate: &Estate,
    engines: Option<&Engines>,
    wish: Wish,
) -> Result<Plan, Failure> {
    match (engines, session.everywhere.yes) {
        (Some(engines), true) => {
            let mut plan = make_plan(estate, Some(engines), wish).await?;
            without_preview(&mut plan);
            Ok(plan)
        }
        _ => joint_plan(estate, engines, wish).await?.observed(),
    }
}

pub fn is_nothing(plan: &Plan) -> bool {
    plan.changes.is_empty() && plan.pillar.is_empty()
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
            "Answer y, or add --yes",
        )),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Problem::not_done(
            "Nothing was changed: it was not confirmed",
            "Answer y, or add --yes",
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

    fn settle(self, estate: &Estate, stop: &Stop, ended: Option<Result<Finished, Failure>>) -> Answer {
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
