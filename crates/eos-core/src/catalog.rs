//! The catalog: the built-in recipes and the estate's own.

use crate::diagnostic::Diagnostic;
use crate::name::{closest, quoted};
use crate::recipe::Recipe;
use std::collections::BTreeMap;

/// Recipes that ship with Eos: file name and text.
const BUILT_IN: &[(&str, &str)] = &[
    (
        "catalog/grafana/recipe.yaml",
        include_str!("../../../catalog/grafana/recipe.yaml"),
    ),
    (
        "catalog/hello/recipe.yaml",
        include_str!("../../../catalog/hello/recipe.yaml"),
    ),
];

#[derive(Clone, Debug, Default)]
pub struct Catalog {
    recipes: BTreeMap<String, Recipe>,
}

impl Catalog {
    /// The built-in recipes and, over them, the estate's own `(file, text)`.
    pub fn load(own: &[(String, Vec<u8>)]) -> Result<Self, Vec<Diagnostic>> {
        let built_in = BUILT_IN.iter().map(|(file, text)| (*file, text.as_bytes()));
        let own = own.iter().map(|(file, text)| (file.as_str(), text.as_slice()));
        let mut catalog = Self::default();
        let mut diagnostics = Vec::new();
        for (file, text) in built_in.chain(own) {
            match Recipe::parse(file, text) {
                Ok(recipe) => {
                    catalog.recipes.insert(recipe.name.clone(), recipe);
                }
                Err(found) => diagnostics.extend(found),
            }
        }
        if diagnostics.is_empty() {
            Ok(catalog)
        } else {
            Err(diagnostics)
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.recipes.values()
    }

    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.recipes.get(name)
    }

    /// The recipe, or what to say when there is none of that name.
    pub fn find(&self, name: &str) -> Result<&Recipe, Diagnostic> {
        self.get(name).ok_or_else(|| {
            let unknown = Diagnostic::new(format!("There is no recipe {}", quoted(name)));
            unknown.hint(match closest(name, self.recipes.keys().map(String::as_str)) {
                Some(meant) => format!("Did you mean {meant}? `eos catalog list` shows them all"),
                None => "`eos catalog list` shows them all".to_owned(),
            })
        })
    }
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
            ["grafana", "hello"]
        );
        assert!(
            catalog
                .find("grafna")
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
