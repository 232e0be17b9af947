//! Expanding a component: its recipe's options resolved, each value with its source and what it won over.

use crate::diagnostic::{Diagnostic, Place};
use crate::intent::unknown_option;
use crate::lowered::{SecretItem, instance_name, service_name};
use crate::option::{HIDDEN, OptionType, is_figure};
use crate::output::PUBLIC_URL;
use crate::pillar::{Component, OptionValue, SetBy};
use crate::recipe::{OptionSpec, Recipe, named};
use crate::runtime::{Piece, RuntimeText};
use crate::source::{Ingredient, Overruled, Source, Sourced};
use crate::template::{TASK_FACTS, Template};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of text that the values of one component come to, however often each is needed.
const TEXTS: usize = 8 << 20;

/// What templates of a proxy may name: whom it serves, under which host names.
pub const ROUTES: &str = "routes";
/// What files of a monitor may name: all that can be measured in its environment, as targets of Prometheus.
pub const MEASURED: &str = "measured";

/// What the text for each route may name: one of them.
pub const ROUTE: &str = "route";

/// What templates of a service may name: where the other services of its recipe are.
pub const SERVICES: &str = "services";

/// What templates of a service may name: where it finds its volumes.
pub const VOLUMES: &str = "volumes";

/// Said of a template that cannot be evaluated.
const CORRECT_RECIPE: &str = "Correct it in the recipe";

/// A component with its options resolved.
#[derive(Clone, Debug)]
pub struct Expanded<'a> {
    pub component: Cow<'a, Component>,
    pub recipe: &'a Recipe,
    /// Options by name, and `use.option` for those of what it uses.
    pub options: BTreeMap<String, Sourced<Value>>,
    pub secrets: Vec<SecretItem>,
    /// Name of the use -> component, for each use that applies.
    pub uses: BTreeMap<String, String>,
    /// The routes of it that apply, if a proxy serves them.
    pub served: Vec<Route>,
    pub context: Map<String, Value>,
    /// Bytes of text that its values have come to so far.
    texts: Rc<Cell<usize>>,
}

/// A host name under which a proxy serves a service.
#[derive(Clone, Debug)]
pub struct Route {
    /// Of the need.
    pub name: String,
    pub service: String,
    pub host: Sourced<String>,
    pub url: String,
    /// The component that is the proxy.
    pub by: String,
}

pub fn expand<'a>(
    component: Cow<'a, Component>,
    recipe: &'a Recipe,
) -> Result<Expanded<'a>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    for (name, value) in &component.options {
        if !recipe.settable().any(|option| option.name == *name) {
            found.push(unknown_option(recipe, name).at(&value.at.file, value.at.position));
        }
    }
    let context = facts(&component, recipe);
    let mut expanded = Expanded {
        component,
        recipe,
        options: BTreeMap::new(),
        secrets: Vec::new(),
        uses: BTreeMap::new(),
        served: Vec::new(),
        context,
        texts: Rc::default(),
    };
    for spec in recipe.settable() {
        match expanded.resolve(spec) {
            Ok(Some(value)) => {
                expanded.context.insert(spec.name.clone(), value.value.clone());
                expanded.options.insert(spec.name.clone(), value);
            }
            Ok(None) => {}
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    for need in &recipe.secrets {
        expanded.add_secret(&need.name, Some(need.generate), &need.not_rotated);
    }
    if found.is_empty() {
        Ok(expanded)
    } else {
        Err(found)
    }
}

impl<'a> Expanded<'a> {
    /// As one of its services sees it: where that finds its volumes.
    pub fn seen_with(&self, volumes: Map<String, Value>) -> Expanded<'a> {
        let mut seen = self.clone();
        seen.context.insert(VOLUMES.to_owned(), volumes.into());
        seen
    }
}

impl Expanded<'_> {
    /// The value of an option; none where the environment's table gives it, or where it is a secret.
    fn resolve(&mut self, spec: &OptionSpec) -> Result<Option<Sourced<Value>>, Diagnostic> {
        let given = self.component.options.get(&spec.name).cloned();
        if let Some(when) = &spec.when
            && !self.holds(when)?
        {
            return match given {
                None => {
                    self.context.insert(spec.name.clone(), Value::Null);
                    Ok(None)
                }
                Some(given) => Err(self.does_not_apply(spec, when, &given)),
            };
        }
        if spec.kind == OptionType::Secret {
            self.add_secret(&spec.name, spec.generate, &spec.not_rotated);
            return match given.filter(|given| given.value != HIDDEN) {
                Some(given) => Err(self.secret_in_pillar(spec, &given)),
                None => Ok(None),
            };
        }
        let default = match &spec.default {
            Some(default) => {
                let value = self
                    .evaluated(default)
                    .and_then(|value| spec.check(value))
                    .map_err(|why| {
                        let why = crate::yaml::shown(&why, 200);
                        Diagnostic::new(format!("Default of option {}: {why}", spec.name))
                            .at(&self.recipe.file, default.at)
                            .hint(CORRECT_RECIPE)
                    });
                Some(value.map(|value| Sourced::new(value, self.default_source(spec, default))))
            }
            None => None,
        };
        match (given, default) {
            (Some(given), default) => {
                let from = self.given_source(spec, &given);
                let value = spec.check(given.value).map_err(|why| {
                    Diagnostic::new(format!("Option {} of {}: {why}", spec.name, self.component.name))
                        .at(&given.at.file, given.at.position)
                        .hint(format!(
                            "`eos catalog show {}` shows its values",
                            self.recipe.name
                        ))
                })?;
                let over = default.and_then(Result::ok).map(|default| Overruled {
                    value: default.value,
                    from: default.from,
                });
                Ok(Some(Sourced::new(value, from).over(over)))
            }
            (None, Some(default)) => default.map(Some),
            (None, None) if is_figure(&spec.name) => Ok(None),
            (None, None) => {
                let at = &self.component.at;
                Err(
                    Diagnostic::new(format!("{} needs option {}", self.component.name, spec.name))
                        .at(&at.file, at.position)
                        .hint(format!("Give it with --{}", flag(&spec.name))),
                )
            }
        }
    }

    fn given_source(&self, spec: &OptionSpec, given: &OptionValue) -> Source {
        match &given.set_by {
            SetBy::Person => Source::Option {
                option: spec.name.clone(),
                file: given.at.file.clone(),
                line: given.at.position.line,
            },
            SetBy::Consumer { component, recipe } => Source::Consumer {
                component: component.clone(),
                option: spec.name.clone(),
                recipe: recipe.clone(),
                line: given.at.position.line,
            },
        }
    }

    fn add_secret(&mut self, item: &str, generate: Option<u32>, not_rotated: &Option<String>) {
        self.secrets.push(SecretItem {
            item: item.to_owned(),
            generate,
            not_rotated: not_rotated.clone(),
            copy_of: None,
        });
        let mark = Piece::Secret(item.to_owned()).mark();
        self.context.insert(item.to_owned(), mark.into());
    }

    fn secret_in_pillar(&self, spec: &OptionSpec, given: &OptionValue) -> Diagnostic {
        let name = &self.component.name;
        Diagnostic::new(format!(
            "Secret option {} of {name} stands in the pillar",
            spec.name
        ))
        .at(&given.at.file, given.at.position)
        .hint(format!(
            "Write {HIDDEN} here and give the value with `eos update {name} --{} -`",
            flag(&spec.name)
        ))
    }

    fn does_not_apply(&self, spec: &OptionSpec, when: &Template, given: &OptionValue) -> Diagnostic {
        let name = &self.component.name;
        Diagnostic::new(format!(
            "Option {} of {name} does not apply: it is for {}",
            spec.name,
            when.shown()
        ))
        .at(&given.at.file, given.at.position)
        .hint(format!(
            "Leave --{} out, or set what it depends on",
            flag(&spec.name)
        ))
    }

    /// Whether a condition is true. Nothing, false, zero and empty text are not.
    pub fn holds(&self, when: &Template) -> Result<bool, Diagnostic> {
        Ok(match self.value(when)?.value {
            Value::Null => false,
            Value::Bool(flag) => flag,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(_) => true,
        })
    }

    pub fn applies(&self, when: &Option<Template>) -> Result<bool, Diagnostic> {
        when.as_ref().map_or(Ok(true), |when| self.holds(when))
    }

    pub fn datacenter(&self) -> &str {
        let option = self.options.get("datacenter");
        option
            .and_then(|option| option.value.as_str())
            .unwrap_or_default()
    }

    /// A default of the recipe's own, or of an option that every recipe has.
    fn default_source(&self, spec: &OptionSpec, template: &Template) -> Source {
        match template.at.line {
            0 => Source::pass("expand", "default of every recipe"),
            line => Source::Recipe {
                recipe: self.recipe.name.clone(),
                line,
                default_of: Some(spec.name.clone()),
                made_of: self.made_of(template),
            },
        }
    }

    pub fn line_source(&self, line: u32) -> Source {
        Source::recipe(&self.recipe.name, line)
    }

    /// The options that a template names; and, in a proxy, the routes it serves.
    fn made_of(&self, template: &Template) -> Vec<Ingredient> {
        let ingredient = |name: &str| {
            let (value, from) = match self.options.get(name) {
                Some(option) => (option.value.clone(), option.from.clone()),
                None if name == ROUTES => {
                    let served = self.context.get(ROUTES)?.as_array()?.iter();
                    let hosts: Vec<Value> = served.map(|route| route["host"].clone()).collect();
                    let why = "the host names of the components it serves";
                    (hosts.into(), Source::pass("compose", why))
                }
                None if name == PUBLIC_URL => {
                    let url = self.context.get(PUBLIC_URL)?.clone();
                    (url, Source::pass("compose", "its route, as the proxy serves it"))
                }
                None => return None,
            };
            let option = name.to_owned();
            Some(Ingredient { option, value, from })
        };
        template.names().filter_map(ingredient).collect()
    }

    /// Many templates make much together, though each of them stays within bounds.
    fn evaluated(&self, template: &Template) -> Result<Value, String> {
        if self.texts.get() > TEXTS {
            return Err(format!(
                "its values come to more than {} MiB of text",
                TEXTS >> 20
            ));
        }
        let value = template.evaluate(&self.context)?;
        self.texts.set(self.texts.get() + text_in(&value));
        Ok(value)
    }

    /// The value of a template. Its source is the option it names, if it names one and nothing else; else the recipe.
    pub fn value(&self, template: &Template) -> Result<Sourced<Value>, Diagnostic> {
        let value = self
            .evaluated(template)
            .map_err(|why| self.wrong(template, &why))?;
        let mut named = template.names().filter(|name| !TASK_FACTS.contains(name));
        let sole = named.next().filter(|_| named.next().is_none());
        Ok(match sole.and_then(|name| self.options.get_key_value(name)) {
            Some((name, option)) => {
                Sourced::new(value, option.from.clone()).over(self.overruled(template, name, option))
            }
            None => {
                let from = Source::Recipe {
                    recipe: self.recipe.name.clone(),
                    line: template.at.line,
                    default_of: None,
                    made_of: self.made_of(template),
                };
                Sourced::new(value, from)
            }
        })
    }

    /// What a template would have given with the values that its one option won over.
    fn overruled(&self, template: &Template, name: &str, option: &Sourced<Value>) -> Vec<Overruled> {
        let with = |other: &Overruled| {
            let mut context = self.context.clone();
            match name.split_once('.') {
                Some((used, of_used)) => context.get_mut(used)?[of_used] = other.value.clone(),
                None => {
                    context.insert(name.to_owned(), other.value.clone());
                }
            }
            let value = match template.evaluate(&context).ok()? {
                // What only the task will know is shown by its name.
                Value::String(text) => RuntimeText::read(&text).ok()?.to_string().into(),
                value => value,
            };
            let from = other.from.clone();
            Some(Overruled { value, from })
        };
        option.over.iter().filter_map(with).collect()
    }

    pub fn text(&self, template: &Template) -> Result<Sourced<String>, Diagnostic> {
        let sourced = self.value(template)?;
        let text = match &sourced.value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null => String::new(),
            other => return Err(self.wrong(template, &format!("{other} is not text"))),
        };
        Ok(sourced.map(|_| text))
    }

    /// Text that may hold what only the task will know.
    pub fn runtime_text(&self, template: &Template) -> Result<Sourced<RuntimeText>, Diagnostic> {
        let text = self.text(template)?;
        let read = RuntimeText::read(&text.value).map_err(|why| self.wrong(template, &why))?;
        Ok(text.map(|_| read))
    }

    /// The port, unless the template is missing or gives nothing.
    pub fn port(&self, template: Option<&Template>) -> Result<Option<Sourced<u16>>, Diagnostic> {
        let Some(template) = template else {
            return Ok(None);
        };
        let sourced = self.value(template)?;
        if sourced.value.is_null() {
            return Ok(None);
        }
        let port = sourced.value.as_u64().and_then(|port| u16::try_from(port).ok());
        match port.filter(|port| *port > 0) {
            Some(port) => Ok(Some(sourced.map(|_| port))),
            None => Err(self.wrong(template, &format!("{} is not a port", sourced.value))),
        }
    }

    pub fn wrong(&self, template: &Template, why: &str) -> Diagnostic {
        let why = crate::yaml::shown(why, 200);
        Diagnostic::new(format!("Recipe {}: {why}", self.recipe.name))
            .at(&self.recipe.file, template.at)
            .hint(CORRECT_RECIPE)
    }

    /// Where a person can change the value of a template: at the option it names, if the pillar sets it.
    pub fn place(&self, template: &Template) -> Place {
        let option = template.names().find_map(|name| self.component.options.get(name));
        match option {
            Some(option) => option.at.clone(),
            None => Place {
                file: self.recipe.file.clone(),
                position: template.at,
            },
        }
    }
}

fn text_in(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_in).sum(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| key.len() + text_in(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn facts(component: &Component, recipe: &Recipe) -> Map<String, Value> {
    let instance = instance_name(&component.environment, &component.name);
    let measured = recipe.monitor.iter().map(|_| (MEASURED, Piece::Measured.mark()));
    [
        ("component", component.name.clone()),
        ("environment", component.environment.clone()),
        ("instance", instance),
        ("version", recipe.version.clone()),
        ("files_dir", Piece::FilesDirectory.mark()),
        ("secrets_dir", Piece::SecretsDirectory.mark()),
    ]
    .into_iter()
    .chain(measured)
    .map(|(name, value)| (name.to_owned(), Value::String(value)))
    .chain(siblings(component, recipe).map(|siblings| (SERVICES.to_owned(), siblings)))
    .collect()
}

/// Where each service of the recipe is, if a template names any.
fn siblings(component: &Component, recipe: &Recipe) -> Option<Value> {
    let is_named = named(recipe)
        .iter()
        .any(|name| name.split('.').next() == Some(SERVICES));
    let place = |name: &str| {
        let service = service_name(&component.environment, &component.name, recipe, name);
        let facts = [
            ("address", Piece::Address(service.clone())),
            ("addresses", Piece::Addresses(service.clone())),
            ("host", Piece::Host(service.clone())),
            ("port", Piece::Port(service)),
        ];
        let facts = facts.map(|(fact, piece)| (fact.to_owned(), Value::from(piece.mark())));
        (variable(name), Value::Object(facts.into_iter().collect()))
    };
    let services = recipe.services.iter().filter(|service| !service.ports.is_empty());
    is_named.then(|| Value::Object(services.map(|service| place(&service.name)).collect()))
}

/// A name as templates can say it.
pub fn variable(name: &str) -> String {
    name.replace('-', "_")
}

/// An option's name as a flag.
pub fn flag(option: &str) -> String {
    option.replace('_', "-")
}
