//! What steps would do to secrets: which items they write. Values are compared by the control minion, and told to nobody.

use std::collections::{BTreeMap, BTreeSet};

use eos_core::compile::Compilation;
use eos_core::kinds::secret::{How, Moved, Previous, SecretWork};
use eos_core::plan::effects::{Effect, EffectAttribute, Engine, Of};
use eos_core::plan::{Action, Plan, Step, Work};
use eos_core::profile::Profile;

use crate::engines::Engines;
use crate::error::EngineError;
use crate::secrets::{SecretSeen, observe};

/// Step -> what it does; nothing where it writes nothing.
pub(super) type SecretEffects = BTreeMap<String, Result<Option<Effect>, EngineError>>;

/// Item -> its mark, if the person may know which values are equal.
type Marks = BTreeMap<String, Option<String>>;

pub(super) async fn secret_effects(
    engines: &Engines,
    compilation: &Compilation,
    plan: &Plan,
) -> SecretEffects {
    let seen = observe(engines, &asked(plan)).await;
    let mut writes = Writes {
        compilation,
        seen: seen.as_ref().map_err(Clone::clone),
        written: BTreeSet::new(),
    };
    let steps = plan.steps.iter();
    let effects = steps.filter_map(|step| Some((step.id.clone(), writes.of(step)?)));
    effects.collect()
}

/// The components whose secrets the plan's steps write or copy, with the version that one of them restores.
fn asked(plan: &Plan) -> BTreeMap<String, Option<u64>> {
    let mut asked = BTreeMap::new();
    for step in &plan.steps {
        let name = |component: &str| format!("{}/{component}", step.environment);
        let Work::Secret(moved) = &step.work else { continue };
        match &moved.how {
            How::Write { items } => {
                let sources = items.iter().filter_map(|work| work.copy_of.as_ref());
                for component in sources.map(|copy| &copy.component).chain([&step.component]) {
                    asked.entry(name(component)).or_insert(None);
                }
            }
            How::Restore {
                previous: Previous::Version(version),
            } => {
                asked.insert(name(&step.component), Some(*version));
            }
            How::Restore { .. } | How::Remove {} => {
                asked.entry(name(&step.component)).or_insert(None);
            }
        }
    }
    asked
}

struct Writes<'a> {
    compilation: &'a Compilation,
    seen: Result<&'a BTreeMap<String, SecretSeen>, EngineError>,
    /// Component and item of what earlier steps of the plan write.
    written: BTreeSet<(String, String)>,
}

impl Writes<'_> {
    fn of(&mut self, step: &Step) -> Option<Result<Option<Effect>, EngineError>> {
        let Work::Secret(Moved { path, how, .. }) = &step.work else {
            return None;
        };
        let seen = match &self.seen {
            Ok(seen) => *seen,
            Err(error) => return Some(Err(error.clone())),
        };
        let there = items(seen, &step.environment, &step.component);
        let changed = match how {
            How::Write { items } => self.written_by(seen, step, items),
            How::Restore { previous } if *previous != Previous::Nothing => {
                let before = seen.get(&step.place()).and_then(|seen| seen.then.as_ref());
                different(there, before)
            }
            How::Restore { .. } | How::Remove {} => {
                return Some(Ok(
                    there.map(|_| self.effect(step, path, Action::Delete, Vec::new()))
                ));
            }
        };
        let own = changed.iter().map(|item| (step.component.clone(), item.clone()));
        self.written.extend(own);
        let action = match there {
            Some(_) => Action::Change,
            None => Action::Create,
        };
        Some(Ok(
            (!changed.is_empty()).then(|| self.effect(step, path, action, changed))
        ))
    }

    fn written_by(
        &self,
        seen: &BTreeMap<String, SecretSeen>,
        step: &Step,
        works: &[SecretWork],
    ) -> Vec<String> {
        let there = items(seen, &step.environment, &step.component);
        let changes = |work: &&SecretWork| {
            let Some(old) = there.and_then(|there| there.get(&work.item)) else {
                return true;
            };
            match &work.copy_of {
                None => work.given || work.rotate,
                Some(copy) => {
                    let source = items(seen, &step.environment, &copy.component);
                    let new = source.and_then(|source| source.get(&copy.item));
                    let is_written = self
                        .written
                        .contains(&(copy.component.clone(), copy.item.clone()));
                    is_written || old.is_none() || new != Some(old)
                }
            }
        };
        let changed = works.iter().filter(changes);
        changed.map(|work| work.item.clone()).collect()
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

fn items<'s>(
    seen: &'s BTreeMap<String, SecretSeen>,
    environment: &str,
    component: &str,
) -> Option<&'s Marks> {
    seen.get(&format!("{environment}/{component}"))?.items.as_ref()
}

/// The items of two versions that differ, as far as the person may know; others may differ.
fn different(there: Option<&Marks>, before: Option<&Marks>) -> Vec<String> {
    let mark = |marks: Option<&Marks>, name: &String| marks.and_then(|marks| marks.get(name)).cloned();
    let names: BTreeSet<&String> = there.into_iter().chain(before).flat_map(BTreeMap::keys).collect();
    let differs = |name: &&String| {
        let (now, then) = (mark(there, name), mark(before, name));
        now != then || now == Some(None)
    };
    names.into_iter().filter(differs).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compared_may_differ() {
        let marks = |marks: &[(&str, Option<&str>)]| -> Marks {
            let owned = marks
                .iter()
                .map(|(name, mark)| ((*name).to_owned(), mark.map(str::to_owned)));
            owned.collect()
        };
        let there = marks(&[("a", Some("1")), ("b", Some("2")), ("c", None)]);
        let before = marks(&[("a", Some("1")), ("b", Some("3")), ("c", None), ("d", Some("4"))]);
        assert_eq!(different(Some(&there), Some(&before)), ["b", "c", "d"]);
        assert_eq!(different(Some(&there), None), ["a", "b", "c"]);
    }
}
