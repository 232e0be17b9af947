//! Expanding a component: its recipe's options resolved, each value with its source.

use crate::diagnostic::Diagnostic;
use crate::intent::unknown_option;
use crate::lowered::{SecretItem, instance_name};
use crate::option::{HIDDEN, OptionType};
use crate::pillar::Component;
use crate::recipe::Recipe;
use crate::source::{Source, Sourced};
use crate::template::Template;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A component with its options resolved.
#[derive(Debug)]
pub struct Expanded<'a> {
    pub component: &'a Component,
    pub recipe: &'a Recipe,
    pub options: BTreeMap<String, Sourced<Value>>,
    pub secrets: Vec<SecretItem>,
    pub context: Map<String, Value>,
}

pub fn expand<'a>(component: &'a Component, recipe: &'a Recipe) -> Result<Expanded<'a>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    for (name, value) in &component.options {
        if !recipe.settable().any(|option| option.name == *name) {
            found.push(unknown_option(recipe, name).at(&value.at.file, value.at.position));
        }
    }
    let mut expanded = Expanded {
        component,
        recipe,
        options: BTreeMap::new(),
        secrets: Vec::new(),
        context: facts(component, recipe),
    };
    for spec in recipe.settable() {
        let given = component.options.get(&spec.name);
        if spec.kind == OptionType::Secret {
            expanded.secrets.push(SecretItem {
                item: spec.name.clone(),
                generate: spec.generate,
            });
            if let Some(given) = given.filter(|given| given.value != HIDDEN) {
                found.push(
                    Diagnostic::new(format!(
                        "Secret option {} of {} stands in the pillar",
                        spec.name, component.name
                    ))
                    .at(&given.at.file, given.at.position)
                    .hint(format!(
                        "Write {HIDDEN} here and give the value with `eos update {} --{} -`",
                        component.name,
                        flag(&spec.name)
                    )),
                );
            }
            continue;
        }
        let resolved = match (given, &spec.default) {
            (Some(given), _) => {
                let from = Source::Option {
                    option: spec.name.clone(),
                    file: given.at.file.clone(),
                    line: given.at.position.line,
                };
                spec.kind
                    .check(given.value.clone())
                    .map(|value| Sourced::new(value, from))
                    .map_err(|why| {
                        Diagnostic::new(format!("Option {} of {}: {why}", spec.name, component.name))
                            .at(&given.at.file, given.at.position)
                    })
            }
            (None, Some(default)) => default
                .evaluate(&expanded.context)
                .and_then(|value| spec.kind.check(value))
                .map(|value| Sourced::new(value, expanded.default_source(default)))
                .map_err(|why| {
                    Diagnostic::new(format!("Default of option {}: {why}", spec.name))
                        .at(&recipe.file, default.at)
                }),
            (None, None) if is_figure(&spec.name) => continue,
            (None, None) => Err(
                Diagnostic::new(format!("{} needs option {}", component.name, spec.name))
                    .at(&component.at.file, component.at.position)
                    .hint(format!("Give it with --{}", flag(&spec.name))),
            ),
        };
        match resolved {
            Ok(value)
                if is_figure(&spec.name)
                    && !value
                        .value
                        .as_i64()
                        .is_some_and(|n| (1..=10_000_000).contains(&n)) =>
            {
                found.push(
                    Diagnostic::new(format!(
                        "Option {} of {}: {} is out of range",
                        spec.name, component.name, value.value
                    ))
                    .at(&component.at.file, component.at.position)
                    .hint("Use a whole number from 1"),
                );
            }
            Ok(value) => {
                expanded.context.insert(spec.name.clone(), value.value.clone());
                expanded.options.insert(spec.name.clone(), value);
            }
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    if found.is_empty() {
        Ok(expanded)
    } else {
        Err(found)
    }
}

impl Expanded<'_> {
    pub fn recipe_source(&self, template: &Template) -> Source {
        self.line_source(template.at.line)
    }

    /// A default of the recipe's own, or of an option that every recipe has.
    fn default_source(&self, template: &Template) -> Source {
        match template.at.line {
            0 => Source::pass("expand", "default of every recipe"),
            _ => self.recipe_source(template),
        }
    }

    pub fn line_source(&self, line: u32) -> Source {
        Source::Recipe {
            recipe: self.recipe.name.clone(),
            line,
        }
    }

    /// The value of a template. Its source is the option it names, if it names just one; else the recipe.
    pub fn value(&self, template: &Template) -> Result<Sourced<Value>, Diagnostic> {
        let value = template.evaluate(&self.context).map_err(|why| {
            Diagnostic::new(format!("Recipe {}: {why}", self.recipe.name)).at(&self.recipe.file, template.at)
        })?;
        let mut named = template.names().filter_map(|name| self.options.get(name));
        let from = match (named.next(), named.next()) {
            (Some(option), None) => option.from.clone(),
            _ => self.recipe_source(template),
        };
        Ok(Sourced::new(value, from))
    }

    pub fn text(&self, template: &Template) -> Result<Sourced<String>, Diagnostic> {
        let Sourced { value, from } = self.value(template)?;
        let value = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            other => return Err(self.wrong(template, "text", &other)),
        };
        Ok(Sourced::new(value, from))
    }

    pub fn port(&self, template: &Template) -> Result<Sourced<u16>, Diagnostic> {
        let Sourced { value, from } = self.value(template)?;
        match value
            .as_u64()
            .and_then(|port| u16::try_from(port).ok())
            .filter(|port| *port > 0)
        {
            Some(port) => Ok(Sourced::new(port, from)),
            None => Err(self.wrong(template, "a port", &value)),
        }
    }

    fn wrong(&self, template: &Template, wanted: &str, value: &Value) -> Diagnostic {
        Diagnostic::new(format!("Recipe {}: {value} is not {wanted}", self.recipe.name))
            .at(&self.recipe.file, template.at)
    }
}

/// Options whose value the environment's table gives where nobody else does.
fn is_figure(option: &str) -> bool {
    matches!(option, "replicas" | "cpu" | "memory")
}

fn facts(component: &Component, recipe: &Recipe) -> Map<String, Value> {
    let instance = instance_name(&component.environment, &component.name);
    [
        ("component", component.name.clone()),
        ("environment", component.environment.clone()),
        ("instance", instance),
        ("version", recipe.version.clone()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), Value::String(value)))
    .collect()
}

/// An option's name as a flag.
pub fn flag(option: &str) -> String {
    option.replace('_', "-")
}
