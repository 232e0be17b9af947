//! The catalog: the built-in recipes and the estate's own.

use crate::diagnostic::Diagnostic;
use crate::name::{closest, named, quoted};
use crate::recipe::{Recipe, check_uses};
use std::collections::BTreeMap;

macro_rules! built_in {
    ($name:literal) => {
        (
            concat!("catalog/", $name, "/recipe.yaml"),
            include_str!(concat!("../../../catalog/", $name, "/recipe.yaml")),
        )
    };
}

/// Recipes that ship with Eos: file name and text.
pub const BUILT_IN: &[(&str, &str)] = &[
    built_in!("alertmanager"),
    built_in!("grafana"),
    built_in!("hecate-proxy"),
    built_in!("hello"),
    built_in!("jenkins"),
    built_in!("mattermost"),
    built_in!("postgres"),
    built_in!("prometheus"),
    built_in!("redis"),
];

/// Where an estate keeps the recipes that its components are pinned to: `<name>/<pin>.yaml` below it.
pub const KEPT: &str = "recipes/kept/";

#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The newest of each.
    recipes: BTreeMap<String, Recipe>,
    /// By name and pin: as they were when a component was made from them.
    kept: BTreeMap<(String, String), Recipe>,
}

impl Catalog {
    /// The built-in recipes and, over them, the estate's own `(file, text)`, with those it keeps.
    pub fn load(own: &[(String, Vec<u8>)]) -> Result<Self, Vec<Diagnostic>> {
        let built_in = BUILT_IN.iter().map(|(file, text)| (*file, text.as_bytes()));
        let own = own.iter().map(|(file, text)| (file.as_str(), text.as_slice()));
        let mut catalog = Self::default();
        let mut files = BTreeMap::new();
        let mut diagnostics = Vec::new();
        for (file, text) in built_in.chain(own) {
            match Recipe::parse(file, text) {
                Ok(recipe) if file.starts_with(KEPT) => {
                    diagnostics.extend(catalog.keep_read(file, recipe).err());
                }
                Ok(recipe) => {
                    let other = files.insert(recipe.name.clone(), file);
                    if let Some(other) = other.filter(|other| !other.starts_with("catalog/")) {
                        diagnostics.push(twice(&recipe, other));
                    }
                    catalog.recipes.insert(recipe.name.clone(), recipe);
                }
                Err(found) => diagnostics.extend(found),
            }
        }
        for recipe in catalog.recipes.values() {
            diagnostics.extend(check_uses(recipe, &catalog));
        }
        if diagnostics.is_empty() {
            Ok(catalog)
        } else {
            Err(diagnostics)
        }
    }

    /// The newest of each recipe.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.recipes.values()
    }

    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.recipes.get(name)
    }

    /// Takes a recipe that is kept from now on.
    pub fn keep(&mut self, file: &str, text: &[u8]) -> Result<(), Vec<Diagnostic>> {
        let recipe = Recipe::parse(file, text)?;
        self.keep_read(file, recipe).map_err(|found| vec![found])
    }

    fn keep_read(&mut self, file: &str, recipe: Recipe) -> Result<(), Diagnostic> {
        if file != kept_file(&recipe) {
            return Err(edited(file));
        }
        self.kept
            .insert((recipe.name.clone(), recipe.pin.clone()), recipe);
        Ok(())
    }

    pub fn keeps(&self, recipe: &Recipe) -> bool {
        self.kept.contains_key(&(recipe.name.clone(), recipe.pin.clone()))
    }

    /// The recipe at its pin, or the newest; or what to say when there is none.
    pub fn find(&self, name: &str, pin: Option<&str>) -> Result<&Recipe, Diagnostic> {
        let newest = self.get(name);
        let Some(pin) = pin.filter(|pin| newest.is_none_or(|newest| newest.pin != *pin)) else {
            return newest.ok_or_else(|| self.unknown(name));
        };
        self.kept.get(&(name.to_owned(), pin.to_owned())).ok_or_else(|| {
            Diagnostic::new(format!("Recipe {name} is not kept at {}", quoted(pin))).hint(format!(
                "Restore {KEPT}{name}/{pin}.yaml from git, or take the newest with `eos update COMPONENT --upgrade`"
            ))
        })
    }

    fn unknown(&self, name: &str) -> Diagnostic {
        let unknown = Diagnostic::new(format!("There is no recipe {}", named(name)));
        unknown.hint(match closest(name, self.recipes.keys().map(String::as_str)) {
            Some(meant) => format!("Did you mean {meant}? `eos catalog list` shows them all"),
            None => "`eos catalog list` shows them all".to_owned(),
        })
    }
}

/// The file in which an estate keeps a recipe.
pub fn kept_file(recipe: &Recipe) -> String {
    format!("{KEPT}{}/{}.yaml", recipe.name, recipe.pin)
}

fn twice(recipe: &Recipe, other: &str) -> Diagnostic {
    Diagnostic::new(format!("Recipe \"{}\" is there twice", recipe.name))
        .at(&recipe.file, recipe.at)
        .hint(format!("Rename one of them; the other is {}", quoted(other)))
}

fn edited(file: &str) -> Diagnostic {
    Diagnostic::new(format!("{file} is not what its name says: it was edited"))
        .hint("Components are pinned to it as it was; restore it with git, and edit recipes/NAME/recipe.yaml instead")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_recipes_are_sound() {
        let catalog = Catalog::load(&[]).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(
            catalog
                .iter()
                .map(|recipe| recipe.name.as_str())
                .collect::<Vec<_>>(),
            [
                "alertmanager",
                "grafana",
                "hecate-proxy",
                "hello",
                "jenkins",
                "mattermost",
                "postgres",
                "prometheus",
                "redis"
            ]
        );
        assert!(
            catalog
                .find("grafna", None)
                .unwrap_err()
                .hint
                .unwrap()
                .contains("grafana")
        );
    }

    #[test]
    fn a_secret_outside_of_secrets_is_a_recipe_error() {
        let text = include_str!("../../../catalog/grafana/recipe.yaml").replace(
            "check: {http: /api/health}",
            "check: {http: \"/{{ admin_password }}\"}",
        );
        let found = Recipe::parse("r.yaml", text.as_bytes()).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("admin_password"), "{found:?}");
        assert!(found[0].at.is_some());
    }
}
