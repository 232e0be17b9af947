//! Intents: what a person asked for, and the one pure function that writes it into the pillar.

use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::name::{self, quoted};
use crate::option::{HIDDEN, OptionType};
use crate::pillar::{Component, Pillar, PillarFiles, environment_file};
use crate::splice;
use crate::yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Create,
    Update,
    Delete,
}

/// "create component grafana in production with {port: 3000}". Secret values are not in it: only that they were given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub verb: Verb,
    pub environment: String,
    pub component: String,
    /// The recipe; for `create` only.
    pub recipe: Option<String>,
    pub options: BTreeMap<String, Value>,
    /// The command as typed, secrets as `***`.
    pub words: String,
    pub who: String,
    pub when: String,
}

/// An environment file that holds nothing yet.
pub fn empty_environment_file() -> &'static str {
    "#!yaml\ncomponents: {}\n"
}

/// The pillar after the intent. What the intent leaves as it is keeps its bytes.
pub fn edit(files: &PillarFiles, catalog: &Catalog, intent: &Intent) -> Result<PillarFiles, Vec<Diagnostic>> {
    let pillar = Pillar::read(files)?;
    let file = environment_file(&intent.environment);
    let text = match files.get(&file) {
        Some(bytes) => String::from_utf8(bytes.clone())
            .map_err(|_| vec![Diagnostic::new(format!("{file} is not UTF-8"))])?,
        None => empty_environment_file().to_owned(),
    };
    let existing = pillar.component(&intent.environment, &intent.component);
    let edited = match intent.verb {
        Verb::Create => create(catalog, intent, existing, &file, &text)?,
        Verb::Update => update(catalog, intent, existing, &file, &text)?,
        Verb::Delete => {
            require(&pillar, intent, existing)?;
            splice::remove(&file, &text, &["components", &intent.component]).map_err(|found| vec![found])?
        }
    };
    let mut files = files.clone();
    files.insert(file, edited.into_bytes());
    Ok(files)
}

fn create(
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
    file: &str,
    text: &str,
) -> Result<String, Vec<Diagnostic>> {
    if let Some(problem) = name::problem("component", &intent.component) {
        return Err(vec![Diagnostic::new(problem)]);
    }
    let recipe_name = intent.recipe.as_deref().unwrap_or(&intent.component);
    let recipe = catalog.find(recipe_name).map_err(|found| vec![found])?;
    let options = checked(recipe, &intent.options)?;
    if let Some(existing) = existing {
        let same = existing.recipe == recipe_name
            && options
                .iter()
                .all(|(name, value)| existing.options.get(name).is_some_and(|had| had.value == *value));
        return if same {
            Ok(text.to_owned())
        } else {
            Err(vec![
                Diagnostic::new(format!(
                    "{} exists in {} with other options",
                    intent.component, intent.environment
                ))
                .hint(format!("Change it with `eos update {}`", intent.component)),
            ])
        };
    }
    let mut component = serde_json::Map::new();
    component.insert("recipe".to_owned(), recipe_name.into());
    if !options.is_empty() {
        component.insert("options".to_owned(), Value::Object(options.into_iter().collect()));
    }
    component.insert("intent".to_owned(), words(intent));
    set(
        file,
        text,
        &["components", &intent.component],
        &Value::Object(component),
    )
}

fn update(
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
    file: &str,
    text: &str,
) -> Result<String, Vec<Diagnostic>> {
    let Some(existing) = existing else {
        return Err(vec![missing(intent, std::iter::empty())]);
    };
    let recipe = catalog.find(&existing.recipe).map_err(|found| vec![found])?;
    let options = checked(recipe, &intent.options)?;
    let changed: Vec<_> = options
        .into_iter()
        .filter(|(name, value)| {
            value == HIDDEN || existing.options.get(name).is_none_or(|had| had.value != *value)
        })
        .collect();
    if changed.is_empty() {
        return Ok(text.to_owned());
    }
    let mut text = text.to_owned();
    for (name, value) in changed {
        text = set(
            file,
            &text,
            &["components", &intent.component, "options", &name],
            &value,
        )?;
    }
    set(
        file,
        &text,
        &["components", &intent.component, "intent"],
        &words(intent),
    )
}

fn set(file: &str, text: &str, path: &[&str], value: &Value) -> Result<String, Vec<Diagnostic>> {
    splice::set(file, text, path, &yaml_value(value)).map_err(|found| vec![found])
}

fn yaml_value(value: &Value) -> yaml::Value {
    match value {
        Value::Null => yaml::Value::Null,
        Value::Bool(flag) => yaml::Value::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => yaml::Value::Integer(whole),
            None => yaml::Value::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => yaml::Value::String(text.clone()),
        Value::Array(items) => yaml::Value::list(items.iter().map(yaml_value)),
        Value::Object(entries) => yaml::Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.as_str(), yaml_value(value))),
        ),
    }
}

fn words(intent: &Intent) -> Value {
    serde_json::json!({"words": intent.words, "who": intent.who, "when": intent.when})
}

/// The options of an intent, each of a kind its recipe knows.
fn checked(
    recipe: &crate::recipe::Recipe,
    options: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut result = BTreeMap::new();
    for (name, value) in options {
        let Some(spec) = recipe.settable().find(|option| option.name == *name) else {
            found.push(unknown_option(recipe, name));
            continue;
        };
        let value = match spec.kind {
            OptionType::Secret => Ok(Value::from(HIDDEN)),
            _ => spec.kind.check(value.clone()),
        };
        match value {
            Ok(value) => {
                result.insert(name.clone(), value);
            }
            Err(why) => found.push(Diagnostic::new(format!(
                "Option {name} of {}: {why}",
                recipe.name
            ))),
        }
    }
    if found.is_empty() { Ok(result) } else { Err(found) }
}

/// What to say about an option that a recipe does not have.
pub fn unknown_option(recipe: &crate::recipe::Recipe, name: &str) -> Diagnostic {
    let unknown = Diagnostic::new(format!("Recipe {} has no option {}", recipe.name, quoted(name)));
    unknown.hint(
        match name::closest(name, recipe.settable().map(|option| option.name.as_str())) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!("`eos catalog show {}` lists its options", recipe.name),
        },
    )
}

fn require(pillar: &Pillar, intent: &Intent, existing: Option<&Component>) -> Result<(), Vec<Diagnostic>> {
    let names = pillar
        .components
        .keys()
        .filter(|(environment, _)| *environment == intent.environment);
    match existing {
        Some(_) => Ok(()),
        None => Err(vec![missing(intent, names.map(|(_, name)| name.as_str()))]),
    }
}

fn missing<'a>(intent: &Intent, names: impl Iterator<Item = &'a str>) -> Diagnostic {
    let missing = Diagnostic::new(format!(
        "There is no component {} in {}",
        quoted(&intent.component),
        intent.environment
    ));
    missing.hint(match name::closest(&intent.component, names) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => "`eos list` shows what there is".to_owned(),
    })
}
