//! Taking an operation back: what it left, and the plan that leads to the pillar without it. Configuration is restored,
//! never a Terraform state; data stays, but for directories that it made and nothing used.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::catalog::KEPT;
use eos_core::diagnostic::Diagnostic;
use eos_core::kinds::secret::Previous;
use eos_core::kinds::{Made, volume};
use eos_core::pillar::{COMMON_FILE, PillarFiles, environment_file};
use eos_core::plan::{Change, Key, Left, Plan, Step, Work};
use eos_core::scope::Scope;
use eos_core::undo::{undo, with_entries_of};
use serde_json::Value;

use super::records::{plan_of, read_plan};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::Estate;
use crate::failure::Failure;
use crate::lock::Lock;
use crate::planning::{Planned, TakeBack, Wish, make_plan};
use crate::store::{Operation, Outcome, Store};

/// The journal's name for the commit that undoes the operation's own.
pub(super) const COMMIT: &str = "back-commit";

/// The plan by which an operation is taken back, with the estate's lock if it was just made.
pub(super) struct Turned {
    pub planned: Planned,
    pub guard: Option<Lock>,
}

/// Takes back an operation that did not end. `begun` are its steps that began, with the detail of their beginning.
pub(super) async fn plan_unfinished(
    estate: &Estate,
    engines: &Engines,
    operation: &Operation,
    begun: &BTreeMap<String, Value>,
) -> Result<Planned, Failure> {
    let plan = plan_of(operation)?;
    let taken = TakeBack {
        operation: None,
        pillar: pillar_without(estate, operation, &plan).await?,
        unknown: changed(&plan, begun),
        left: Left {
            secrets: overwritten(&plan, begun),
            unused_volumes: unused_volumes(estate, &plan, begun)?,
            begun: made(&plan, begun),
        },
    };
    plan_back(estate, engines, &plan.environment, taken, "back").await
}

/// Takes back an operation whose edit is undone, but whose plan for the way back serves no more: others changed the same
/// components since. Its components become what the pillar says by now.
pub(super) async fn plan_undone(
    estate: &Estate,
    engines: &Engines,
    operation: &Operation,
    begun: &BTreeMap<String, Value>,
) -> Result<Planned, Failure> {
    let plan = plan_of(operation)?;
    let mut unknown = changed(&plan, begun);
    if let Some(back) = &operation.back {
        unknown.extend(changed(&read_plan(&operation.id, back.clone())?, begun));
    }
    let taken = TakeBack {
        operation: None,
        pillar: estate.pillar_files()?,
        unknown,
        left: Left {
            begun: made(&plan, begun),
            ..Left::default()
        },
    };
    let prefix = format!("back-again-{}", begun.len());
    plan_back(estate, engines, &plan.environment, taken, &prefix).await
}

async fn plan_back(
    estate: &Estate,
    engines: &Engines,
    environment: &str,
    taken: TakeBack,
    prefix: &str,
) -> Result<Planned, Failure> {
    // The platform among them: it may be all that was begun.
    let names: BTreeSet<String> = taken.unknown.iter().map(|(_, name)| name.clone()).collect();
    let wish = Wish {
        environment: environment.to_owned(),
        components: Some(names.into_iter().collect()),
        // A host is only looked at: nothing of it is left to undo.
        hosts: Some(Vec::new()),
        take_back: Some(taken),
        ..Wish::default()
    };
    let mut back = make_plan(estate, Some(engines), &wish).await?;
    // The step ids of an operation are unique in all of its directions.
    for step in &mut back.plan.steps {
        step.id = format!("{prefix}-{}", step.id);
        step.after
            .iter_mut()
            .for_each(|id| *id = format!("{prefix}-{id}"));
    }
    Ok(back)
}

/// What steps which began may have made.
fn made(plan: &Plan, begun: &BTreeMap<String, Value>) -> Vec<(Key, Made)> {
    let begun = plan.steps.iter().filter(|step| begun.contains_key(&step.id));
    let made = begun.filter_map(|step| match &step.work {
        Work::Make(made) => Some((step.key(), made.clone())),
        Work::Deliver | Work::Unmake(_) | Work::Act(_) | Work::Prove(_) | Work::Secret(_) => None,
    });
    made.collect()
}

/// The components that steps which began may have changed.
fn changed(plan: &Plan, begun: &BTreeMap<String, Value>) -> BTreeSet<Key> {
    let begun = plan.steps.iter().filter(|step| begun.contains_key(&step.id));
    let changing = begun.filter(|step| step.work.changes());
    changing.map(Step::key).collect()
}

/// How to be done with an operation that neither goes on nor back.
pub(super) fn or_dismiss(operation: &str) -> String {
    format!("or close it as it stands: eos rollback {operation} --dismiss REASON")
}

/// The pillar or another operation stands in the way of the way back, and may do so for good.
pub(super) fn with_way_out(failure: Failure, operation: &str) -> Failure {
    match &failure {
        Failure::Input(_) => failure.or_hint(&or_dismiss(operation)),
        Failure::Engine(error) if error.layer == Layer::Estate && error.kind == ErrorKind::Conflict => {
            failure.or_hint(&or_dismiss(operation))
        }
        _ => failure,
    }
}

/// The plan that takes back an operation which was done: another operation.
pub(super) async fn plan_rollback(
    estate: &Estate,
    engines: &Engines,
    operation: &Operation,
) -> Result<Planned, Failure> {
    make_plan(estate, Some(engines), &rollback(estate, operation).await?).await
}

/// Refuses an operation of which nothing can be taken back: all that it did is an act, or the value of a secret before it
/// is gone.
pub fn require_undoable(store: &Store, operation: &Operation) -> Result<(), Failure> {
    let plan = plan_of(operation)?;
    if let Some(lost) = plan.lost_secret().filter(|_| operation.outcome == Outcome::Done) {
        return Err(Failure::Input(vec![value_is_gone(operation, lost)]));
    }
    let Some(act) = plan.only_act() else {
        return Ok(());
    };
    let begun = store.beginnings(&operation.id)?;
    let is_act = |step: &&Step| matches!(step.work, Work::Act(_)) && begun.contains_key(&step.id);
    if !plan.steps.iter().any(|step| is_act(&step)) {
        return Ok(());
    }
    let id = &operation.id;
    let hint = match operation.outcome {
        Outcome::Done | Outcome::TakenBack | Outcome::Dismissed => {
            "`eos history` shows the other operations; `eos undo OPERATION` undoes one of them".to_owned()
        }
        Outcome::Running | Outcome::Failed | Outcome::Interrupted | Outcome::Waiting => {
            format!("Continue it: eos resume {id}; {}", or_dismiss(id))
        }
    };
    let words = format!("Operation {id} cannot be undone: {}", act.deed.why_final());
    Err(Failure::Input(vec![Diagnostic::new(words).hint(hint)]))
}

/// Until an operation ends there is a copy of the value before it; its own rollback needs that one.
fn value_is_gone(operation: &Operation, lost: &Change) -> Diagnostic {
    let words = format!(
        "Operation {} cannot be undone: Nomad keeps no earlier value of the secret of {}",
        operation.id, lost.component
    );
    Diagnostic::new(words).hint(format!(
        "Set the value that it should have: eos rotate secret {} NAME --to -; `eos undo OPERATION` undoes another one",
        lost.component
    ))
}

/// What is wished for where an operation that was done is taken back.
pub async fn rollback(estate: &Estate, operation: &Operation) -> Result<Wish, Failure> {
    if operation.outcome != Outcome::Done {
        let words = format!("it is {}, not done", operation.outcome.shown());
        return Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Conflict,
            format!("operation {}", operation.id),
            words,
        )
        .into());
    }
    let store = estate.store()?;
    require_undoable(&store, operation)?;
    let plan = plan_of(operation)?;
    let begun = store.beginnings(&operation.id)?;
    let mut secrets = overwritten(&plan, &begun);
    // What Nomad held before is kept until an operation ends, and no longer.
    secrets.retain(|_, previous| matches!(previous, Previous::Version(_)));
    let locked = plan.locked();
    let names = |scope: Scope<'_>| {
        let keys = locked.iter().filter(|key| Scope::of(key) == scope);
        Some(keys.map(|(_, name)| name.clone()).collect())
    };
    Ok(Wish {
        environment: plan.environment.clone(),
        components: names(Scope::Environment(&plan.environment)),
        hosts: names(Scope::Estate),
        take_back: Some(TakeBack {
            operation: Some(operation.id.clone()),
            pillar: pillar_without(estate, operation, &plan).await?,
            unknown: BTreeSet::new(),
            left: Left {
                secrets,
                ..Left::default()
            },
        }),
        ..Wish::default()
    })
}

/// What the beginning of a step noted about the secret that it was about to write.
pub(super) fn previous_in(detail: &Value) -> Option<Previous> {
    serde_json::from_value(detail.get("previous")?.clone()).ok()
}

fn overwritten(plan: &Plan, begun: &BTreeMap<String, Value>) -> BTreeMap<Key, Previous> {
    let steps = plan.steps.iter().filter_map(|step| {
        let previous = previous_in(begun.get(&step.id)?)?;
        Some((step.key(), previous))
    });
    // Of a component the first step knew what was there before all of them.
    steps.rev().collect()
}

/// Directories that the operation may have made; their host removes those of them that are empty.
fn unused_volumes(
    estate: &Estate,
    plan: &Plan,
    begun: &BTreeMap<String, Value>,
) -> Result<volume::Unused, Failure> {
    let mut unused = BTreeMap::new();
    let mut compilation = None;
    for step in plan.steps.iter().filter(|step| begun.contains_key(&step.id)) {
        let Work::Make(Made::Volume(volume::Made { minion, .. })) = &step.work else {
            continue;
        };
        // Its volumes are there, so its commit is: the pillar still has the component.
        let compiled = match &compilation {
            Some(compiled) => compiled,
            None => compilation.insert(estate.compile()?),
        };
        let key = step.key();
        let volumes = compiled.component(&key.0, &key.1).into_iter();
        let volumes = volumes
            .flat_map(|component| &component.volumes)
            .filter(|volume| volume.host.value == *minion)
            .map(|volume| {
                let name = format!("{}/{}/{}", key.0, key.1, volume.need);
                (name, volume.path.value.clone())
            });
        unused.insert((key.clone(), minion.clone()), volumes.collect());
    }
    Ok(unused)
}

/// The pillar as it is now, without what the operation wrote into it.
async fn pillar_without(estate: &Estate, operation: &Operation, plan: &Plan) -> Result<PillarFiles, Failure> {
    let now = estate.pillar_files()?;
    let Some(commit_before) = &operation.commit_before else {
        return Ok(now);
    };
    // An apply of what a person edited is about one environment and some hosts; an edit by Eos, about the files that it
    // wrote.
    let files: Vec<String> = match plan.pillar.is_empty() {
        true => vec![environment_file(&plan.environment), COMMON_FILE.to_owned()],
        false => plan
            .pillar
            .keys()
            .filter(|path| !path.starts_with(KEPT))
            .cloned()
            .collect(),
    };
    let repository = estate.repository();
    let (mut before, mut after) = (PillarFiles::new(), PillarFiles::new());
    for file in files {
        let mut original = repository.show(commit_before, &file).await?;
        let written = match &operation.commit_after {
            Some(commit) => repository.show(commit, &file).await?,
            None => match plan.pillar.get(&file) {
                Some(text) => text.clone().map(String::into_bytes),
                None => original.clone(),
            },
        };
        // Other hosts may have come and gone since that commit, by operations of their own.
        if file == COMMON_FILE && plan.pillar.is_empty() {
            let (was, is) = (original.unwrap_or_default(), written.clone().unwrap_or_default());
            original = Some(with_entries_of(&file, &is, &was, "hosts", &plan.hosts)?);
        }
        after.extend(written.map(|bytes| (file.clone(), bytes)));
        before.extend(original.map(|bytes| (file, bytes)));
    }
    Ok(undo(&now, &before, &after)?)
}
