//! The commit of an operation: the pillar edit and what it compiles to.

use eos_core::scope::Scope;
use serde_json::json;

use super::run::{Run, Subject};
use crate::audit;
use crate::error::EngineError;
use crate::estate::{COMMITTED, PILLAR};
use crate::store::Operation;

/// The journal's name for writing the pillar, the artifacts and the commit.
pub(super) const COMMIT: &str = "0-commit";

impl Run<'_> {
    /// The pillar edit, what it compiles to, and one commit of both. Doing it twice changes nothing.
    pub(super) async fn commit(&mut self, step: &str) -> Result<(), EngineError> {
        let Subject { id, words, plan, .. } = &self.subject;
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
            ("Intent", *words),
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
    pub(super) async fn note_before(&self) -> Result<(), EngineError> {
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
            true if plan.is_of_hosts() => self.hosts_applied_at()?.or(head),
            true => repository.applied(&plan.environment).await?.or(head),
            false => head,
        };
        match before {
            Some(before) => self.store.borrow_mut().record_commit_before(id, &before),
            None => Ok(()),
        }
    }

    /// The commit of the newest operation that was about one of the plan's hosts.
    fn hosts_applied_at(&self) -> Result<Option<String>, EngineError> {
        let store = self.store.borrow();
        let rows = store.applied(Scope::Estate.prefix())?;
        let mut newest: Option<Operation> = None;
        for row in rows
            .iter()
            .filter(|row| self.subject.plan.hosts.contains(&row.component))
        {
            let operation = store.operation(&row.operation)?;
            newest = newest.into_iter().chain(operation).max_by_key(|one| one.number);
        }
        Ok(newest.and_then(|operation| operation.commit_after))
    }

    pub(super) fn words_of_commit(&self) -> String {
        let plan = &self.subject.plan;
        let environment = &plan.environment;
        let what = match &plan.intent {
            Some(intent) => intent.sentence.title(&plan.components),
            None if plan.is_of_hosts() => format!("Apply host {}", plan.hosts.join(", ")),
            None => format!("Apply {} ({environment})", plan.components.join(", ")),
        };
        match (self.is_back, &self.subject.takes_back) {
            (true, _) => format!("Roll back {}", self.subject.id),
            (false, Some(other)) => format!("Roll back {other}"),
            (false, None) => what,
        }
    }
}
