//! `eos reconcile`: what was changed behind Eos is brought back to what the pillar says, or taken into it.

use super::carry_out::{Asked, ask, carry_out, confirm, confirm_plan, need_engines, said};
use super::plan_file::{self, PlanOnly};
use super::{Ended, Session, drift};
use crate::problem::{Exit, Problem};
use crate::views::reports::drift::DriftReport;
use crate::views::reports::files::Files;
use crate::views::reports::plan::PlanReport;
use eos_core::diagnostic::Diagnostic;
use eos_core::drift::{Adoption, Drift, Object, Policy, Remedy, Verdict, adopt, remedy};
use eos_core::intent::{Intent, Sentence};
use eos_engine::engines::Engines;
use eos_engine::estate::Estate;
use eos_engine::lock::{Lock, Target};
use eos_engine::planning::Wish;
use eos_engine::request::Request;

/// Correct changes made outside Eos, or adopt them
///
/// Eos corrects every difference that `eos drift` finds. It plans, confirms and applies the correction like any other
/// change, and `eos undo` rolls it back. It registers a job again without restarting healthy tasks. With --adopt the
/// pillar follows reality: a value changed by hand becomes the value of its option, and Eos deletes a component whose
/// job is gone. Eos lists objects it did not make, and leaves them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos reconcile --plan        what would be corrected
  eos reconcile               pillar is right
  eos reconcile hello --adopt reality is right")]
pub struct Args {
    /// The component to reconcile [default: all of the environment]
    component: Option<String>,
    /// Write reality into the pillar, instead of correcting it
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    look: PlanOnly,
}

pub async fn run(session: &mut Session<'_>, args: &Args) -> Ended {
    args.look.check(false)?;
    let estate = session.estate()?;
    let engines = need_engines(&estate)?;
    let found = drift::find(session, &estate, &engines, args.component.as_deref()).await?;
    if found.is_in_step() {
        session.view.show(&DriftReport {
            drift: &found,
            all: false,
        });
        return Ok(Exit::Done);
    }
    match args.adopt {
        true => adopt_all(session, &estate, &found, args).await,
        false => bring_back(session, &estate, &engines, &found, args).await,
    }
}

async fn bring_back(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    found: &Drift,
    args: &Args,
) -> Ended {
    let remedy = remedy(found, estate.settings.drift, &[Policy::Ask, Policy::Correct]);
    for left in &remedy.left {
        let words = format!("{} stays as it is: {}", left.object, left.why);
        let warning = Diagnostic::new(words);
        session.view.warn(&match &left.hint {
            Some(hint) => warning.hint(hint),
            None => warning,
        });
    }
    let after = match remedy.left.is_empty() {
        true => Exit::Done,
        false => Exit::Pending,
    };
    if remedy.is_empty() {
        session.view.show(&DriftReport {
            drift: found,
            all: false,
        });
        return Ok(after);
    }
    if !remedy.files.is_empty() {
        session.view.show(&Files::ToWrite(&remedy.files));
    }
    if !remedy.has_work() {
        if !args.look.plan {
            confirm(session, "Write them?")?;
            write_files(estate)?;
            session.view.show(&Files::Written(&remedy.files));
        }
        return Ok(after);
    }
    let request = request(session, estate, &remedy);
    let planned = request.plan(estate, Some(engines)).await?;
    if args.look.plan {
        if let Some(file) = &args.look.out {
            plan_file::write(file, &planned.plan)?;
        }
        session.view.show(&PlanReport::answer(&planned.plan));
        return Ok(after);
    }
    session.view.show(&PlanReport::to_confirm(&planned.plan));
    confirm_plan(session, &planned.plan)?;
    if !remedy.files.is_empty() {
        write_files(estate)?;
    }
    carry_out(session, estate, engines, &request, planned).await?;
    Ok(after)
}

/// Corrects without asking anybody: where the policy of the estate says so.
pub async fn correct(
    session: &mut Session<'_>,
    estate: &Estate,
    engines: &Engines,
    remedy: &Remedy,
) -> Result<(), Problem> {
    if !remedy.files.is_empty() {
        write_files(estate)?;
        session.view.show(&Files::Written(&remedy.files));
    }
    if !remedy.has_work() {
        return Ok(());
    }
    let request = request(session, estate, remedy);
    let planned = request.plan(estate, Some(engines)).await?;
    if planned.plan.is_nothing() {
        return Ok(());
    }
    session.view.show(&PlanReport::to_confirm(&planned.plan));
    carry_out(session, estate, engines, &request, planned)
        .await
        .map(drop)
}

fn request(session: &Session<'_>, estate: &Estate, remedy: &Remedy) -> Request {
    let by = session.requester();
    let environment = session.environment(estate);
    let scope = remedy.scope();
    let intent = Intent {
        sentence: remedy.sentence(&environment),
        said: said(&by),
    };
    let wish = Wish {
        environment,
        intent: Some(intent),
        components: Some(scope),
        hosts: Some(Vec::new()),
        ..Wish::default()
    };
    Request::new(by, wish)
}

/// Nobody else writes the estate meanwhile.
fn write_files(estate: &Estate) -> Result<(), Problem> {
    let _lock = Lock::try_acquire(&estate.root, Target::Estate, None)?;
    estate.write_artifacts(&estate.compile()?.artifacts)?;
    Ok(())
}

/// One change of the pillar after the other, each planned and confirmed by itself; what cannot be said in the pillar is
/// refused before anything is done.
async fn adopt_all(session: &mut Session<'_>, estate: &Estate, found: &Drift, args: &Args) -> Ended {
    let environment = session.environment(estate);
    let (files, catalog) = (estate.pillar_files()?, estate.catalog()?);
    let mut adoptions: Vec<(String, Adoption)> = Vec::new();
    let mut refused = Vec::new();
    for object in found.differing().filter(|object| is_reality(object, found)) {
        let component = object.component.clone().unwrap_or_default();
        let said = said(&session.requester());
        let profile = estate.settings.profile;
        match adopt(object, &files, &catalog, profile, &environment, &said) {
            Ok(adoption) => adoptions.push((component, adoption)),
            Err(why) => refused.push(why),
        }
    }
    if !refused.is_empty() {
        return Err(Problem::Usage(refused));
    }
    if adoptions.is_empty() {
        session.view.show(&DriftReport {
            drift: found,
            all: false,
        });
        return Ok(drift::exit(found));
    }
    // What goes may be used by what stays until that is as it should be.
    adoptions.sort_by_key(|(_, adoption)| *adoption == Adoption::Delete);
    for (component, adoption) in adoptions {
        if args.component.is_none() {
            session.filled_in = Some(component.clone());
        }
        let of = environment.clone();
        let sentence = match adoption {
            Adoption::Update(options) => Sentence::UpdateComponent {
                environment: of,
                component,
                options,
                upgrade: false,
            },
            Adoption::Delete => Sentence::DeleteComponent {
                environment: of,
                component,
            },
        };
        let asked = Asked::new(sentence, environment.clone(), &args.look);
        ask(session, estate, asked).await?;
    }
    Ok(Exit::Done)
}

/// True for an object that the pillar could follow. Parts of a gone or changed job follow from the job.
fn is_reality(object: &Object, found: &Drift) -> bool {
    let of_job = |other: &Object| {
        other.is_job() && other.component == object.component && other.verdict != Verdict::InStep
    };
    match object.verdict {
        Verdict::Changed | Verdict::Missing => object.is_job() || !found.objects.iter().any(of_job),
        _ => false,
    }
}
