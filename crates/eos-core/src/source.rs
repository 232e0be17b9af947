//! Provenance: which option, recipe line, environment default, host fact or pass set a value.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Source {
    /// Set in the pillar, by a flag or by hand.
    Option { option: String, file: String, line: u32 },
    /// Set by the recipe: in so many words, as the default of an option, or made from the values of options.
    Recipe {
        recipe: String,
        line: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_of: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        made_of: Vec<Ingredient>,
    },
    /// The least that the recipe can do with.
    Minimum { recipe: String, line: u32 },
    /// Default of the environment's table.
    Environment { environment: String, key: String },
    /// A fact about a host, from the pillar.
    Host { host: String, file: String, line: u32 },
    /// Written into the pillar when the component was made, so that it stays as it was.
    Kept { what: String, file: String, line: u32 },
    /// A person stopped the component.
    Stopped { file: String, line: u32 },
    /// Given to what it uses by the recipe of another component.
    Consumer {
        component: String,
        option: String,
        recipe: String,
        line: u32,
    },
    /// An option of a component that this one uses.
    Used {
        component: String,
        option: String,
        from: Box<Source>,
    },
    /// A path that lies below the directory that a host has for all volumes.
    Below { host: String, from: Box<Source> },
    /// Decided by a pass of the compiler.
    Pass { pass: String, reason: String },
}

/// An option that a value was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ingredient {
    pub option: String,
    pub value: Value,
    pub from: Source,
}

impl Source {
    pub fn pass(pass: &str, reason: impl Into<String>) -> Self {
        Self::Pass {
            pass: pass.to_owned(),
            reason: reason.into(),
        }
    }

    /// The recipe's own words in a line of it.
    pub fn recipe(recipe: &str, line: u32) -> Self {
        Self::Recipe {
            recipe: recipe.to_owned(),
            line,
            default_of: None,
            made_of: Vec::new(),
        }
    }

    /// Who set it, without the place.
    pub fn words(&self) -> String {
        match self {
            Self::Option { option, .. } => format!("option {option}"),
            Self::Recipe {
                recipe,
                default_of,
                made_of,
                ..
            } => {
                let default = default_of
                    .as_ref()
                    .map_or_else(String::new, |option| format!(", default of {option}"));
                let made = match made_of.as_slice() {
                    [] => String::new(),
                    made_of => {
                        let names: Vec<_> = made_of.iter().map(|part| part.option.as_str()).collect();
                        format!(", made of {}", names.join(", "))
                    }
                };
                format!("recipe {recipe}{default}{made}")
            }
            Self::Minimum { recipe, .. } => format!("recipe {recipe}, which needs this at least"),
            Self::Environment { environment, key } => {
                format!("environment {environment}, default for {key}")
            }
            Self::Host { host, .. } => format!("host {host}"),
            Self::Kept { what, .. } => format!("{what}, kept in the pillar"),
            Self::Stopped { .. } => "stopped".to_owned(),
            Self::Consumer {
                component,
                option,
                recipe,
                ..
            } => format!("option {option}, given by recipe {recipe} of {component}"),
            Self::Used {
                component,
                option,
                from,
            } => {
                let how = match from.as_ref() {
                    Self::Option { .. } => String::new(),
                    Self::Recipe { recipe, .. } => format!(", default of recipe {recipe}"),
                    Self::Consumer {
                        component, recipe, ..
                    } => format!(", given by recipe {recipe} of {component}"),
                    from => format!(": {}", from.words()),
                };
                format!("option {option} of {component}{how}")
            }
            Self::Below { host, from } => format!("{}, below volumes_below of host {host}", from.words()),
            Self::Pass { pass, reason } => format!("pass {pass}: {reason}"),
        }
    }
}

/// Who set it, and where.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())?;
        let mut told = self;
        while let Self::Used { from, .. } | Self::Below { from, .. } = told {
            told = from;
        }
        match told {
            Self::Option { file, line, .. }
            | Self::Host { file, line, .. }
            | Self::Kept { file, line, .. }
            | Self::Stopped { file, line } => {
                write!(f, ", {file}:{line}")
            }
            Self::Recipe { line, .. } | Self::Minimum { line, .. } | Self::Consumer { line, .. }
                if *line > 0 =>
            {
                write!(f, ", line {line}")
            }
            _ => Ok(()),
        }
    }
}

/// A value that remembers where it came from, and what it won over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sourced<T> {
    pub value: T,
    pub from: Source,
    pub over: Box<[Overruled]>,
}

/// A value that another source would have given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overruled {
    pub value: Value,
    pub from: Source,
}

impl<T> Sourced<T> {
    pub fn new(value: T, from: Source) -> Self {
        Self {
            value,
            from,
            over: Box::default(),
        }
    }

    pub fn over(mut self, over: impl IntoIterator<Item = Overruled>) -> Self {
        self.over = over.into_iter().collect();
        self
    }

    /// Another form of the same value.
    pub fn map<U>(&self, map: impl FnOnce(&T) -> U) -> Sourced<U> {
        Sourced {
            value: map(&self.value),
            from: self.from.clone(),
            over: self.over.clone(),
        }
    }
}
