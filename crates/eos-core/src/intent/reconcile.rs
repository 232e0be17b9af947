//! Bringing what runs back to what the pillar says: the components concerned get the next generation, and nothing else
//! about them changes.

use super::{Editor, Intent, Verb, missing, new_component, owned_by_another, words};
use crate::address::Address;
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::emit::terraform::PLATFORM;
use crate::pillar::{GENERATIONS, Pillar};
use crate::splice;
use crate::yaml;

pub fn edit(
    editor: &mut Editor,
    pillar: &Pillar,
    catalog: &Catalog,
    intent: &Intent,
) -> Result<(), Vec<Diagnostic>> {
    for name in intent.options.keys().filter(|name| !is_address(name)) {
        if name == PLATFORM {
            let now = pillar.generations.get(&intent.environment);
            let next = yaml::Value::Integer(next(now.copied().unwrap_or_default(), PLATFORM)?.into());
            editor.text = splice::set(&editor.file, &editor.text, &["generation"], &next)
                .map_err(|found| vec![found])?;
            continue;
        }
        let one = Intent {
            component: name.clone(),
            ..intent.clone()
        };
        match pillar.component(&intent.environment, name) {
            Some(existing) => {
                let generation = next(existing.generation, name)?;
                editor.set(&[name, "generation"], &generation.into())?;
                let asked = new_component(&one, &existing.recipe);
                editor.set(&[name, "intent"], &words(&asked))?;
            }
            // What another has for its own use is written down when something is first to be said about it.
            None => match owned_by_another(pillar, catalog, &one) {
                Some(recipe) => {
                    let mut component = new_component(&one, &recipe);
                    component.generation = 1;
                    editor.add(&component)?;
                }
                None => return Err(vec![missing(pillar, catalog, &one)]),
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

/// A component has no slash in its name.
fn is_address(name: &str) -> bool {
    name.contains('/')
}

impl Intent {
    /// Whether it has what this address names made again, though nothing in the pillar changes about it.
    pub fn makes_again(&self, address: &Address) -> bool {
        self.verb == Verb::Reconcile && self.options.contains_key(&address.to_string())
    }
}
