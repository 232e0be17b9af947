//! Operations: a plan carried out step by step, each step durable in the journal before the engine is asked, and
//! done only when its effect was read back. What was killed on the way is resumed from the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use eos_core::catalog::KEPT;
use eos_core::compile::{Compilation, compile};
use eos_core::emit::terraform::PLATFORM;
use eos_core::pillar::Pillar;
use eos_core::plan::{Key, Plan, Step, Work};
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::component_lock::{self, ComponentLock};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::{COMMITTED, Estate, pillar_digest};
use crate::failure::{Failure, StepFailure};
use crate::lock::{Lock, Target};
use crate::secrets::{STAGED_NAMESPACE, SecretPath, Secrets, staged_path};
use crate::steps::{self, Verified};
use crate::store::{Applied, Event, NewOperation, Operation, Outcome, Store};

/// The journal's name for writing the pillar, the artifacts and the commit.
const COMMIT: &str = "0-commit";
/// How long another operation on this estate is waited for.
const WAIT: Duration = Duration::from_secs(5);
/// How long one on another machine is waited for: longer than Consul holds back what a dead one held.
const WAIT_FOR_COMPONENTS: Duration = Duration::from_secs(8);

/// Who watches an operation: a terminal, or a program that reads events.
pub trait Watch {
    fn begin(&mut self, operation: &str, total: usize);
    fn step(&mut self, number: usize, step: &Step);
    fn progress(&mut self, message: &str);
    fn done(&mut self, number: usize, step: &Step, effect: &str, took: Duration);
}

/// Who asked, and in which words; secrets in them are `***`.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub who: &'a str,
    pub words: &'a str,
}

#[derive(Debug)]
pub struct Finished {
    pub operation: String,
    pub plan: Plan,
    /// What the components offer now, such as their address.
    pub outputs: Vec<(String, String)>,
    pub took: Duration,
}

/// Carries out a plan. Secret values given with the command go to the secrets engine and nowhere else.
pub async fn apply(
    estate: &Estate,
    engines: &Engines,
    plan: &Plan,
    secrets: &BTreeMap<String, SecretString>,
    author: Author<'_>,
    watch: &mut dyn Watch,
) -> Result<Finished, Failure> {
    let _lock = Lock::wait(&estate.root, Target::Estate, None, WAIT).await?;
    let mut store = estate.store()?;
    refuse_unfinished(&store)?;
    if pillar_digest(&estate.pillar_files()?) != plan.base {
        return Err(stale("the pillar was changed after it was made"));
    }
    if !plan.observed {
        return Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            "the plan",
            "it was made without the engines",
        )
        .with_hint("Make it again now that they answer")
        .into());
    }
    let compilation = planned_compilation(estate, plan)?;
    refuse_hand_edits(estate, &compilation).await?;
    let head = estate.repository().head().await?;
    let operation = store.begin_operation(&NewOperation {
        environment: &plan.environment,
        components: &plan.components,
        words: author.words,
        who: author.who,
        plan: &to_json(plan),
        commit_before: head.as_deref(),
    })?;
    let mut run = Run {
        estate,
        engines,
        plan,
        compilation,
        store,
        operation,
        author,
        lock: None,
    };
    if let Err(error) = run.prepare(secrets).await {
        // Nothing was changed, and without what is missing here it could not be resumed.
        run.store.end_operation(&run.operation, Outcome::TakenBack)?;
        run.release(watch).await;
        return Err(error.into());
    }
    run.go(watch).await
}

/// Goes on with an operation that was stopped or failed: the one named, else the only one there is.
pub async fn resume(
    estate: &Estate,
    engines: &Engines,
    operation: Option<&str>,
    watch: &mut dyn Watch,
) -> Result<Finished, Failure> {
    let _lock = Lock::wait(&estate.root, Target::Estate, None, WAIT).await?;
    let mut store = estate.store()?;
    let Operation {
        id, plan, words, who, ..
    } = resumable(&store, operation)?;
    let plan: Plan = serde_json::from_value(plan).map_err(|error| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::Invalid,
            format!("plan of operation {id}"),
            error.to_string(),
        )
    })?;
    let compilation = match planned_compilation(estate, &plan) {
        Ok(compilation) => compilation,
        // It can never go on, and as long as it counts as unfinished nothing else could begin.
        Err(failure) => {
            store.end_operation(&id, Outcome::Failed)?;
            return Err(failure.with_hint("`eos plan` shows what is left to do, `eos apply` does it"));
        }
    };
    let author = Author {
        who: &who,
        words: &words,
    };
    let mut run = Run {
        estate,
        engines,
        plan: &plan,
        compilation,
        store,
        operation: id,
        author,
        lock: None,
    };
    run.enter().await?;
    run.store.resume_operation(&run.operation)?;
    run.go(watch).await
}

/// What a component offers now, rendered with where its service answers.
pub async fn outputs(
    engines: &Engines,
    compilation: &Compilation,
    environment: &str,
    component: &str,
) -> Result<Vec<(String, String)>, EngineError> {
    match compilation.component(environment, component) {
        Some(lowered) => steps::outputs(engines, lowered).await,
        None => Ok(Vec::new()),
    }
}

/// An operation that died must be resumed before another one begins: its pillar edit is there, its effects may be.
fn refuse_unfinished(store: &Store) -> Result<(), EngineError> {
    match store.unfinished()?.first() {
        None => Ok(()),
        Some(operation) => Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Conflict,
            format!("operation {}", operation.id),
            format!("it was stopped before its end: {}", operation.words),
        )
        .with_hint(format!("Go on with it: eos resume {}", operation.id))),
    }
}

async fn refuse_hand_edits(estate: &Estate, compilation: &Compilation) -> Result<(), EngineError> {
    let edited = estate.edited_by_hand(&compilation.artifacts).await?;
    match edited.first() {
        None => Ok(()),
        Some(first) => {
            let more = if edited.len() > 1 {
                format!(" and {} more", edited.len() - 1)
            } else {
                String::new()
            };
            Err(EngineError::new(
                Layer::Estate,
                ErrorKind::Conflict,
                format!("{first}{more}"),
                "generated, but edited by hand",
            )
            .with_hint("Put the change into the pillar, then `eos compile` writes it anew"))
        }
    }
}

fn resumable(store: &Store, named: Option<&str>) -> Result<Operation, EngineError> {
    let not_found = |words: &str| {
        EngineError::new(
            Layer::Estate,
            ErrorKind::NotFound,
            named.map_or("operation to resume".to_owned(), |id| format!("operation {id}")),
            words,
        )
        .with_hint("`eos history` shows them all")
    };
    let found = match named {
        Some(name) => {
            let mut matching: Vec<_> = store
                .history(1000)?
                .into_iter()
                .filter(|operation| operation.id.starts_with(name))
                .collect();
            match matching.len() {
                1 => matching.remove(0),
                0 => return Err(not_found("no operation of this name")),
                _ => return Err(not_found("the name fits several operations")),
            }
        }
        None => {
            let latest = store
                .history(1)?
                .into_iter()
                .find(|operation| operation.outcome == Outcome::Failed);
            store
                .unfinished()?
                .into_iter()
                .next()
                .or(latest)
                .ok_or_else(|| not_found("nothing was left unfinished"))?
        }
    };
    match found.outcome {
        Outcome::Done | Outcome::TakenBack => Err(not_found("it is finished")),
        Outcome::Running | Outcome::Failed | Outcome::Interrupted => Ok(found),
    }
}

/// The compilation that the plan was made of. The pillar must be as the plan found it, or as it leaves it: anything
/// else is somebody's edit, which must not be written over.
fn planned_compilation(estate: &Estate, plan: &Plan) -> Result<Compilation, Failure> {
    let mut files = estate.pillar_files()?;
    let (recipes, edited): (Vec<_>, Vec<_>) = plan
        .pillar
        .iter()
        .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
        .partition(|(path, _)| path.starts_with(KEPT));
    let is_written = edited.iter().all(|(path, text)| files.get(path) == Some(text));
    if !is_written && pillar_digest(&files) != plan.base {
        return Err(stale("the pillar was changed after it was made"));
    }
    files.extend(edited);
    let catalog = estate.catalog_with(recipes)?;
    let compilation = compile(&Pillar::read(&files)?, &catalog, estate.settings.profile)?;
    if compilation.release != plan.release {
        return Err(stale(
            "the pillar, the catalog or Eos itself changed after it was made",
        ));
    }
    Ok(compilation)
}

fn stale(words: &str) -> Failure {
    EngineError::new(Layer::Estate, ErrorKind::Conflict, "the plan", words)
        .with_hint("Make a new plan")
        .into()
}

struct Run<'a> {
    estate: &'a Estate,
    engines: &'a Engines,
    plan: &'a Plan,
    compilation: Compilation,
    store: Store,
    operation: String,
    author: Author<'a>,
    /// Held in the full profile, from before the first change to the end.
    lock: Option<ComponentLock>,
}

impl Run<'_> {
    /// What must be so before the first change of a new operation; `enter` is that of a resumed one too.
    async fn prepare(&mut self, secrets: &BTreeMap<String, SecretString>) -> Result<(), EngineError> {
        self.enter().await?;
        self.stage(secrets).await
    }

    async fn enter(&mut self) -> Result<(), EngineError> {
        if let Some(vault) = &self.engines.vault {
            vault.keep_token().await?;
        }
        self.take_lock().await
    }

    /// The lock of every component that a step is about; what an operation of the same name left is taken over.
    async fn take_lock(&mut self) -> Result<(), EngineError> {
        let components = locked_components(self.plan);
        let Some(consul) = self.engines.consul.as_ref().filter(|_| !components.is_empty()) else {
            return Ok(());
        };
        let holder = component_lock::Holder {
            operation: self.operation.clone(),
            who: self.author.who.to_owned(),
            since: Timestamp::now(),
        };
        let lock = ComponentLock::wait(
            consul,
            &components,
            &holder,
            component_lock::TTL,
            WAIT_FOR_COMPONENTS,
        );
        self.lock = Some(lock.await?);
        Ok(())
    }

    /// A lock that cannot be given back ends by itself, and is no failure of what was done under it.
    async fn release(&mut self, watch: &mut dyn Watch) {
        if let Some(lock) = self.lock.take()
            && let Err(error) = lock.release().await
        {
            watch.progress(&format!("The lock was not given back: {error}"));
        }
    }

    /// Given secrets wait in the secrets engine itself, so that an operation killed on the way still has them.
    async fn stage(&self, secrets: &BTreeMap<String, SecretString>) -> Result<(), EngineError> {
        if secrets.is_empty() {
            return Ok(());
        }
        let path = staged_path(&self.operation);
        let at = SecretPath {
            namespace: STAGED_NAMESPACE,
            path: &path,
        };
        self.engines.secrets().set_items(at, secrets).await.map(drop)
    }

    async fn go(mut self, watch: &mut dyn Watch) -> Result<Finished, Failure> {
        let finished = self.carry_out(watch).await;
        self.release(watch).await;
        finished
    }

    async fn carry_out(&mut self, watch: &mut dyn Watch) -> Result<Finished, Failure> {
        let started = Instant::now();
        let total = self.plan.steps.len();
        watch.begin(&self.operation, total);
        let ended = self.ended_steps()?;
        if !ended.contains(COMMIT) {
            let committed = self.commit().await;
            self.settle(committed, 0, "commit")?;
        }
        self.record_unfinished()?;
        for (index, step) in self.plan.steps.iter().enumerate() {
            let number = index + 1;
            if ended.contains(&step.id) {
                continue;
            }
            watch.step(number, step);
            let begun = Instant::now();
            let performed = self.perform(step, watch).await;
            let effect = self.settle(performed, number, step.work.title())?;
            watch.done(number, step, &effect, begun.elapsed());
        }
        let outputs = self.finish().await?;
        Ok(Finished {
            operation: self.operation.clone(),
            plan: self.plan.clone(),
            outputs,
            took: started.elapsed(),
        })
    }

    /// On failure the operation ends as failed; it can be resumed.
    fn settle<T>(
        &mut self,
        result: Result<T, EngineError>,
        number: usize,
        title: &str,
    ) -> Result<T, Failure> {
        result.or_else(|error| {
            self.store.end_operation(&self.operation, Outcome::Failed)?;
            Err(Failure::Step(Box::new(StepFailure {
                operation: self.operation.clone(),
                number,
                total: self.plan.steps.len(),
                title: title.to_owned(),
                error,
            })))
        })
    }

    fn ended_steps(&self) -> Result<BTreeSet<String>, EngineError> {
        let journal = self.store.journal(&self.operation)?;
        Ok(journal
            .into_iter()
            .filter(|entry| entry.event == Event::End)
            .map(|entry| entry.step)
            .collect())
    }

    /// The pillar edit, what it compiles to, and one commit of both. Doing it twice changes nothing.
    async fn commit(&mut self) -> Result<(), EngineError> {
        self.store.begin_step(&self.operation, COMMIT, &json!({}))?;
        self.estate.write_pillar(&self.plan.pillar)?;
        self.estate.write_changed(&self.compilation.artifacts)?;
        let repository = self.estate.repository();
        let subject = self.subject();
        let trailers = [
            ("Operation", self.operation.as_str()),
            ("Intent", self.author.words),
        ];
        // Nothing to commit: a person committed the pillar by hand, or a killed run got this far.
        let commit = match repository.commit(COMMITTED, &subject, &trailers).await? {
            Some(commit) => commit,
            None => repository.head().await?.unwrap_or_default(),
        };
        self.store.record_commit(&self.operation, &commit)?;
        self.store
            .end_step(&self.operation, COMMIT, &json!({"commit": commit}))
    }

    fn subject(&self) -> String {
        let environment = &self.plan.environment;
        match &self.plan.intent {
            Some(intent) if self.plan.host().is_some() => {
                format!("{:?} host {}", intent.verb, intent.component)
            }
            Some(intent) => format!("{:?} {} ({environment})", intent.verb, intent.component),
            None => format!("Apply {} ({environment})", self.plan.components.join(", ")),
        }
    }

    async fn perform(&mut self, step: &Step, watch: &mut dyn Watch) -> Result<String, EngineError> {
        if let Some(lock) = &self.lock {
            lock.still_held().await?;
        }
        self.store
            .begin_step(&self.operation, &step.id, &json!({"title": step.work.title()}))?;
        let context = steps::Context {
            engines: self.engines,
            compilation: &self.compilation,
            operation: &self.operation,
            release: &self.plan.release,
        };
        let Verified { words, seen } =
            steps::perform(&context, step, &mut |message| watch.progress(message)).await?;
        self.store
            .end_step(&self.operation, &step.id, &json!({"effect": words, "seen": seen}))?;
        Ok(words)
    }

    /// A component that is new is known from here on, so that what a failed operation leaves of it can be deleted.
    fn record_unfinished(&mut self) -> Result<(), EngineError> {
        for step in &self.plan.steps {
            if !matches!(step.work, Work::Workspace { .. }) {
                continue;
            }
            let key = (step.environment.clone(), step.component.clone());
            let known = self.store.applied(&key.0)?;
            if known.iter().all(|one| one.component != key.1) {
                self.record(key, String::new())?;
            }
        }
        Ok(())
    }

    fn record(&mut self, key: Key, digest: String) -> Result<(), EngineError> {
        let nodes = to_json(&self.compilation.nodes(&key));
        self.store.set_applied(&Applied {
            environment: key.0,
            component: key.1,
            digest,
            nodes,
            operation: self.operation.clone(),
        })
    }

    /// What was applied is written down, staged secrets are removed, and what the components offer is asked for.
    async fn finish(&mut self) -> Result<Vec<(String, String)>, Failure> {
        steps::remove_staged(self.engines, &self.operation).await?;
        for step in &self.plan.steps {
            let key = (step.environment.clone(), step.component.clone());
            match &step.work {
                Work::Workspace { digest, .. } => self.record(key, digest.clone())?,
                Work::RemoveWorkspace { .. } => self.store.clear_applied(&key.0, &key.1)?,
                _ => {}
            }
        }
        let mut outputs = Vec::new();
        for component in self
            .plan
            .components
            .iter()
            .filter(|component| *component != PLATFORM)
        {
            outputs.extend(
                self::outputs(self.engines, &self.compilation, &self.plan.environment, component).await?,
            );
        }
        let repository = self.estate.repository();
        // A host belongs to no environment: none is further than it was.
        let head = repository.head().await?;
        if let Some(head) = head.filter(|_| self.plan.host().is_none()) {
            repository.set_applied(&self.plan.environment, &head).await?;
        }
        self.store.end_operation(&self.operation, Outcome::Done)?;
        Ok(outputs)
    }
}

/// Delivery and hosts belong to no component.
fn locked_components(plan: &Plan) -> BTreeSet<Key> {
    plan.steps
        .iter()
        .filter(|step| !matches!(step.work, Work::Deliver | Work::VerifyHost { .. }))
        .map(|step| (step.environment.clone(), step.component.clone()))
        .collect()
}

fn to_json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("plans and nodes have a JSON form")
}
