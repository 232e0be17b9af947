//! One operation under way.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use eos_core::catalog::KEPT;
use eos_core::compile::{Compilation, compile};
use eos_core::emit::salt::volumes_digest;
use eos_core::emit::terraform::PLATFORM;
use eos_core::intent::Noun;
use eos_core::pillar::Pillar;
use eos_core::plan::{Change, Key, Plan, Previous, Step, Work};
use futures_util::stream::{FuturesUnordered, StreamExt};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::locks::{Locks, locked_components, waiting};
use super::records::{read_plan, refuse_unfinished};
use super::take_back::{self, Turned};
use super::{Author, Finished, Terms, Watch, actor};
use crate::approval::{self, Needed};
use crate::audit;
use crate::control::Control;
use crate::diagnose::{Failed, Witness, diagnose};
use crate::engines::Engines;
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::{COMMITTED, Estate, PILLAR, pillar_digest};
use crate::failure::{Aftermath, Failure, StepFailure, Waiting};
use crate::lock::{Lock, Target};
use crate::pins;
use crate::planning::{Wish, make_plan};
use crate::secrets::{STAGED_NAMESPACE, SecretPath, Secrets, staged_path};
use crate::steps::{self, Verified};
use crate::store::{Applied, Event, Operation, Outcome, Store};
use crate::waiting::{Spent, Stopwatch};

/// The journal's name for writing the pillar, the artifacts and the commit.
const COMMIT: &str = "0-commit";
/// How many steps go on at the same time: more wait than work, since engines mostly wait for health.
const AT_ONCE: usize = 8;

/// What an operation is, whoever carries it out.
pub(super) struct Subject<'a> {
    pub id: String,
    pub author: Author<'a>,
    pub plan: Plan,
    /// The operation that it takes back.
    pub takes_back: Option<String>,
    /// Held as long as this process is at work on it.
    pub _alive: Lock,
}

pub(super) struct Run<'a> {
    estate: &'a Estate,
    engines: &'a Engines,
    store: RefCell<Store>,
    watch: RefCell<&'a mut dyn Watch>,
    terms: &'a Terms,
    subject: Subject<'a>,
    /// Who carries it out, as Salt knows them.
    caller: Control,
    locks: Locks,
    compiled: Option<Compiled>,
    stopwatch: Stopwatch,
    /// Whether the plan is the one that takes the operation back.
    is_back: bool,
    /// What was seen of the steps while they ran.
    witness: Witness,
}

struct Compiled {
    /// Digest of the pillar.
    from: String,
    compilation: Compilation,
}

/// Why the steps came to no end.
enum Halt {
    Failed {
        number: usize,
        step: Step,
        error: EngineError,
    },
    /// A person wanted it; all that had begun has ended.
    Stopped { done: usize },
}

impl<'a> Run<'a> {
    pub fn new(
        (estate, engines): (&'a Estate, &'a Engines),
        store: Store,
        subject: Subject<'a>,
        caller: Control,
        terms: &'a Terms,
        watch: &'a mut dyn Watch,
    ) -> Self {
        Run {
            estate,
            engines,
            store: RefCell::new(store),
            watch: RefCell::new(watch),
            terms,
            subject,
            caller,
            locks: Locks::default(),
            compiled: None,
            stopwatch: Stopwatch::start(),
            is_back: false,
            witness: Witness::default(),
        }
    }

    /// A new operation. Until its commit nothing is changed, and what stands in the way ends it without a trace.
    pub async fn start(mut self, secrets: &BTreeMap<String, SecretString>) -> Result<Finished, Failure> {
        match self.prepare(secrets).await {
            Ok(guard) => match self.admit() {
                Ok(()) => self.go(Some(guard)).await,
                // What was given with the command stays where it waits: it is gone on with from there.
                Err(waiting) => self.wait(waiting).await,
            },
            Err(failure) => {
                // The failure is what a person must know; beside it, where a given secret may still lie.
                if !secrets.is_empty()
                    && let Err(error) = self.remove_staged().await
                {
                    let path = staged_path(&self.subject.id);
                    let words = format!("{path} may still hold a secret that was given: {error}");
                    self.watch.borrow_mut().waiting(&words);
                }
                self.end(Outcome::TakenBack).await?;
                Err(failure)
            }
        }
    }

    async fn prepare(&mut self, secrets: &BTreeMap<String, SecretString>) -> Result<Lock, Failure> {
        self.enter().await?;
        let components = locked_components(&self.subject.plan);
        refuse_unfinished(self.estate, &self.store.borrow(), &self.subject.id, &components)?;
        let guard = self.estate_lock().await?;
        if self.terms.exact {
            pins::require(self.estate, self.engines, &self.subject.plan).await?;
        }
        self.refresh().await?;
        refuse_hand_edits(self.estate, self.compilation()).await?;
        self.stage(secrets).await?;
        Ok(guard)
    }

    /// Goes on where the journal ends.
    pub async fn go_on(mut self, operation: &Operation) -> Result<Finished, Failure> {
        if operation.outcome == Outcome::Waiting && operation.back.is_none() {
            self.admit()?;
        }
        self.enter().await?;
        self.resume()?;
        if let Some(back) = &operation.back {
            return self.go_back(Some(back)).await;
        }
        let refreshed = match self.ended()?.contains(COMMIT) {
            true => self.recompile().map(drop),
            false => {
                let guard = self.estate_lock().await?;
                match self.refresh().await {
                    Ok(()) => {
                        return match self.admit() {
                            Ok(()) => self.go(Some(guard)).await,
                            Err(waiting) => self.wait(waiting).await,
                        };
                    }
                    Err(failure) => Err(failure),
                }
            }
        };
        if let Err(failure) = refreshed {
            // It can never go on, and as long as it counts as unfinished nothing else could begin.
            self.end(Outcome::Failed).await?;
            return Err(failure.with_hint("`eos plan` shows what is left to do, `eos apply` does it"));
        }
        match self.admit() {
            Ok(()) => self.go(None).await,
            Err(waiting) => self.wait(waiting).await,
        }
    }

    fn resume(&self) -> Result<(), EngineError> {
        let by = actor(self.engines, self.terms, self.subject.author);
        self.store.borrow_mut().resume_operation(&self.subject.id, by)
    }

    /// What the plan's risk asks for beside the caller's role is there.
    fn admit(&self) -> Result<(), Failure> {
        let Subject { id, plan, .. } = &self.subject;
        let Some(needed) = approval::needed(plan, self.caller.role) else {
            return Ok(());
        };
        let store = self.store.borrow();
        if approval::given(&store, id, plan)?.is_some() {
            return Ok(());
        }
        Err(self.waiting_for(needed)?)
    }

    fn waiting_for(&self, needed: Needed) -> Result<Failure, EngineError> {
        let operation = self.subject.id.clone();
        let requester = approval::requester(&self.store.borrow(), &operation)?;
        Ok(Failure::Waiting(Box::new(Waiting {
            operation,
            needed,
            requester,
        })))
    }

    /// Ends for now: somebody has to approve it.
    async fn wait(mut self, waiting: Failure) -> Result<Finished, Failure> {
        self.end(Outcome::Waiting).await?;
        Err(waiting)
    }

    /// Takes back what the journal says was done.
    pub async fn give_up(mut self, operation: &Operation) -> Result<Finished, Failure> {
        if operation.outcome == Outcome::Waiting {
            let total = self.subject.plan.steps.len();
            self.watch.borrow_mut().begin(&self.subject.id, total);
            self.remove_staged().await?;
            self.end(Outcome::TakenBack).await?;
            return Ok(self.finished(Vec::new(), Some(Vec::new())));
        }
        self.enter().await?;
        self.resume()?;
        self.go_back(operation.back.as_ref()).await
    }

    async fn enter(&mut self) -> Result<(), EngineError> {
        if let Some(vault) = &self.engines.vault {
            vault.keep_token().await?;
        }
        let components = locked_components(&self.subject.plan);
        self.lock(components).await
    }

    async fn lock(&mut self, components: BTreeSet<Key>) -> Result<(), EngineError> {
        let watch = &self.watch;
        let mut held = waiting(self.terms, |message| watch.borrow_mut().waiting(message));
        let Subject { id, author, .. } = &self.subject;
        let consul = self.engines.consul.as_ref();
        self.locks
            .take(self.estate, consul, id, *author, components, &mut held)
            .await
    }

    /// Held to edit, commit and deliver, and given back at once.
    async fn estate_lock(&self) -> Result<Lock, EngineError> {
        let mut held = waiting(self.terms, |message| self.watch.borrow_mut().waiting(message));
        Lock::wait(
            &self.estate.root,
            Target::Estate,
            Some(&self.subject.id),
            &mut held,
        )
        .await
    }

    /// The plan against the pillar as it is now. If others edited that since, the plan is made again, and holds if it
    /// asks for nothing beyond what was confirmed.
    async fn refresh(&mut self) -> Result<(), Failure> {
        let files = self.estate.pillar_files()?;
        let plan = &self.subject.plan;
        let mut edited = plan
            .pillar
            .iter()
            .filter(|(path, _)| !path.starts_with(KEPT))
            .peekable();
        let is_written = edited.peek().is_some()
            && edited.all(|(path, text)| files.get(path).map(Vec::as_slice) == Some(text.as_bytes()));
        if !is_written && pillar_digest(&files) != plan.base {
            return self.plan_again().await;
        }
        let compiled = self.compile_with(plan)?;
        if compiled.compilation.release != plan.release && serves(plan, &compiled.compilation).is_err() {
            return Err(stale(
                "the pillar, the catalog or Eos itself changed after it was made",
            ));
        }
        self.compiled = Some(compiled);
        Ok(())
    }

    /// The pillar with the edit of a plan, compiled.
    fn compile_with(&self, plan: &Plan) -> Result<Compiled, Failure> {
        let mut files = self.estate.pillar_files()?;
        let (recipes, edited): (Vec<_>, Vec<_>) = plan
            .pillar
            .iter()
            .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
            .partition(|(path, _)| path.starts_with(KEPT));
        files.extend(edited);
        let catalog = self.estate.catalog_with(recipes)?;
        let compilation = compile(&Pillar::read(&files)?, &catalog, self.estate.settings.profile)?;
        Ok(Compiled {
            from: pillar_digest(&files),
            compilation,
        })
    }

    async fn plan_again(&mut self) -> Result<(), Failure> {
        if self.terms.exact {
            return Err(stale("the pillar was changed after it was made"));
        }
        let confirmed = &self.subject.plan;
        let again = match &self.subject.takes_back {
            Some(other) => {
                let other = super::find(&self.store.borrow(), other)?;
                take_back::plan_rollback(self.estate, self.engines, &other).await?
            }
            None => make_plan(self.estate, Some(self.engines), Wish::again(confirmed)).await?,
        };
        if let Some(more) = again.changes.iter().find(|change| !includes(confirmed, change)) {
            return Err(stale(&format!(
                "the pillar was changed after it was made, and it would now change {} otherwise",
                more.address
            )));
        }
        self.store
            .borrow_mut()
            .replace_plan(&self.subject.id, &to_json(&again))?;
        self.compiled = Some(self.compile_with(&again)?);
        self.subject.plan = again;
        Ok(())
    }

    /// What the pillar compiles to now; others may have added to it, but not changed what this operation is about.
    fn recompile(&mut self) -> Result<&Compilation, Failure> {
        let from = pillar_digest(&self.estate.pillar_files()?);
        if self.compiled.as_ref().is_none_or(|known| known.from != from) {
            let compilation = self.estate.compile()?;
            serves(&self.subject.plan, &compilation)?;
            self.compiled = Some(Compiled { from, compilation });
        }
        Ok(self.compilation())
    }

    fn compilation(&self) -> &Compilation {
        let compiled = self.compiled.as_ref();
        &compiled.expect("a run compiles before it uses that").compilation
    }

    /// Given secrets wait in the secrets engine itself, so that an operation killed on the way still has them.
    async fn stage(&self, secrets: &BTreeMap<String, SecretString>) -> Result<(), EngineError> {
        if secrets.is_empty() {
            return Ok(());
        }
        let path = staged_path(&self.subject.id);
        let at = SecretPath {
            namespace: STAGED_NAMESPACE,
            path: &path,
        };
        self.engines.secrets().set_items(at, secrets).await.map(drop)
    }

    async fn go(mut self, guard: Option<Lock>) -> Result<Finished, Failure> {
        let total = self.subject.plan.steps.len();
        self.watch.borrow_mut().begin(&self.subject.id, total);
        if !self.ended()?.contains(COMMIT) {
            let committed = self.commit(COMMIT).await;
            drop(guard);
            if let Err(error) = committed {
                return self.failed(0, "commit", None, error).await;
            }
        }
        self.record_unfinished()?;
        match self.steps().await {
            Ok(_) => {}
            Err(Halt::Failed { number, step, error }) => {
                let title = step.work.title();
                return self.failed(number, title, Some(&step), error).await;
            }
            Err(Halt::Stopped { done }) => return self.stopped(done).await,
        }
        match self.finish().await {
            Ok(outputs) => {
                self.end(Outcome::Done).await?;
                Ok(self.finished(outputs, None))
            }
            Err(error) => self.failed(total, "record", None, error).await,
        }
    }

    fn finished(&self, outputs: Vec<(String, String)>, taken_back: Option<Vec<String>>) -> Finished {
        let Spent { took, waited } = self.stopwatch.read();
        Finished {
            operation: self.subject.id.clone(),
            plan: self.subject.plan.clone(),
            outputs,
            took,
            waited,
            taken_back,
        }
    }

    /// A step failed. What was done before it is taken back, unless there is a reason not to.
    async fn failed(
        mut self,
        number: usize,
        title: &str,
        step: Option<&Step>,
        error: EngineError,
    ) -> Result<Finished, Failure> {
        // The approval ended on the way, or was for another plan: it goes on once there is a new one.
        if approval::is_missing(&error) {
            let waiting = self.waiting_for(Needed::by_salt(&self.subject.plan))?;
            return self.wait(waiting).await;
        }
        let total = self.subject.plan.steps.len();
        // Before anything is taken back: what is gone cannot be read.
        let diagnosis = match step {
            Some(step) => {
                let failed = Failed {
                    operation: &self.subject.id,
                    step,
                    error: &error,
                    witness: &self.witness,
                };
                Some(diagnose(self.engines, failed).await)
            }
            None => None,
        };
        let mut failure = StepFailure {
            operation: self.subject.id.clone(),
            number,
            total,
            title: title.to_owned(),
            error,
            diagnosis,
            aftermath: Aftermath::Stands { why: String::new() },
        };
        self.store
            .borrow_mut()
            .record_failure(&self.subject.id, &to_json(&failure))?;
        failure.aftermath = match self.why_it_stands(&failure.error)? {
            Some(why) => {
                self.end(Outcome::Failed).await?;
                Aftermath::Stands { why }
            }
            None => match self.turn_back(title).await {
                Ok(effects) => Aftermath::TakenBack { effects },
                Err(second) => {
                    let outcome = match second {
                        Failure::Waiting(_) => Outcome::Waiting,
                        _ => Outcome::Failed,
                    };
                    self.end(outcome).await?;
                    let why = format!("taking it back failed as well: {second}");
                    Aftermath::Stands { why }
                }
            },
        };
        Err(Failure::Step(Box::new(failure)))
    }

    /// Why a failed operation is not taken back by itself.
    fn why_it_stands(&self, error: &EngineError) -> Result<Option<String>, EngineError> {
        if self.terms.keep {
            return Ok(Some("it was to be kept for a look".to_owned()));
        }
        let is_silent = error.kind == ErrorKind::Unreachable
            || (error.kind == ErrorKind::Timeout && error.layer == Layer::Salt);
        if is_silent {
            return Ok(Some(format!(
                "without {} nothing can be taken back",
                error.layer.name()
            )));
        }
        if error.layer == Layer::Consul && error.kind == ErrorKind::Conflict {
            return Ok(Some("another may be at work on the same components".to_owned()));
        }
        let begun = self.begun()?;
        let is_past = |step: &&Step| step.work.is_final() && begun.contains_key(&step.id);
        let past = self.subject.plan.steps.iter().find(is_past);
        Ok(past.map(|step| format!("step {} cannot be taken back, and had begun", step.work.title())))
    }

    async fn turn_back(&mut self, title: &str) -> Result<Vec<String>, Failure> {
        let turned = self.plan_back().await?;
        let why = format!("{title} failed: taking back what was done");
        self.go_by(turned, &why).await
    }

    async fn go_back(mut self, known: Option<&Value>) -> Result<Finished, Failure> {
        let total = self.subject.plan.steps.len();
        self.watch.borrow_mut().begin(&self.subject.id, total);
        let turned = match known {
            Some(plan) => Turned {
                plan: read_plan(&self.subject.id, plan.clone())?,
                guard: None,
            },
            None => self.plan_back().await?,
        };
        match self.go_by(turned, "taking back what was done").await {
            Ok(effects) => Ok(self.finished(Vec::new(), Some(effects))),
            Err(Failure::Step(failure)) => {
                self.store
                    .borrow_mut()
                    .record_failure(&self.subject.id, &to_json(&failure))?;
                self.end(Outcome::Failed).await?;
                Err(Failure::Step(failure))
            }
            Err(Failure::Stopped(stopped)) => {
                self.end(Outcome::Interrupted).await?;
                Err(Failure::Stopped(stopped))
            }
            Err(waiting @ Failure::Waiting(_)) => self.wait(waiting).await,
            Err(other) => {
                self.end(Outcome::Failed).await?;
                Err(other)
            }
        }
    }

    async fn plan_back(&mut self) -> Result<Turned, Failure> {
        let begun = self.begun()?;
        for step in self
            .subject
            .plan
            .steps
            .iter()
            .filter(|step| begun.contains_key(&step.id))
        {
            steps::settle(self.engines, &self.subject.id, step).await?;
        }
        let guard = self.estate_lock().await?;
        let operation = self.store.borrow().operation(&self.subject.id)?;
        let Some(operation) = operation else {
            return Err(stale("its operation is not in the store").with_hint("`eos history` shows them all"));
        };
        let plan = take_back::plan_unfinished(self.estate, self.engines, &operation, &begun).await?;
        self.store.borrow_mut().begin_back(
            &self.subject.id,
            &to_json(&plan),
            actor(self.engines, self.terms, self.subject.author),
        )?;
        Ok(Turned {
            plan,
            guard: Some(guard),
        })
    }

    /// Carries out the plan that takes the operation back; gives the effects of its steps.
    async fn go_by(&mut self, turned: Turned, why: &str) -> Result<Vec<String>, Failure> {
        let Turned { plan, mut guard } = turned;
        self.is_back = true;
        self.subject.plan = plan;
        self.compiled = None;
        self.admit()?;
        self.lock(locked_components(&self.subject.plan)).await?;
        self.watch
            .borrow_mut()
            .turn_back(why, self.subject.plan.steps.len());
        if self.ended()?.contains(take_back::COMMIT) {
            self.recompile()?;
        } else {
            if guard.is_none() {
                guard = Some(self.estate_lock().await?);
            }
            self.refresh().await?;
            self.commit(take_back::COMMIT).await?;
        }
        drop(guard);
        let effects = match self.steps().await {
            Ok(effects) => effects,
            Err(Halt::Stopped { done }) => return Err(Failure::Stopped(self.stop_of(done))),
            Err(Halt::Failed { error, .. }) if approval::is_missing(&error) => {
                return Err(self.waiting_for(Needed::by_salt(&self.subject.plan))?);
            }
            Err(Halt::Failed { number, step, error }) => {
                return Err(Failure::Step(Box::new(StepFailure {
                    operation: self.subject.id.clone(),
                    number,
                    total: self.subject.plan.steps.len(),
                    title: step.work.title().to_owned(),
                    error,
                    diagnosis: None,
                    aftermath: Aftermath::Stands {
                        why: "it is being taken back".to_owned(),
                    },
                })));
            }
        };
        self.finish().await?;
        self.end(Outcome::TakenBack).await?;
        Ok(effects)
    }

    async fn stopped(mut self, done: usize) -> Result<Finished, Failure> {
        let stopped = self.stop_of(done);
        self.end(Outcome::Interrupted).await?;
        Err(Failure::Stopped(stopped))
    }

    fn stop_of(&self, done: usize) -> crate::failure::Stopped {
        crate::failure::Stopped {
            operation: self.subject.id.clone(),
            done,
            total: self.subject.plan.steps.len(),
            is_back: self.is_back,
        }
    }

    async fn end(&mut self, outcome: Outcome) -> Result<(), EngineError> {
        for error in self.locks.release().await {
            let words = format!("The lock was not given back: {error}");
            self.watch.borrow_mut().waiting(&words);
        }
        let by = actor(self.engines, self.terms, self.subject.author);
        let mut store = self.store.borrow_mut();
        store.add_spent(&self.subject.id, self.stopwatch.read())?;
        store.end_operation(&self.subject.id, outcome, by)
    }

    /// Step -> the detail of its first beginning.
    fn begun(&self) -> Result<BTreeMap<String, Value>, EngineError> {
        let mut begun = BTreeMap::new();
        for entry in self.store.borrow().journal(&self.subject.id)? {
            if entry.event == Event::Begin {
                begun.entry(entry.step).or_insert(entry.detail);
            }
        }
        Ok(begun)
    }

    fn ended(&self) -> Result<BTreeSet<String>, EngineError> {
        let journal = self.store.borrow().journal(&self.subject.id)?;
        Ok(journal
            .into_iter()
            .filter(|entry| entry.event == Event::End)
            .map(|entry| entry.step)
            .collect())
    }

    /// The pillar edit, what it compiles to, and one commit of both. Doing it twice changes nothing.
    async fn commit(&mut self, step: &str) -> Result<(), EngineError> {
        let Subject { id, author, plan, .. } = &self.subject;
        self.store.borrow_mut().begin_step(id, step, &json!({}))?;
        let repository = self.estate.repository();
        if !self.is_back {
            self.note_before().await?;
        }
        self.estate.write_pillar(&plan.pillar)?;
        self.estate.write_changed(&self.compilation().artifacts)?;
        let subject = self.words_of_commit();
        let anchor = audit::anchor(self.estate, &self.store.borrow())?.unwrap_or_default();
        let trailers = [
            ("Operation", id.as_str()),
            ("Intent", author.words),
            (audit::TRAILER, &anchor),
        ];
        // Nothing to commit: a person committed the pillar by hand, or a killed run got this far.
        let commit = match repository.commit(COMMITTED, &subject, &trailers).await? {
            Some(commit) => commit,
            None => repository.head().await?.unwrap_or_default(),
        };
        let mut store = self.store.borrow_mut();
        if !self.is_back {
            store.record_commit(id, &commit)?;
        }
        store.end_step(id, step, &json!({"commit": commit}))
    }

    /// What the pillar was before. Edits of a person that were there get a commit of their own, so that they stay when the
    /// operation is taken back; where they are what is applied, it is the last that was applied before them.
    async fn note_before(&self) -> Result<(), EngineError> {
        let Subject { id, plan, .. } = &self.subject;
        let known = self.store.borrow().operation(id)?;
        if known.is_some_and(|operation| operation.commit_before.is_some()) {
            return Ok(());
        }
        let repository = self.estate.repository();
        let edited = !repository.is_clean(PILLAR).await?;
        if edited && !plan.pillar.is_empty() {
            repository.commit(PILLAR, "Edit the pillar by hand", &[]).await?;
        }
        let head = repository.head().await?;
        let before = match plan.pillar.is_empty() && !edited {
            true => repository.applied(&plan.environment).await?.or(head),
            false => head,
        };
        match before {
            Some(before) => self.store.borrow_mut().record_commit_before(id, &before),
            None => Ok(()),
        }
    }

    fn words_of_commit(&self) -> String {
        let plan = &self.subject.plan;
        let environment = &plan.environment;
        let what = match &plan.intent {
            Some(intent) if plan.host().is_some() => format!("{:?} host {}", intent.verb, intent.component),
            Some(intent) if intent.noun == Noun::Environment => {
                format!("{:?} all components ({environment})", intent.verb)
            }
            Some(intent) => format!("{:?} {} ({environment})", intent.verb, intent.component),
            None => format!("Apply {} ({environment})", plan.components.join(", ")),
        };
        match (self.is_back, &self.subject.takes_back) {
            (true, _) => format!("Take back {}", self.subject.id),
            (false, Some(other)) => format!("Take back {other}"),
            (false, None) => what,
        }
    }

    /// Carries out the steps that did not end before, each as soon as those it waits for have ended. Gives the effects.
    async fn steps(&mut self) -> Result<Vec<String>, Halt> {
        let plan = self.subject.plan.clone();
        let halt = |error| Halt::Failed {
            number: 0,
            step: plan.steps[0].clone(),
            error,
        };
        if plan.steps.is_empty() {
            return Ok(Vec::new());
        }
        let mut ended = self.ended().map_err(halt)?;
        let begun = self.begun().map_err(halt)?;
        let mut open: Vec<(usize, &Step)> = (1..)
            .zip(&plan.steps)
            .filter(|(_, step)| !ended.contains(&step.id))
            .collect();
        let mut effects = Vec::new();
        let mut halt: Option<Halt> = None;
        let this = &*self;
        let mut running = FuturesUnordered::new();
        loop {
            let is_stopped = halt.is_some() || this.terms.stop.is_wanted();
            while !is_stopped && running.len() < AT_ONCE {
                let is_ready = |(_, step): &(usize, &Step)| step.after.iter().all(|id| ended.contains(id));
                let Some(at) = open.iter().position(is_ready) else {
                    break;
                };
                let (number, step) = open.remove(at);
                running.push(this.step(number, step, begun.get(&step.id)));
            }
            let next = tokio::select! {
                next = running.next() => next,
                () = this.terms.stop.wanted() => {
                    let words = "The steps that have begun come to their end, then it stops; again: it stops at once";
                    this.watch.borrow_mut().waiting(words);
                    continue;
                }
            };
            let Some((number, step, performed)) = next else {
                break;
            };
            match performed {
                Ok(effect) => {
                    ended.insert(step.id.clone());
                    effects.push(effect);
                }
                // The first failure is the one to tell of; what goes on beside it comes to its own end.
                Err(error) => {
                    let step = step.clone();
                    halt.get_or_insert(Halt::Failed { number, step, error });
                }
            }
        }
        let done = plan.steps.len() - open.len();
        match halt {
            Some(halt) => Err(halt),
            None if open.is_empty() => Ok(effects),
            None => Err(Halt::Stopped { done }),
        }
    }

    async fn step<'s>(
        &self,
        number: usize,
        step: &'s Step,
        begun: Option<&Value>,
    ) -> (usize, &'s Step, Result<String, EngineError>) {
        self.watch.borrow_mut().step(number, step);
        let started = Instant::now();
        let performed = self.perform(number, step, begun).await;
        if let Ok(effect) = &performed {
            let took = started.elapsed();
            self.watch.borrow_mut().done(number, step, effect, took);
        }
        (number, step, performed)
    }

    async fn perform(
        &self,
        number: usize,
        step: &Step,
        begun: Option<&Value>,
    ) -> Result<String, EngineError> {
        self.locks.still_held().await?;
        let id = &self.subject.id;
        let mut detail = json!({"title": step.work.title()});
        if let Some(previous) = self.previous(step, begun).await? {
            detail["previous"] = to_json(&previous);
        }
        self.store.borrow_mut().begin_step(id, &step.id, &detail)?;
        let mut progress = |message: &str| self.watch.borrow_mut().progress(number, message);
        let Verified { words, seen } = match &step.work {
            Work::Deliver => self.deliver().await?,
            _ => {
                let context = steps::Context {
                    engines: self.engines,
                    compilation: self.compilation(),
                    operation: id,
                };
                let work = steps::perform(&context, step, &mut progress);
                self.witness.during(self.engines, step, work).await?
            }
        };
        let detail = json!({"effect": words, "seen": seen});
        self.store.borrow_mut().end_step(id, &step.id, &detail)?;
        Ok(words)
    }

    /// What a step finds in the secrets engine before it writes there; of a step that began before, what it found then.
    async fn previous(&self, step: &Step, begun: Option<&Value>) -> Result<Option<Previous>, EngineError> {
        let (Work::Secret { path, .. } | Work::RestoreSecret { path, .. } | Work::RemoveSecret { path }) =
            &step.work
        else {
            return Ok(None);
        };
        if let Some(known) = begun.and_then(|detail| take_back::previous_in(detail)) {
            return Ok(Some(known));
        }
        let at = SecretPath {
            namespace: &step.environment,
            path,
        };
        let secrets = self.engines.secrets();
        let previous = match &step.work {
            Work::RemoveSecret { .. } => secrets.keep_copy(at, &self.subject.id).await?,
            _ => secrets.remember(at, &self.subject.id).await?,
        };
        Ok(Some(previous))
    }

    /// What the pillar compiles to by now, which another operation may have added to, becomes what Salt serves.
    async fn deliver(&self) -> Result<Verified, EngineError> {
        let _guard = self.estate_lock().await?;
        let plan = &self.subject.plan;
        let from = pillar_digest(&self.estate.pillar_files()?);
        if self.compiled.as_ref().is_some_and(|known| known.from == from) {
            return steps::deliver(self.engines, self.compilation(), &plan.steps).await;
        }
        let newer = self.estate.compile().map_err(Failure::into_engine_error)?;
        serves(plan, &newer)?;
        steps::deliver(self.engines, &newer, &plan.steps).await
    }

    /// A component that is new is known from here on, so that what a failed operation leaves of it can be deleted.
    fn record_unfinished(&mut self) -> Result<(), EngineError> {
        for step in &self.subject.plan.steps {
            if !matches!(step.work, Work::Workspace { .. }) {
                continue;
            }
            let key = (step.environment.clone(), step.component.clone());
            let known = self.store.borrow().applied(&key.0)?;
            if known.iter().all(|one| one.component != key.1) {
                self.record(key, String::new())?;
            }
        }
        Ok(())
    }

    fn record(&self, key: Key, digest: String) -> Result<(), EngineError> {
        let nodes = to_json(&self.compilation().nodes(&key));
        self.store.borrow_mut().set_applied(&Applied {
            environment: key.0,
            component: key.1,
            digest,
            nodes,
            operation: self.subject.id.clone(),
        })
    }

    /// What was applied is written down, staged secrets are removed, and what the components offer is asked for.
    async fn finish(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        self.remove_staged().await?;
        for step in &self.subject.plan.steps {
            let key = (step.environment.clone(), step.component.clone());
            match &step.work {
                Work::Workspace { digest, .. } => self.record(key, digest.clone())?,
                Work::RemoveWorkspace { .. } => self.store.borrow_mut().clear_applied(&key.0, &key.1)?,
                _ => {}
            }
        }
        let plan = &self.subject.plan;
        let mut outputs = Vec::new();
        for component in plan.components.iter().filter(|component| *component != PLATFORM) {
            let compilation = self.compilation();
            outputs.extend(super::outputs(self.engines, compilation, &plan.environment, component).await?);
        }
        self.advance().await?;
        Ok(outputs)
    }

    /// The environment is applied up to here, unless another operation is on its way in it.
    async fn advance(&self) -> Result<(), EngineError> {
        let Subject { id, plan, .. } = &self.subject;
        let unfinished = self.store.borrow().unfinished()?;
        let is_alone = unfinished
            .iter()
            .all(|other| other.id == *id || other.environment != plan.environment);
        // A host belongs to no environment: none is further than it was.
        if !is_alone || plan.host().is_some() {
            return Ok(());
        }
        let repository = self.estate.repository();
        match repository.head().await? {
            Some(head) => repository.set_applied(&plan.environment, &head).await,
            None => Ok(()),
        }
    }

    async fn remove_staged(&self) -> Result<(), EngineError> {
        let begun = self.begun()?;
        let kept = begun.values().filter_map(take_back::previous_in);
        let kept = kept.filter_map(|previous| match previous {
            Previous::Kept(path) => Some(path),
            _ => None,
        });
        for path in kept.chain([staged_path(&self.subject.id)]) {
            let at = SecretPath {
                namespace: STAGED_NAMESPACE,
                path: &path,
            };
            self.engines.secrets().delete(at).await?;
        }
        Ok(())
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

/// Whether a compilation has, of all that the plan's steps are about, what they expect.
fn serves(plan: &Plan, compilation: &Compilation) -> Result<(), EngineError> {
    let changed = plan.steps.iter().find(|step| {
        let (environment, component) = (&step.environment, &step.component);
        match &step.work {
            Work::Workspace { digest, .. } => compilation
                .workspace(environment, component)
                .is_none_or(|workspace| workspace.digest != *digest),
            Work::Volumes { minion, digest, .. } => compilation
                .component(environment, component)
                .is_none_or(|component| volumes_digest(component, minion) != *digest),
            Work::RemoveWorkspace { .. } => compilation.workspace(environment, component).is_some(),
            _ => false,
        }
    });
    match changed {
        None => Ok(()),
        Some(step) => Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Conflict,
            "the plan",
            format!("{} was changed in the pillar after it was made", step.component),
        )
        .with_hint("Make a new plan")),
    }
}

/// Whether this change was among those that were confirmed; where its values stand in the pillar does not matter.
fn includes(confirmed: &Plan, change: &Change) -> bool {
    let values = |change: &Change| -> Vec<(String, Option<Value>, Option<Value>)> {
        let attributes = change.attributes.iter();
        attributes
            .map(|one| (one.name.clone(), one.before.clone(), one.after.clone()))
            .collect()
    };
    confirmed.changes.iter().any(|known| {
        known.address == change.address
            && known.component == change.component
            && known.action == change.action
            && values(known) == values(change)
    })
}

pub(super) fn stale(words: &str) -> Failure {
    EngineError::new(Layer::Estate, ErrorKind::Conflict, "the plan", words)
        .with_hint("Make a new plan")
        .into()
}

pub(super) fn to_json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("plans, nodes and failures have a JSON form")
}
