//! A component whose recipe comes with it: the estate keeps the text at its pin, and the catalog does not list it.

use super::{Options, create as create_component, edit_component};
use crate::catalog::{Catalog, kept_file};
use crate::diagnostic::Diagnostic;
use crate::pillar::{PillarFiles, Words};
use crate::recipe::Recipe;

pub fn create(
    files: &PillarFiles,
    catalog: &Catalog,
    said: &Words,
    (environment, name): (&str, &str),
    text: &str,
    options: &Options,
) -> Result<PillarFiles, Vec<Diagnostic>> {
    let recipe = Recipe::parse("the recipe of the container", text.as_bytes())?;
    if let Some(there) = catalog.get(&recipe.name) {
        let words = format!("There is a recipe {name} already, in {}", there.file);
        let hint =
            format!("Choose another name, or create a component from that recipe: `eos create {name}`");
        return Err(vec![Diagnostic::new(words).hint(hint)]);
    }
    let file = kept_file(&recipe);
    let mut catalog = catalog.clone();
    let is_new = !catalog.keeps(&recipe);
    catalog.keep(&file, text.as_bytes())?;
    let pinned = (recipe.name.as_str(), Some(recipe.pin.as_str()));
    let mut edited = edit_component(
        files,
        &catalog,
        said,
        (environment, name),
        &[],
        |editor, subject| create_component(editor, subject, pinned, options),
    )?;
    if is_new && edited != *files {
        edited.insert(file, text.as_bytes().to_vec());
    }
    Ok(edited)
}
