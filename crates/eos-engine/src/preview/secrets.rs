//! What Eos's own steps would do to secrets: which items they write. Values are compared, and told to nobody.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::compile::Compilation;
use eos_core::plan::effects::{Effect, EffectAttribute, Engine, Of};
use eos_core::plan::{Action, Plan, Previous, SecretWork, Step, Work};
use eos_core::profile::Profile;
use secrecy::{ExposeSecret, SecretString};

use crate::engines::Engines;
use crate::error::EngineError;
use crate::secrets::{SecretPath, Secrets};

/// Step -> what it does; nothing where it writes nothing.
pub(super) type SecretEffects = BTreeMap<String, Result<Option<Effect>, EngineError>>;

type Items = BTreeMap<String, SecretString>;

pub(super) async fn secret_effects(
    engines: &Engines,
    compilation: &Compilation,
    plan: &Plan,
) -> SecretEffects {
    let mut found = SecretEffects::new();
    let mut writes = Writes {
        engines,
        compilation,
        written: BTreeSet::new(),
    };
    for step in &plan.steps {
        let answer = match &step.work {
            Work::Secret { path, items } => writes.written_by(step, path, items).await,
            Work::RestoreSecret { path, previous } => writes.restored_by(step, path, previous).await,
            Work::RemoveSecret { path } => writes.removed_by(step, path).await,
            _ => continue,
        };
        found.insert(step.id.clone(), answer);
    }
    found
}

struct Writes<'a> {
    engines: &'a Engines,
    compilation: &'a Compilation,
    /// Component and item of what earlier steps of the plan write.
    written: BTreeSet<(String, String)>,
}

impl Writes<'_> {
    async fn there(&self, environment: &str, path: &str) -> Result<Option<Items>, EngineError> {
        let at = SecretPath {
            namespace: environment,
            path,
        };
        let entry = self.engines.secrets().entry(at).await?;
        Ok(entry.map(|entry| entry.items))
    }

    async fn written_by(
        &mut self,
        step: &Step,
        path: &str,
        items: &[SecretWork],
    ) -> Result<Option<Effect>, EngineError> {
        let there = self.there(&step.environment, path).await?;
        let mut changed = Vec::new();
        for work in items {
            let old = there.as_ref().and_then(|there| there.get(&work.item));
            let changes = match &work.copy_of {
                None => work.given || work.rotate || old.is_none(),
                Some(copy) => {
                    let source = (copy.component.clone(), copy.item.clone());
                    self.written.contains(&source) || old.is_none() || {
                        let new = self.copied(&step.environment, &source).await?;
                        new.as_ref().map(ExposeSecret::expose_secret) != old.map(ExposeSecret::expose_secret)
                    }
                }
            };
            if changes {
                changed.push(work.item.clone());
                self.written.insert((step.component.clone(), work.item.clone()));
            }
        }
        let action = match there {
            Some(_) => Action::Change,
            None => Action::Create,
        };
        Ok((!changed.is_empty()).then(|| self.effect(step, path, action, changed)))
    }

    /// The value of another component's secret, where that is there.
    async fn copied(
        &self,
        environment: &str,
        (component, item): &(String, String),
    ) -> Result<Option<SecretString>, EngineError> {
        let Some(used) = self.compilation.component(environment, component) else {
            return Ok(None);
        };
        let there = self.there(environment, &used.secret_path()).await?;
        Ok(there.and_then(|mut items| items.remove(item)))
    }

    async fn restored_by(
        &mut self,
        step: &Step,
        path: &str,
        previous: &Previous,
    ) -> Result<Option<Effect>, EngineError> {
        if *previous == Previous::Nothing {
            return self.removed_by(step, path).await;
        }
        let at = SecretPath {
            namespace: &step.environment,
            path,
        };
        let there = self.there(&step.environment, path).await?.unwrap_or_default();
        let before = self.engines.secrets().remembered(at, previous).await?;
        let names: BTreeSet<&String> = there.keys().chain(before.keys()).collect();
        let value =
            |items: &Items, name: &String| items.get(name).map(|value| value.expose_secret().to_owned());
        let changed: Vec<String> = names
            .into_iter()
            .filter(|name| value(&there, name) != value(&before, name))
            .cloned()
            .collect();
        for item in &changed {
            self.written.insert((step.component.clone(), item.clone()));
        }
        Ok((!changed.is_empty()).then(|| self.effect(step, path, Action::Change, changed)))
    }

    async fn removed_by(&self, step: &Step, path: &str) -> Result<Option<Effect>, EngineError> {
        let there = self.there(&step.environment, path).await?;
        Ok(there.map(|_| self.effect(step, path, Action::Delete, Vec::new())))
    }

    fn effect(&self, step: &Step, path: &str, action: Action, items: Vec<String>) -> Effect {
        let object = match self.compilation.profile {
            Profile::Solo => format!("nomad/variable/{}/{path}", step.environment),
            Profile::Full => format!("vault/secret/{path}"),
        };
        let of = Of {
            environment: &step.environment,
            component: &step.component,
        };
        let attributes = items
            .into_iter()
            .map(|item| EffectAttribute::unknown(item, None))
            .collect();
        of.effect(Engine::Eos, object, action, attributes)
    }
}
