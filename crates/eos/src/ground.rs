//! The estate that a command works in: opened once, for the flags of its recipe and for the verb.

use crate::commands::find_component;
use crate::commands::nouns::NOUNS;
use crate::peek::Peek;
use crate::problem::Problem;
use eos_core::catalog::Catalog;
use eos_core::compose::whole;
use eos_core::diagnostic::Diagnostic;
use eos_core::name::{RESERVED, quoted};
use eos_core::pillar::Pillar;
use eos_core::recipe::Recipe;
use eos_engine::EngineError;
use eos_engine::estate::Estate;
use std::path::Path;

/// It holds the estate if somebody opened it.
#[derive(Default)]
pub struct Ground {
    opened: Option<Estate>,
}

impl Ground {
    /// The estate, opened unless it is already. Who takes it may change its settings.
    pub fn take(&mut self, given: Option<&Path>) -> Result<Estate, EngineError> {
        match self.opened.take() {
            Some(estate) => Ok(estate),
            None => Estate::open(given),
        }
    }

    fn estate(&mut self, given: Option<&Path>) -> Result<&Estate, EngineError> {
        let estate = self.take(given)?;
        Ok(self.opened.insert(estate))
    }

    /// The recipe whose options are flags of the command.
    pub fn recipe_of(&mut self, peek: &Peek) -> Result<Option<Recipe>, Problem> {
        // A noun with flags of its own is a command below the verb.
        let Some(subject) = peek
            .subject
            .as_ref()
            .filter(|subject| !NOUNS.contains(&subject.as_str()))
        else {
            return Ok(None);
        };
        match peek.verb.as_deref() {
            Some("create") => {
                // Without an estate the built-in recipes can still be asked about; the verb itself will say what is missing.
                let catalog = match self.estate(peek.estate.as_deref()) {
                    Ok(estate) => estate.catalog()?,
                    Err(_) => Catalog::load(&[])?,
                };
                let known = catalog.find(subject, None).map_err(|unknown| {
                    match RESERVED.contains(&subject.as_str()) {
                        true => not_yet(subject),
                        false => unknown,
                    }
                });
                Ok(Some(
                    known.map_err(|unknown| Problem::Usage(vec![unknown]))?.clone(),
                ))
            }
            Some("update") => {
                let estate = self.estate(peek.estate.as_deref())?;
                let environment = peek
                    .environment
                    .as_deref()
                    .unwrap_or(&estate.settings.environment);
                let mut pillar = Pillar::read(&estate.pillar_files()?)?;
                let catalog = estate.catalog()?;
                if pillar.component(environment, subject).is_none() {
                    pillar = whole(&pillar, &catalog)?;
                }
                let component = find_component(&pillar, environment, subject)?;
                let unknown =
                    |unknown: Diagnostic| vec![unknown.at(&component.at.file, component.at.position)];
                let pin = component.pinned.get(&component.recipe).map(String::as_str);
                let pin = pin.filter(|_| !peek.upgrade);
                Ok(Some(
                    catalog.find(&component.recipe, pin).map_err(unknown)?.clone(),
                ))
            }
            _ => Ok(None),
        }
    }
}

/// A noun of the language that no recipe stands for.
fn not_yet(noun: &str) -> Diagnostic {
    Diagnostic::new(format!(
        "{} is a reserved word: no recipe has this name, and this version of Eos cannot create it",
        quoted(noun)
    ))
    .hint("`eos catalog list` shows what can be created")
}
