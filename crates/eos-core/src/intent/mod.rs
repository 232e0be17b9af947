//! Intents: what a person asked for, and the one pure function that writes it into the pillar.

mod environment;
mod host;
mod reconcile;
mod rotate;
mod settle;
mod volume;

use crate::catalog::Catalog;
use crate::compose::own_name;
use crate::diagnostic::{Diagnostic, Place, Position};
use crate::name;
use crate::option::{HIDDEN, OptionType};
use crate::pillar::{
    COMMON_FILE, Component, OptionValue, Pillar, PillarFiles, SetBy, Words, environment_file,
};
use crate::recipe::Recipe;
use crate::splice;
use crate::yaml;
pub use rotate::unknown as unknown_secret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use settle::{Settled, settle};
use std::collections::BTreeMap;
pub use volume::find as find_volume;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Create,
    Update,
    Delete,
    /// Bring what was tried in one environment into another.
    Promote,
    /// Give secrets new values.
    Rotate,
    /// Bring what runs back to what the pillar says.
    Reconcile,
}

/// What a verb is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noun {
    #[default]
    Component,
    Host,
    /// Storage: a volume that stands for itself, or one of a component's.
    Volume,
    /// All components of an environment at once.
    Environment,
}

/// "create component grafana in production with {port: 3000}". Secret values are not in it: only that they were given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub verb: Verb,
    #[serde(default)]
    pub noun: Noun,
    pub environment: String,
    /// The component (a volume that stands for itself counts as one), the host, or the environment.
    pub component: String,
    /// The recipe; for `create` only.
    pub recipe: Option<String>,
    /// What is set; null goes back to the default. Of `rotate`: the secrets, null where Eos makes the value; none means
    /// all of the component's own. Of `reconcile`: components whose jobs are registered again (`platform` for what they
    /// share), and addresses of what Salt makes again; all null.
    pub options: BTreeMap<String, Value>,
    /// The environment that is promoted from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Take the newest recipe in place of the one the component is pinned to.
    #[serde(default)]
    pub upgrade: bool,
    /// The command as typed, secrets as `***`.
    pub words: String,
    pub who: String,
    pub when: String,
}

impl Intent {
    /// Whether a volume is to go with its data.
    pub fn takes_data(&self) -> bool {
        self.noun == Noun::Volume
            && self.verb == Verb::Delete
            && self.options.get("with_data") == Some(&Value::Bool(true))
    }
}

/// An environment file that holds nothing yet.
pub fn empty_environment_file() -> &'static str {
    "#!yaml\ncomponents: {}\n"
}

/// The pillar after the intent, and the recipes that it is now pinned to. What the intent leaves as it is keeps its bytes.
pub fn edit(files: &PillarFiles, catalog: &Catalog, intent: &Intent) -> Result<PillarFiles, Vec<Diagnostic>> {
    match intent.noun {
        _ if intent.verb == Verb::Reconcile => {}
        Noun::Component => {}
        Noun::Volume => return volume::edit(files, catalog, intent),
        Noun::Host => return host::edit(files, &Pillar::read(files)?, intent),
        Noun::Environment => return environment::edit(files, catalog, intent),
    }
    // What other environments hold does not matter to a component of this one.
    let environments = [Some(&intent.environment), intent.from.as_ref()];
    let read: Vec<String> = environments
        .into_iter()
        .flatten()
        .map(|name| environment_file(name))
        .collect();
    let concerned = |path: &String| path == COMMON_FILE || read.contains(path);
    let some = files.iter().filter(|(path, _)| concerned(path));
    let pillar = Pillar::read(&some.map(|(path, text)| (path.clone(), text.clone())).collect())?;
    let existing = pillar.component(&intent.environment, &intent.component);
    let mut editor = Editor::open(files, &intent.environment)?;
    match intent.verb {
        Verb::Create => create(&mut editor, &pillar, catalog, intent, existing)?,
        Verb::Update => update(&mut editor, &pillar, catalog, intent, existing)?,
        Verb::Delete => delete(&mut editor, &pillar, catalog, intent, existing)?,
        Verb::Promote => promote(&mut editor, &pillar, catalog, intent, existing)?,
        Verb::Rotate => rotate::edit(&mut editor, &pillar, catalog, intent, existing)?,
        Verb::Reconcile => reconcile::edit(&mut editor, &pillar, catalog, intent)?,
    }
    Ok(editor.close())
}

/// Edits of one environment's file, and what is kept beside it.
struct Editor {
    files: PillarFiles,
    file: String,
    text: String,
}

impl Editor {
    fn open(files: &PillarFiles, environment: &str) -> Result<Self, Vec<Diagnostic>> {
        let file = environment_file(environment);
        let text = match files.get(&file) {
            Some(bytes) => String::from_utf8(bytes.clone())
                .map_err(|_| vec![Diagnostic::new(format!("{file} is not UTF-8"))])?,
            None => empty_environment_file().to_owned(),
        };
        Ok(Self {
            files: files.clone(),
            file,
            text,
        })
    }

    fn close(mut self) -> PillarFiles {
        self.files.insert(self.file, self.text.into_bytes());
        self.files
    }

    fn path<'p>(below: &[&'p str]) -> Vec<&'p str> {
        [&["components"], below].concat()
    }

    fn set(&mut self, below: &[&str], value: &Value) -> Result<(), Vec<Diagnostic>> {
        let path = Self::path(below);
        self.text =
            splice::set(&self.file, &self.text, &path, &yaml_value(value)).map_err(|found| vec![found])?;
        Ok(())
    }

    fn remove(&mut self, below: &[&str]) -> Result<(), Vec<Diagnostic>> {
        let path = Self::path(below);
        self.text = splice::remove(&self.file, &self.text, &path).map_err(|found| vec![found])?;
        Ok(())
    }

    /// Writes a component that was not there.
    fn add(&mut self, component: &Component) -> Result<(), Vec<Diagnostic>> {
        let mut fields = Map::new();
        fields.insert("recipe".to_owned(), component.recipe.as_str().into());
        if !component.options.is_empty() {
            let options = component.options.iter();
            let options = options.map(|(name, option)| (name.clone(), option.value.clone()));
            fields.insert("options".to_owned(), Value::Object(options.collect()));
        }
        if !component.pinned.is_empty() {
            fields.insert("pinned".to_owned(), pins(component));
        }
        if component.generation > 0 {
            fields.insert("generation".to_owned(), component.generation.into());
        }
        if !component.hosts.is_empty() {
            fields.insert("hosts".to_owned(), hosts(component));
        }
        fields.insert("intent".to_owned(), words(component));
        self.set(&[&component.name], &Value::Object(fields))
    }

    /// Writes what is new about a component that was there.
    fn change(&mut self, before: &Component, after: &Component) -> Result<(), Vec<Diagnostic>> {
        let name = after.name.as_str();
        let old = |option: &str| before.options.get(option).map(|option| &option.value);
        let mut changed = false;
        if before.recipe != after.recipe {
            self.set(&[name, "recipe"], &after.recipe.as_str().into())?;
            changed = true;
        }
        for (option, value) in &after.options {
            // A secret may have a new value behind the same mark.
            if old(option) != Some(&value.value) || value.value == HIDDEN {
                self.set(&[name, "options", option], &value.value)?;
                changed = true;
            }
        }
        for option in before
            .options
            .keys()
            .filter(|option| !after.options.contains_key(*option))
        {
            self.remove(&[name, "options", option])?;
            changed = true;
        }
        if before.pinned != after.pinned {
            self.set(&[name, "pinned"], &pins(after))?;
            changed = true;
        }
        if hosts(before) != hosts(after) {
            self.set(&[name, "hosts"], &hosts(after))?;
            changed = true;
        }
        match changed {
            true => self.set(&[name, "intent"], &words(after)),
            false => Ok(()),
        }
    }

    /// Writes what goes along with a component: shared ones that were missing, and the recipes it is pinned to.
    fn accompany(&mut self, settled: &Settled) -> Result<(), Vec<Diagnostic>> {
        for component in &settled.added {
            self.add(component)?;
        }
        self.files.extend(settled.kept.clone());
        Ok(())
    }
}

fn create(
    editor: &mut Editor,
    pillar: &Pillar,
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
) -> Result<(), Vec<Diagnostic>> {
    if let Some(problem) = name::problem("component", &intent.component) {
        return Err(vec![Diagnostic::new(problem)]);
    }
    let recipe_name = intent.recipe.as_deref().unwrap_or(&intent.component);
    let pin = existing.and_then(|existing| existing.pinned.get(recipe_name));
    let recipe = catalog
        .find(recipe_name, pin.map(String::as_str))
        .map_err(|found| vec![found])?;
    let options = checked(recipe, &intent.options)?;
    if let Some(existing) = existing {
        let had =
            |name: &str, value: &Value| existing.options.get(name).is_some_and(|had| had.value == *value);
        let same = existing.recipe == recipe_name && options.iter().all(|(name, value)| had(name, value));
        if same {
            return Ok(());
        }
        let words = format!(
            "{} exists in {} with other options",
            intent.component, intent.environment
        );
        let hint = format!("Change it with `eos update {}`", intent.component);
        return Err(vec![Diagnostic::new(words).hint(hint)]);
    }
    let mut component = new_component(intent, recipe_name);
    set_options(&mut component, options);
    let settled = settle(pillar, catalog, component);
    editor.add(&settled.component)?;
    editor.accompany(&settled)
}

fn update(
    editor: &mut Editor,
    pillar: &Pillar,
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
) -> Result<(), Vec<Diagnostic>> {
    let owned;
    let (before, there) = match existing {
        Some(existing) => (existing, true),
        // What another has for its own use is written down when a person first changes it.
        None => match owned_by_another(pillar, catalog, intent) {
            Some(implied) => {
                owned = new_component(intent, &implied);
                (&owned, false)
            }
            None => return Err(vec![missing(pillar, catalog, intent)]),
        },
    };
    // What a component has for its own use is pinned, and lies on the hosts, that its owner says.
    let owner = owner(pillar, catalog, intent);
    if let Some(owner) = owner.filter(|_| intent.upgrade) {
        let words = format!(
            "{} belongs to {}, which upgrades it",
            intent.component, owner.name
        );
        let hint = format!("`eos update {} --upgrade`", owner.name);
        return Err(vec![Diagnostic::new(words).hint(hint)]);
    }
    let mut after = before.clone();
    if intent.upgrade {
        after.pinned.clear();
    }
    if let Some(owner) = owner {
        after.pinned = owner.pinned.clone();
    }
    let pin = after.pinned.get(&after.recipe).map(String::as_str);
    let recipe = catalog.find(&after.recipe, pin).map_err(|found| vec![found])?;
    let (unset, set): (BTreeMap<_, _>, BTreeMap<_, _>) = intent
        .options
        .clone()
        .into_iter()
        .partition(|(name, value)| value.is_null() && before.options.contains_key(name));
    let mut options = checked(recipe, &set)?;
    options.extend(unset);
    let nothing = |(name, value): (&String, &Value)| {
        let had = before.options.get(name).map(|had| &had.value);
        value != HIDDEN && (had == Some(value) || (had.is_none() && value.is_null()))
    };
    if there && !intent.upgrade && options.iter().all(nothing) {
        return Ok(());
    }
    set_options(&mut after, options);
    after.intent = Some(words_of(intent));
    let mut settled = settle(pillar, catalog, after);
    if owner.is_some() {
        settled.component.pinned.clear();
        settled.component.hosts.clear();
    }
    match there {
        true => editor.change(before, &settled.component)?,
        false => editor.add(&settled.component)?,
    }
    editor.accompany(&settled)
}

/// A component goes with what it has for its own use, which cannot go alone.
fn delete(
    editor: &mut Editor,
    pillar: &Pillar,
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
) -> Result<(), Vec<Diagnostic>> {
    let Some(existing) = existing.filter(|_| owner(pillar, catalog, intent).is_none()) else {
        return Err(vec![missing(pillar, catalog, intent)]);
    };
    let mut open = vec![existing];
    while let Some(component) = open.pop() {
        editor.remove(&[&component.name])?;
        let pin = component.pinned.get(&component.recipe).map(String::as_str);
        let uses = catalog
            .find(&component.recipe, pin)
            .map_or(&[][..], |recipe| &recipe.uses);
        let own = uses.iter().filter(|used| !used.share);
        open.extend(
            own.filter_map(|used| pillar.component(&intent.environment, &own_name(&component.name, used))),
        );
    }
    Ok(())
}

/// What a component does goes along; where it is (ports, paths, names), how big it is and its secrets stay.
fn promote(
    editor: &mut Editor,
    pillar: &Pillar,
    catalog: &Catalog,
    intent: &Intent,
    existing: Option<&Component>,
) -> Result<(), Vec<Diagnostic>> {
    let from = intent.from.as_deref().unwrap_or_default();
    if from == intent.environment {
        return Err(vec![
            Diagnostic::new(format!("{from} cannot be promoted to itself"))
                .hint("Name two environments with --from and --to"),
        ]);
    }
    let Some(source) = pillar.component(from, &intent.component) else {
        let there = Intent {
            environment: from.to_owned(),
            ..intent.clone()
        };
        return Err(vec![missing(pillar, catalog, &there)]);
    };
    // A recipe that the source merely floats on is what it is now.
    let source = settle(pillar, catalog, source.clone()).component;
    let pin = source.pinned.get(&source.recipe).map(String::as_str);
    let recipe = catalog.find(&source.recipe, pin).map_err(|found| vec![found])?;
    let goes_along = |option: &str| recipe.settable().any(|spec| spec.name == option && spec.promote);
    let known = |option: &str| recipe.settable().any(|spec| spec.name == option);
    let mut after = match existing {
        Some(existing) => existing.clone(),
        None => new_component(intent, &source.recipe),
    };
    after.recipe = source.recipe.clone();
    after.pinned = source.pinned.clone();
    after
        .options
        .retain(|option, _| !goes_along(option) && known(option));
    let promoted = source.options.iter().filter(|(option, _)| goes_along(option));
    after
        .options
        .extend(promoted.map(|(option, value)| (option.clone(), value.clone())));
    let same = existing.is_some_and(|before| {
        let values = |component: &Component| -> Vec<(String, Value)> {
            let options = component.options.iter();
            options
                .map(|(name, option)| (name.clone(), option.value.clone()))
                .collect()
        };
        before.recipe == after.recipe && before.pinned == after.pinned && values(before) == values(&after)
    });
    if same {
        return Ok(());
    }
    after.intent = Some(words_of(intent));
    let settled = settle(pillar, catalog, after);
    match existing {
        Some(before) => editor.change(before, &settled.component)?,
        None => editor.add(&settled.component)?,
    }
    editor.accompany(&settled)
}

/// The recipe of a component that is not in the pillar because another has it for its own use.
fn owned_by_another(pillar: &Pillar, catalog: &Catalog, intent: &Intent) -> Option<String> {
    let owner = owner(pillar, catalog, intent)?;
    let recipe = catalog.get(&owner.recipe)?;
    let mut uses = recipe.uses.iter();
    let used = uses.find(|used| own_name(&owner.name, used) == intent.component)?;
    Some(used.recipe.clone())
}

fn owner<'p>(pillar: &'p Pillar, catalog: &Catalog, intent: &Intent) -> Option<&'p Component> {
    let names = intent
        .component
        .match_indices('-')
        .map(|(at, _)| &intent.component[..at]);
    let mut owners = names.filter_map(|name| pillar.component(&intent.environment, name));
    owners.find(|owner| {
        let uses = catalog.get(&owner.recipe).map_or(&[][..], |recipe| &recipe.uses);
        uses.iter()
            .any(|used| !used.share && own_name(&owner.name, used) == intent.component)
    })
}

fn new_component(intent: &Intent, recipe: &str) -> Component {
    Component {
        environment: intent.environment.clone(),
        name: intent.component.clone(),
        recipe: recipe.to_owned(),
        pinned: BTreeMap::new(),
        hosts: BTreeMap::new(),
        options: BTreeMap::new(),
        volumes: BTreeMap::new(),
        generation: 0,
        intent: Some(words_of(intent)),
        owner: None,
        at: Place {
            file: environment_file(&intent.environment),
            position: Position { line: 1, column: 1 },
        },
    }
}

fn set_options(component: &mut Component, options: BTreeMap<String, Value>) {
    for (name, value) in options {
        if value.is_null() {
            component.options.remove(&name);
            continue;
        }
        let at = component.at.clone();
        let set_by = SetBy::Person;
        let option = OptionValue { value, set_by, at };
        component.options.insert(name, Box::new(option));
    }
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

fn words_of(intent: &Intent) -> Words {
    Words {
        words: intent.words.clone(),
        who: intent.who.clone(),
        when: intent.when.clone(),
    }
}

fn words_json(intent: &Intent) -> Value {
    serde_json::json!({"words": intent.words, "who": intent.who, "when": intent.when})
}

fn words(component: &Component) -> Value {
    match &component.intent {
        Some(Words { words, who, when }) => serde_json::json!({"words": words, "who": who, "when": when}),
        None => Value::Null,
    }
}

fn pins(component: &Component) -> Value {
    let pins = component.pinned.iter();
    Value::Object(
        pins.map(|(recipe, pin)| (recipe.clone(), pin.as_str().into()))
            .collect(),
    )
}

fn hosts(component: &Component) -> Value {
    let hosts = component.hosts.iter();
    Value::Object(
        hosts
            .map(|(volume, on)| (volume.clone(), on.names.clone().into()))
            .collect(),
    )
}

/// The options of an intent, each of a kind its recipe knows.
fn checked(
    recipe: &Recipe,
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
            _ if value.is_null() => Ok(Value::Null),
            OptionType::Secret => Ok(Value::from(HIDDEN)),
            _ => spec.check(value.clone()),
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
pub fn unknown_option(recipe: &Recipe, name: &str) -> Diagnostic {
    let unknown = Diagnostic::new(format!(
        "Recipe {} has no option {}",
        recipe.name,
        name::named(name)
    ));
    unknown.hint(
        match name::closest(name, recipe.settable().map(|option| option.name.as_str())) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!("`eos catalog show {}` lists its options", recipe.name),
        },
    )
}

fn missing(pillar: &Pillar, catalog: &Catalog, intent: &Intent) -> Diagnostic {
    if let Some(owner) = owner(pillar, catalog, intent) {
        return Diagnostic::new(format!("{} belongs to {}", intent.component, owner.name))
            .hint(format!("It goes with it: `eos delete {}`", owner.name));
    }
    let names = pillar
        .components
        .keys()
        .filter(|(environment, _)| *environment == intent.environment);
    let missing = Diagnostic::new(format!(
        "There is no component {} in {}",
        name::named(&intent.component),
        intent.environment
    ));
    missing.hint(
        match name::closest(&intent.component, names.map(|(_, name)| name.as_str())) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!(
                "`eos list --environment {}` shows what there is",
                intent.environment
            ),
        },
    )
}
