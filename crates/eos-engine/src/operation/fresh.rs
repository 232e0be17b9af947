//! Whether a plan still holds: the pillar that it was made from, and what that compiles to, as they are by now.

use eos_core::catalog::KEPT;
use eos_core::compile::Compilation;
use eos_core::pillar::Pillar;
use eos_core::plan::{Change, Plan};
use serde_json::Value;

use super::run::{Run, to_json};
use super::take_back;
use crate::compiling::{Compiled, Inputs, compile};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::estate::{Estate, pillar_digest};
use crate::failure::Failure;
use crate::planning::{Planned, Wish, make_plan};
use crate::settings::Settings;

impl Run<'_> {
    /// The plan against the pillar as it is now. If others edited that since, the plan is made again, and holds if it
    /// asks for nothing beyond what was confirmed. What was compiled for it serves if nothing at all changed.
    pub(super) async fn refresh(&mut self) -> Result<(), Failure> {
        let setup = Settings::load(&self.estate.root)?.setup();
        if setup != self.estate.settings.setup() {
            return Err(stale("eos.toml changed after the plan was made"));
        }
        let inputs = Inputs::read(self.estate)?;
        let beforehand = self.beforehand.take();
        let plan = &self.subject.plan;
        if let Some(compiled) = beforehand.and_then(|made| made.if_unchanged(&inputs, &setup, &plan.release))
        {
            self.compiled = Some(compiled);
            return Ok(());
        }
        let files = inputs.files;
        let mut edited = plan
            .pillar
            .iter()
            .filter(|(path, _)| !path.starts_with(KEPT))
            .peekable();
        let is_written = edited.peek().is_some()
            && edited.all(|(path, text)| {
                files.get(path).map(Vec::as_slice) == text.as_ref().map(String::as_bytes)
            });
        if !is_written && pillar_digest(&files) != plan.base {
            return self.plan_again().await;
        }
        let compiled = self.compile_with(plan)?;
        if compiled.compilation.release != plan.release && serves(plan, &compiled.compilation).is_err() {
            return Err(stale(
                "the pillar, the catalog or Eos itself changed after the plan was made",
            ));
        }
        self.compiled = Some(compiled);
        Ok(())
    }

    /// The pillar with the edit of a plan, compiled.
    pub(super) fn compile_with(&self, plan: &Plan) -> Result<Compiled, Failure> {
        let mut files = self.estate.pillar_files()?;
        let mut recipes = Vec::new();
        for (path, text) in &plan.pillar {
            let bytes = text.clone().map(String::into_bytes);
            match (path.starts_with(KEPT), bytes) {
                (true, bytes) => recipes.extend(bytes.map(|bytes| (path.clone(), bytes))),
                (false, Some(bytes)) => drop(files.insert(path.clone(), bytes)),
                (false, None) => drop(files.remove(path)),
            }
        }
        let catalog = self.estate.catalog_with(recipes)?;
        let compilation = compile(&Pillar::read(&files)?, &catalog, self.estate.settings.setup())?;
        Ok(Compiled {
            from: pillar_digest(&files),
            compilation,
        })
    }

    pub(super) async fn plan_again(&mut self) -> Result<(), Failure> {
        if self.exact {
            return Err(stale("the pillar changed after the plan was made"));
        }
        let confirmed = &self.subject.plan;
        let Planned {
            plan: mut again,
            beforehand,
            ..
        } = match &self.subject.takes_back {
            Some(other) => {
                let other = super::find(&self.store.borrow(), other)?;
                take_back::plan_rollback(self.estate, self.engines, &other).await?
            }
            None => make_plan(self.estate, Some(self.engines), &Wish::again(confirmed)).await?,
        };
        if let Some(more) = again.changes.iter().find(|change| !includes(confirmed, change)) {
            return Err(stale(&format!(
                "the pillar changed after the plan was made, which would now change {} differently",
                more.address
            )));
        }
        // The engines are not asked under the locks: what they said was confirmed with the changes that are still asked for.
        again.effects.clone_from(&confirmed.effects);
        again.unasked.clone_from(&confirmed.unasked);
        self.store
            .borrow_mut()
            .replace_plan(&self.subject.id, &to_json(&again))?;
        // Made a moment ago and under the lock, but a person's editor takes no lock.
        let inputs = Inputs::read(self.estate)?;
        let setup = self.estate.settings.setup();
        self.compiled = beforehand.and_then(|made| made.if_unchanged(&inputs, &setup, &again.release));
        if self.compiled.is_none() {
            return Err(stale("the pillar changed while the plan was made again"));
        }
        self.subject.plan = again;
        Ok(())
    }

    /// What the pillar compiles to now; others may have added to it, but not changed what this operation is about.
    pub(super) fn recompile(&mut self) -> Result<&Compilation, Failure> {
        let from = pillar_digest(&self.estate.pillar_files()?);
        if self.compiled.as_ref().is_none_or(|known| known.from != from) {
            let compilation = self.estate.compile()?;
            serves(&self.subject.plan, &compilation)?;
            self.compiled = Some(Compiled { from, compilation });
        }
        Ok(self.compilation())
    }

    pub(super) fn compilation(&self) -> &Compilation {
        let compiled = self.compiled.as_ref();
        &compiled.expect("a run compiles before it uses that").compilation
    }
}

pub(super) async fn refuse_hand_edits(estate: &Estate, compilation: &Compilation) -> Result<(), EngineError> {
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
            .with_hint("Put the change into the pillar; `eos compile` then writes the file again"))
        }
    }
}

/// Whether a compilation has, of all that the plan's steps are about, what they expect.
pub(super) fn serves(plan: &Plan, compilation: &Compilation) -> Result<(), EngineError> {
    let changed = plan.steps.iter().find(|step| {
        let request = step.work.request();
        request.is_some_and(|request| !request.is_served(&step.key(), compilation))
    });
    match changed {
        None => Ok(()),
        Some(step) => Err(EngineError::new(
            Layer::Estate,
            ErrorKind::Conflict,
            "the plan",
            format!("{} changed in the pillar after the plan was made", step.component),
        )
        .with_hint("Make a new plan")),
    }
}

/// Whether this change was among those that were confirmed; where its values stand in the pillar does not matter.
pub(super) fn includes(confirmed: &Plan, change: &Change) -> bool {
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
