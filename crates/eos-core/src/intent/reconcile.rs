//! Bringing what runs back to what the pillar says: the components concerned get the next generation, and nothing else
//! about them changes.

use super::{Editor, Intent, Sentence, Subject, words};
use crate::address::Address;
use crate::diagnostic::Diagnostic;
use crate::emit::terraform::PLATFORM;
use crate::pillar::GENERATIONS;
use crate::splice;
use crate::yaml;
use std::collections::BTreeSet;

pub fn edit(
    editor: &mut Editor,
    subject: &Subject<'_>,
    components: &BTreeSet<String>,
) -> Result<(), Vec<Diagnostic>> {
    for name in components {
        if name == PLATFORM {
            let now = subject.pillar.generations.get(subject.environment);
            let next = yaml::Value::Integer(next(now.copied().unwrap_or_default(), PLATFORM)?.into());
            editor.text = splice::set(&editor.file, &editor.text, &["generation"], &next)
                .map_err(|found| vec![found])?;
            continue;
        }
        let one = Subject { name, ..*subject };
        match one.existing() {
            Some(existing) => {
                let generation = next(existing.generation, name)?;
                editor.set(&[name, "generation"], &generation.into())?;
                let asked = one.new_component(&existing.recipe);
                editor.set(&[name, "intent"], &words(&asked))?;
            }
            // What another has for its own use is written down when something is first to be said about it.
            None => match one.owned_by_another() {
                Some(recipe) => {
                    let mut component = one.new_component(&recipe);
                    component.generation = 1;
                    editor.add(&component)?;
                }
                None => return Err(vec![one.missing()]),
            },
        }
    }
    Ok(())
}

fn next(generation: u32, name: &str) -> Result<u32, Vec<Diagnostic>> {
    match generation < GENERATIONS {
        true => Ok(generation + 1),
        false => Err(vec![
            Diagnostic::new(format!(
                "{name} is at generation {generation}, and there is no higher one"
            ))
            .hint("Write generation: 1 into the pillar, then `eos apply`"),
        ]),
    }
}

impl Intent {
    /// Whether it has what this address names made again, though nothing in the pillar changes about it.
    pub fn makes_again(&self, address: &Address) -> bool {
        matches!(&self.sentence, Sentence::Reconcile { parts, .. } if parts.contains(address))
    }
}
