//! Intents: what a person asked for, and the one pure function that writes it into the pillar.

mod act;
mod container;
mod environment;
mod host;
mod reconcile;
mod rotate;
mod settle;
mod stop;
mod volume;

use crate::address::Address;
use crate::catalog::Catalog;
use crate::compose::{compose, own_name};
use crate::diagnostic::{Diagnostic, Place, Position};
use crate::kinds::Deed;
use crate::name::{self, Sort};
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
use std::collections::{BTreeMap, BTreeSet};
pub use volume::find as find_volume;

/// What a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noun {
    Component,
    Host,
    /// Storage: a volume that stands for itself, or one of a component's.
    Volume,
}

/// "create component grafana in production with {port: 3000}", and who said so. Secret values are not in it: only that they
/// were given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    #[serde(flatten)]
    pub sentence: Sentence,
    #[serde(flatten)]
    pub said: Words,
}

/// What a person can ask for, one variant a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "sentence", rename_all = "snake_case")]
pub enum Sentence {
    CreateComponent {
        environment: String,
        component: String,
        recipe: String,
        options: Options,
    },
    /// A component of a recipe that comes with it, and that no catalog has.
    CreateContainer {
        environment: String,
        component: String,
        /// The text of the recipe.
        recipe: String,
        options: Options,
    },
    UpdateComponent {
        environment: String,
        component: String,
        /// Null goes back to the default.
        options: Options,
        /// Take the newest recipe in place of the one the component is pinned to.
        upgrade: bool,
    },
    DeleteComponent {
        environment: String,
        component: String,
    },
    /// Let nothing of a component run, and keep all that it has.
    StopComponent {
        environment: String,
        component: String,
    },
    StartComponent {
        environment: String,
        component: String,
    },
    /// Do something with a component that leaves the pillar as it is, but for the intent's record.
    Act {
        environment: String,
        component: String,
        deed: Deed,
    },
    /// Bring what was tried in one environment into another.
    PromoteComponent {
        from: String,
        to: String,
        component: String,
    },
    /// All components of an environment.
    PromoteEnvironment {
        from: String,
        to: String,
    },
    /// All components of an environment.
    DeleteEnvironment {
        environment: String,
    },
    /// Give secrets of a component new values.
    Rotate {
        environment: String,
        component: String,
        /// By name, with who makes the value; none means all of the component's own.
        secrets: BTreeMap<String, NewValue>,
    },
    CreateHost {
        host: String,
        facts: Options,
    },
    UpdateHost {
        host: String,
        facts: Options,
    },
    DeleteHost {
        host: String,
    },
    CreateVolume {
        environment: String,
        volume: String,
        facts: Options,
    },
    UpdateVolume {
        environment: String,
        /// The owner of the volume; one that stands for itself owns itself.
        component: String,
        need: String,
        facts: Options,
    },
    DeleteVolume {
        environment: String,
        volume: String,
        with_data: bool,
    },
    /// Bring what runs back to what the pillar says.
    Reconcile {
        environment: String,
        /// Those whose jobs are registered again; `platform` for what they share.
        components: BTreeSet<String>,
        /// What Salt makes again.
        parts: BTreeSet<Address>,
    },
}

/// What is set, by name.
pub type Options = BTreeMap<String, Value>;

/// Who makes the new value of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NewValue {
    Generated,
    /// A person gives it beside the intent.
    Given,
}

impl Sentence {
    /// The one component that it names, or the volume that counts as one.
    pub fn component(&self) -> Option<&str> {
        match self {
            Self::CreateComponent { component, .. }
            | Self::CreateContainer { component, .. }
            | Self::UpdateComponent { component, .. }
            | Self::DeleteComponent { component, .. }
            | Self::StopComponent { component, .. }
            | Self::StartComponent { component, .. }
            | Self::Act { component, .. }
            | Self::PromoteComponent { component, .. }
            | Self::Rotate { component, .. }
            | Self::UpdateVolume { component, .. } => Some(component),
            Self::CreateVolume { volume, .. } | Self::DeleteVolume { volume, .. } => Some(volume),
            Self::Reconcile { components, .. } => match components.len() {
                1 => components.first().map(String::as_str),
                _ => None,
            },
            Self::CreateHost { .. }
            | Self::UpdateHost { .. }
            | Self::DeleteHost { .. }
            | Self::PromoteEnvironment { .. }
            | Self::DeleteEnvironment { .. } => None,
        }
    }

    /// The host that it is about.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::CreateHost { host, .. } | Self::UpdateHost { host, .. } | Self::DeleteHost { host } => {
                Some(host)
            }
            Self::CreateComponent { .. }
            | Self::CreateContainer { .. }
            | Self::UpdateComponent { .. }
            | Self::DeleteComponent { .. }
            | Self::StopComponent { .. }
            | Self::StartComponent { .. }
            | Self::Act { .. }
            | Self::PromoteComponent { .. }
            | Self::PromoteEnvironment { .. }
            | Self::DeleteEnvironment { .. }
            | Self::Rotate { .. }
            | Self::CreateVolume { .. }
            | Self::UpdateVolume { .. }
            | Self::DeleteVolume { .. }
            | Self::Reconcile { .. } => None,
        }
    }

    /// The sentence as the subject of a commit: its verb and object. `components` are those of its plan.
    pub fn title(&self, components: &[String]) -> String {
        match self {
            Self::CreateComponent {
                environment,
                component: of,
                ..
            }
            | Self::CreateContainer {
                environment,
                component: of,
                ..
            }
            | Self::CreateVolume {
                environment,
                volume: of,
                ..
            } => format!("Create {of} ({environment})"),
            Self::UpdateComponent {
                environment,
                component: of,
                ..
            }
            | Self::UpdateVolume {
                environment,
                component: of,
                ..
            } => format!("Update {of} ({environment})"),
            Self::DeleteComponent {
                environment,
                component: of,
            }
            | Self::DeleteVolume {
                environment,
                volume: of,
                ..
            } => format!("Delete {of} ({environment})"),
            Self::StopComponent {
                environment,
                component,
            } => format!("Stop {component} ({environment})"),
            Self::StartComponent {
                environment,
                component,
            } => format!("Start {component} ({environment})"),
            Self::Act {
                environment,
                component,
                deed,
            } => format!("{} {component} ({environment})", deed.title()),
            Self::PromoteComponent { to, component, .. } => format!("Promote {component} ({to})"),
            Self::PromoteEnvironment { to, .. } => format!("Promote all components ({to})"),
            Self::DeleteEnvironment { environment } => format!("Delete all components ({environment})"),
            Self::Rotate {
                environment,
                component,
                ..
            } => format!("Rotate {component} ({environment})"),
            Self::CreateHost { host, .. } => format!("Create host {host}"),
            Self::UpdateHost { host, .. } => format!("Update host {host}"),
            Self::DeleteHost { host } => format!("Delete host {host}"),
            Self::Reconcile { environment, .. } => {
                format!("Reconcile {} ({environment})", components.join(", "))
            }
        }
    }
}

/// An environment file that holds nothing yet.
pub fn empty_environment_file() -> &'static str {
    "#!yaml\ncomponents: {}\n"
}

/// The pillar after the intent, and the recipes that it is now pinned to. What the intent leaves as it is keeps its bytes.
pub fn edit(files: &PillarFiles, catalog: &Catalog, intent: &Intent) -> Result<PillarFiles, Vec<Diagnostic>> {
    let Intent { sentence, said } = intent;
    match sentence {
        Sentence::CreateComponent {
            environment,
            component,
            recipe,
            options,
        } => edit_component(
            files,
            catalog,
            said,
            (environment, component),
            &[],
            |editor, subject| create(editor, subject, (recipe, None), options),
        ),
        Sentence::CreateContainer {
            environment,
            component,
            recipe,
            options,
        } => container::create(files, catalog, said, (environment, component), recipe, options),
        Sentence::UpdateComponent {
            environment,
            component,
            options,
            upgrade,
        } => edit_component(
            files,
            catalog,
            said,
            (environment, component),
            &[],
            |editor, subject| update(editor, subject, options, *upgrade),
        ),
        Sentence::DeleteComponent {
            environment,
            component,
        } => edit_component(files, catalog, said, (environment, component), &[], delete),
        Sentence::StopComponent {
            environment,
            component,
        } => edit_component(files, catalog, said, (environment, component), &[], stop::stop),
        Sentence::StartComponent {
            environment,
            component,
        } => edit_component(files, catalog, said, (environment, component), &[], stop::start),
        Sentence::Act {
            environment,
            component,
            deed,
        } => edit_component(
            files,
            catalog,
            said,
            (environment, component),
            &[],
            |editor, subject| act::edit(editor, subject, *deed),
        ),
        Sentence::PromoteComponent { from, to, component } => edit_component(
            files,
            catalog,
            said,
            (to, component),
            &[from],
            |editor, subject| promote(editor, subject, from),
        ),
        Sentence::Rotate {
            environment,
            component,
            secrets,
        } => edit_component(
            files,
            catalog,
            said,
            (environment, component),
            &[],
            |editor, subject| rotate::edit(editor, subject, secrets),
        ),
        Sentence::Reconcile {
            environment,
            components,
            parts: _,
        } => edit_component(files, catalog, said, (environment, ""), &[], |editor, subject| {
            reconcile::edit(editor, subject, components)
        }),
        Sentence::PromoteEnvironment { from, to } => environment::promote(files, catalog, said, from, to),
        Sentence::DeleteEnvironment { environment } => environment::delete(files, environment),
        Sentence::CreateHost { host, facts } => host::create(files, said, host, facts),
        Sentence::UpdateHost { host, facts } => host::update(files, said, host, facts),
        Sentence::DeleteHost { host } => host::delete(files, host),
        Sentence::CreateVolume {
            environment,
            volume,
            facts,
        } => volume::create(files, catalog, said, (environment, volume), facts),
        Sentence::UpdateVolume {
            environment,
            component,
            need,
            facts,
        } => volume::update(files, catalog, said, (environment, component, need), facts),
        Sentence::DeleteVolume {
            environment, volume, ..
        } => volume::delete(files, catalog, said, (environment, volume)),
    }
}

/// Edits the file of one environment. What environments beside it and `others` hold does not matter.
fn edit_component<'a>(
    files: &PillarFiles,
    catalog: &'a Catalog,
    said: &'a Words,
    (environment, name): (&'a str, &'a str),
    others: &[&'a String],
    write: impl FnOnce(&mut Editor, &Subject<'_>) -> Result<(), Vec<Diagnostic>>,
) -> Result<PillarFiles, Vec<Diagnostic>> {
    let environments = others.iter().map(|other| other.as_str()).chain([environment]);
    let read: Vec<String> = environments.map(environment_file).collect();
    let concerned = |path: &String| path == COMMON_FILE || read.contains(path);
    let some = files.iter().filter(|(path, _)| concerned(path));
    let pillar = Pillar::read(&some.map(|(path, text)| (path.clone(), text.clone())).collect())?;
    let subject = Subject {
        environment,
        name,
        said,
        pillar: &pillar,
        catalog,
    };
    let mut editor = Editor::open(files, environment)?;
    write(&mut editor, &subject)?;
    Ok(editor.close())
}

/// The component that a sentence is about, and the pillar that may have it.
#[derive(Clone, Copy)]
struct Subject<'a> {
    environment: &'a str,
    name: &'a str,
    said: &'a Words,
    pillar: &'a Pillar,
    catalog: &'a Catalog,
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

/// From the recipe of this name, at this pin or as it is now.
fn create(
    editor: &mut Editor,
    subject: &Subject<'_>,
    (recipe_name, at): (&str, Option<&str>),
    options: &Options,
) -> Result<(), Vec<Diagnostic>> {
    let Subject {
        environment,
        name,
        pillar,
        catalog,
        ..
    } = *subject;
    if let Some(problem) = name::problem(Sort::Component, name) {
        return Err(vec![Diagnostic::new(problem)]);
    }
    let existing = subject.existing();
    let pin = existing.and_then(|existing| existing.pinned.get(recipe_name));
    let pin = pin.map(String::as_str);
    let recipe = catalog
        .find(recipe_name, at.or(pin))
        .map_err(|found| vec![found])?;
    let options = checked(recipe, options)?;
    if let Some(existing) = existing {
        let had =
            |name: &str, value: &Value| existing.options.get(name).is_some_and(|had| had.value == *value);
        let same = existing.recipe == recipe_name
            && at.is_none_or(|at| pin == Some(at))
            && options.iter().all(|(name, value)| had(name, value));
        if same {
            return Ok(());
        }
        if existing.recipe != recipe_name {
            let made = &existing.recipe;
            let words = format!("{name} in {environment} comes from recipe {made}, not from {recipe_name}");
            let hint = format!("Choose another name with --name; `eos update {name}` changes this one");
            return Err(vec![Diagnostic::new(words).hint(hint)]);
        }
        let words = format!("{name} exists in {environment} with other options");
        let hint = format!("Change it with `eos update {name}`");
        return Err(vec![Diagnostic::new(words).hint(hint)]);
    }
    let mut component = subject.new_component(recipe_name);
    let pinned = at.map(|at| (recipe_name.to_owned(), at.to_owned()));
    component.pinned.extend(pinned);
    set_options(&mut component, options);
    let settled = settle(pillar, catalog, component);
    editor.add(&settled.component)?;
    editor.accompany(&settled)
}

fn update(
    editor: &mut Editor,
    subject: &Subject<'_>,
    options: &Options,
    upgrade: bool,
) -> Result<(), Vec<Diagnostic>> {
    let Subject {
        name,
        pillar,
        catalog,
        ..
    } = *subject;
    let owned;
    let (before, there) = match subject.existing() {
        Some(existing) => (existing, true),
        // What another has for its own use is written down when a person first changes it.
        None => match subject.owned_by_another() {
            Some(implied) => {
                owned = subject.new_component(&implied);
                (&owned, false)
            }
            None => return Err(vec![subject.missing()]),
        },
    };
    // What a component has for its own use is pinned, and lies on the hosts, that its owner says.
    let owner = subject.owner();
    if let Some(owner) = owner.filter(|_| upgrade) {
        let words = format!("{name} belongs to {}, which upgrades it", owner.name);
        let hint = format!("`eos update {} --upgrade`", owner.name);
        return Err(vec![Diagnostic::new(words).hint(hint)]);
    }
    let mut after = before.clone();
    if upgrade {
        after.pinned.clear();
    }
    if let Some(owner) = owner {
        after.pinned = owner.pinned.clone();
    }
    let pin = after.pinned.get(&after.recipe).map(String::as_str);
    let recipe = catalog.find(&after.recipe, pin).map_err(|found| vec![found])?;
    let kept = recipe.settable().find(|spec| {
        spec.kind == OptionType::Secret
            && spec.generate.is_some()
            && options.get(&spec.name).is_some_and(Value::is_null)
    });
    if let Some(spec) = kept {
        return Err(vec![keeps_its_value(name, &spec.name)]);
    }
    let (unset, set): (BTreeMap<_, _>, BTreeMap<_, _>) = options
        .clone()
        .into_iter()
        .partition(|(name, value)| value.is_null() && before.options.contains_key(name));
    let mut options = checked(recipe, &set)?;
    options.extend(unset);
    let nothing = |(name, value): (&String, &Value)| {
        let had = before.options.get(name).map(|had| &had.value);
        value != HIDDEN && (had == Some(value) || (had.is_none() && value.is_null()))
    };
    if there && !upgrade && options.iter().all(nothing) {
        return Ok(());
    }
    set_options(&mut after, options);
    after.intent = Some(subject.said.clone());
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

/// The secrets engine has the value, not the pillar: leaving the option out there brings no other.
fn keeps_its_value(component: &str, option: &str) -> Diagnostic {
    let words = format!("Secret {option} of {component} cannot be unset: the component needs a value");
    Diagnostic::new(words).hint(format!(
        "Have Eos generate a new one: `eos rotate secret {component} {option}`"
    ))
}

/// A component goes with what it has for its own use, which cannot go alone.
fn delete(editor: &mut Editor, subject: &Subject<'_>) -> Result<(), Vec<Diagnostic>> {
    let Subject {
        environment,
        pillar,
        catalog,
        ..
    } = *subject;
    let Some(existing) = subject.existing().filter(|_| subject.owner().is_none()) else {
        return Err(vec![subject.missing()]);
    };
    let mut open = vec![existing];
    while let Some(component) = open.pop() {
        editor.remove(&[&component.name])?;
        let pin = component.pinned.get(&component.recipe).map(String::as_str);
        let uses = catalog
            .find(&component.recipe, pin)
            .map_or(&[][..], |recipe| &recipe.uses);
        let own = uses.iter().filter(|used| !used.share);
        open.extend(own.filter_map(|used| pillar.component(environment, &own_name(&component.name, used))));
    }
    Ok(())
}

/// What a component does goes along; where it is (ports, paths, names), how big it is and its secrets stay.
fn promote(editor: &mut Editor, subject: &Subject<'_>, from: &str) -> Result<(), Vec<Diagnostic>> {
    let Subject {
        environment,
        name,
        pillar,
        catalog,
        ..
    } = *subject;
    let existing = subject.existing();
    if from == environment {
        return Err(vec![
            Diagnostic::new(format!("{from} cannot be promoted to itself"))
                .hint("Name two environments with --from and --to"),
        ]);
    }
    let Some(source) = pillar.component(from, name) else {
        let there = Subject {
            environment: from,
            ..*subject
        };
        return Err(vec![there.missing()]);
    };
    // A recipe that the source merely floats on is what it is now.
    let source = settle(pillar, catalog, source.clone()).component;
    let pin = source.pinned.get(&source.recipe).map(String::as_str);
    let recipe = catalog.find(&source.recipe, pin).map_err(|found| vec![found])?;
    let goes_along = |option: &str| recipe.settable().any(|spec| spec.name == option && spec.promote);
    let known = |option: &str| recipe.settable().any(|spec| spec.name == option);
    let mut after = match existing {
        Some(existing) => existing.clone(),
        None => subject.new_component(&source.recipe),
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
    after.intent = Some(subject.said.clone());
    let settled = settle(pillar, catalog, after);
    match existing {
        Some(before) => editor.change(before, &settled.component)?,
        None => editor.add(&settled.component)?,
    }
    editor.accompany(&settled)
}

impl<'a> Subject<'a> {
    fn existing(&self) -> Option<&'a Component> {
        self.pillar.component(self.environment, self.name)
    }

    /// Writes down that something was asked for, and nothing else.
    fn note(&self, editor: &mut Editor) -> Result<(), Vec<Diagnostic>> {
        match (self.existing(), self.owned_by_another()) {
            (Some(_), _) => editor.set(&[self.name, "intent"], &words_json(self.said)),
            // What another has for its own use is written down when a person first changes something about it.
            (None, Some(recipe)) => editor.add(&self.new_component(&recipe)),
            (None, None) => match self.member_of() {
                Some(owner) => Subject {
                    name: &owner,
                    ..*self
                }
                .note(editor),
                None => Err(vec![self.missing()]),
            },
        }
    }

    /// The recipe of a component that is not in the pillar because another has it for its own use.
    fn owned_by_another(&self) -> Option<String> {
        let owner = self.owner()?;
        let recipe = self.catalog.get(&owner.recipe)?;
        let mut uses = recipe.uses.iter();
        let used = uses.find(|used| own_name(&owner.name, used) == self.name)?;
        Some(used.recipe.clone())
    }

    fn owner(&self) -> Option<&'a Component> {
        let names = self.name.match_indices('-').map(|(at, _)| &self.name[..at]);
        let mut owners = names.filter_map(|name| self.pillar.component(self.environment, name));
        owners.find(|owner| {
            let uses = self
                .catalog
                .get(&owner.recipe)
                .map_or(&[][..], |recipe| &recipe.uses);
            uses.iter()
                .any(|used| !used.share && own_name(&owner.name, used) == self.name)
        })
    }

    /// The component that has a further job of this name. Another may have that for its own use.
    fn member_of(&self) -> Option<String> {
        let (mut composed, _) = compose(self.pillar, self.catalog);
        let key = (self.environment.to_owned(), self.name.to_owned());
        composed.members.remove(&key).map(|member| member.owner)
    }

    fn new_component(&self, recipe: &str) -> Component {
        Component {
            environment: self.environment.to_owned(),
            name: self.name.to_owned(),
            recipe: recipe.to_owned(),
            pinned: BTreeMap::new(),
            hosts: BTreeMap::new(),
            options: BTreeMap::new(),
            volumes: BTreeMap::new(),
            generation: 0,
            stopped: None,
            intent: Some(self.said.clone()),
            owner: None,
            at: Place {
                file: environment_file(self.environment),
                position: Position { line: 1, column: 1 },
            },
        }
    }

    fn missing(&self) -> Diagnostic {
        let Self {
            environment, name, ..
        } = self;
        if let Some(owner) = self.owner() {
            return Diagnostic::new(format!("{name} belongs to {}", owner.name))
                .hint(format!("It goes with it: `eos delete {}`", owner.name));
        }
        if let Some(owner) = self.member_of() {
            return Diagnostic::new(format!("{name} is a job of {owner}, which says what it is")).hint(
                format!("`eos read {owner}` shows it, `eos update {owner}` changes it"),
            );
        }
        let keys = self.pillar.components.keys();
        let names = keys
            .filter(|(of, _)| of == environment)
            .map(|(_, name)| name.as_str());
        let missing = format!("There is no component {} in {environment}", name::named(name));
        Diagnostic::new(missing).hint(match name::closest(name, names) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!("`eos list --environment {environment}` shows what there is"),
        })
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

fn words_json(Words { words, who, when }: &Words) -> Value {
    serde_json::json!({"words": words, "who": who, "when": when})
}

fn words(component: &Component) -> Value {
    component.intent.as_ref().map_or(Value::Null, words_json)
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
