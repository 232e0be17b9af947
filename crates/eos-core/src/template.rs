//! Values of a recipe that may hold `{{ expressions }}` over options and facts.

mod bounded;

use crate::diagnostic::Position;
use crate::option::TEXT_LIMIT;
use crate::yaml::Node;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What every template may name beside the recipe's options.
pub const FACTS: &[&str] = &["component", "environment", "instance", "version"];
/// What the values that a task reads may name as well: where it finds its files, and where it is to listen.
pub const TASK_FACTS: &[&str] = &[
    "component",
    "environment",
    "instance",
    "version",
    "files_dir",
    "listen_address",
    "secrets_dir",
];
/// What outputs may name as well: known once the service is registered.
pub const OUTPUT_FACTS: &[&str] = &[
    "component",
    "environment",
    "instance",
    "version",
    "address",
    "port",
];

/// A literal, or an expression to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    kind: Kind,
    pub at: Position,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Literal(Value),
    /// Nothing but one `{{ expression }}`: keeps the type of its value.
    Expression(Code),
    /// Text with expressions in it.
    Text(Code),
}

#[derive(Clone, Debug, PartialEq)]
struct Code {
    /// As the recipe has it.
    written: String,
    /// The same with bounds: this is what runs.
    bounded: String,
    /// The names it needs.
    names: Vec<String>,
}

static SYNTAX: LazyLock<SyntaxConfig> = LazyLock::new(|| {
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build();
    syntax.expect("the usual delimiters are sound")
});

/// Made once: it costs more than most evaluations.
static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::new();
    // These make much of little before anything can measure it.
    for filter in [
        "replace", "join", "indent", "format", "batch", "slice", "sum", "pprint",
    ] {
        engine.remove_filter(filter);
    }
    engine.add_filter("tojson", to_json);
    engine.add_filter(bounded::METER, bounded::meter);
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    engine.set_syntax(SYNTAX.clone());
    // Enough for any honest template; a loop over loops ends with an error.
    engine.set_fuel(Some(1_000_000));
    engine.add_filter("bytes", size_in_bytes);
    engine
});

/// Without indentation, which could be of any width.
fn to_json(value: &minijinja::Value) -> Result<minijinja::Value, minijinja::Error> {
    let text = minijinja::filters::tojson(
        value,
        None,
        std::iter::empty::<(&str, minijinja::Value)>().collect(),
    )?;
    // What is not known yet is quoted when it is put in.
    match text.as_str() {
        Some(known) if crate::runtime::has_mark(known) => Ok(minijinja::Value::from_safe_string(
            crate::runtime::in_quotes(known),
        )),
        _ => Ok(text),
    }
}

/// `{{ size | bytes }}`: for programs that know no units.
fn size_in_bytes(size: &str) -> Result<u64, minijinja::Error> {
    crate::option::bytes(size)
        .map_err(|why| minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, why))
}

impl Template {
    /// A value that needs no evaluation and stands in no file.
    pub fn constant(value: impl Into<Value>) -> Self {
        Self {
            kind: Kind::Literal(value.into()),
            at: Position { line: 0, column: 0 },
        }
    }

    /// Nothing but one name.
    pub fn name(name: &str, at: Position) -> Option<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits);
        plain.then(|| Self {
            kind: Kind::Expression(Code {
                written: name.to_owned(),
                bounded: name.to_owned(),
                names: vec![name.to_owned()],
            }),
            at,
        })
    }

    /// A value: literals, and expressions in double braces.
    pub fn read(node: &Node) -> Result<Self, String> {
        if node.as_str().is_some_and(|text| text.contains("{%")) {
            return Err("only {{ expressions }} are understood".to_owned());
        }
        Self::read_document(node)
    }

    /// As `read`, and the text may have `{% for %}` and `{% if %}` in it.
    pub fn read_document(node: &Node) -> Result<Self, String> {
        let text = match node.as_str() {
            Some(text) if text.len() > TEXT_LIMIT => {
                return Err(format!("it is longer than {TEXT_LIMIT} bytes"));
            }
            Some(text) if crate::runtime::has_mark(text) => return Err("it holds a noncharacter".to_owned()),
            Some(text) if text.contains("{{") || text.contains("{%") => text,
            _ => {
                return Ok(Self {
                    kind: Kind::Literal(node.to_json()),
                    at: node.at,
                });
            }
        };
        let inner = text
            .trim()
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"));
        let kind = match inner.filter(|inner| !inner.contains("}}")) {
            Some(expression) => {
                let bounded = bounded::rewritten_expression(expression, &SYNTAX)?;
                let compiled = ENGINE.compile_expression(&bounded).map_err(|e| e.to_string())?;
                let names = sorted(compiled.undeclared_variables(true));
                Kind::Expression(Code::new(expression, bounded, names))
            }
            None => {
                let bounded = bounded::rewritten_text(text, &SYNTAX)?;
                let compiled = ENGINE.template_from_str(&bounded).map_err(|e| e.to_string())?;
                let names = sorted(compiled.undeclared_variables(true));
                Kind::Text(Code::new(text, bounded, names))
            }
        };
        Ok(Self { kind, at: node.at })
    }

    /// The names it needs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        match &self.kind {
            Kind::Literal(_) => [].iter(),
            Kind::Expression(code) | Kind::Text(code) => code.names.iter(),
        }
        .map(String::as_str)
    }

    /// The names it needs, of `database.port` only `database`.
    fn roots(&self) -> impl Iterator<Item = &str> {
        self.names()
            .map(|name| name.split_once('.').map_or(name, |(root, _)| root))
    }

    /// The expression as it was written, for people.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Literal(value) => value.to_string(),
            Kind::Expression(code) | Kind::Text(code) => code.written.trim().to_owned(),
        }
    }

    /// The value as the recipe has it.
    pub fn written(&self) -> Value {
        match &self.kind {
            Kind::Literal(value) => value.clone(),
            Kind::Expression(code) => format!("{{{{ {} }}}}", code.written.trim()).into(),
            Kind::Text(code) => code.written.as_str().into(),
        }
    }

    pub fn literal(&self) -> Option<&Value> {
        match &self.kind {
            Kind::Literal(value) => Some(value),
            _ => None,
        }
    }

    pub fn evaluate(&self, context: &serde_json::Map<String, Value>) -> Result<Value, String> {
        if let Some(value) = self.plain_value(context) {
            return Ok(value.clone());
        }
        // The engine converts what it is given, so it is given no more than is named.
        let context: BTreeMap<&str, &Value> = self
            .roots()
            .filter_map(|name| Some((name, context.get(name)?)))
            .collect();
        match &self.kind {
            Kind::Literal(value) => Ok(value.clone()),
            Kind::Expression(code) => {
                let compiled = ENGINE
                    .compile_expression(&code.bounded)
                    .map_err(|e| e.to_string())?;
                let value = compiled
                    .eval(minijinja::value::Serde(&context))
                    .and_then(|value| bounded::check_value(&value).map(|()| value))
                    .map_err(|e| e.to_string())?;
                serde_json::to_value(value).map_err(|e| e.to_string())
            }
            Kind::Text(code) => {
                let compiled = ENGINE
                    .template_from_str(&code.bounded)
                    .map_err(|e| e.to_string())?;
                let mut text = bounded::Limited::default();
                compiled
                    .render_captured_to(minijinja::value::Serde(&context), &mut text)
                    .map_err(|e| bounded::words(&e))?;
                text.into_text().map(Value::String)
            }
        }
    }

    /// The value of what needs no engine: a literal, or nothing but the name of a plain value.
    fn plain_value<'v>(&'v self, context: &'v serde_json::Map<String, Value>) -> Option<&'v Value> {
        match &self.kind {
            Kind::Literal(value) => Some(value),
            Kind::Expression(code) => match code.names.as_slice() {
                [name] if name == code.written.trim() => context
                    .get(name)
                    .filter(|value| !value.is_array() && !value.is_object()),
                _ => None,
            },
            Kind::Text(..) => None,
        }
    }
}

impl Code {
    fn new(written: &str, bounded: String, names: Vec<String>) -> Self {
        Self {
            written: written.to_owned(),
            bounded,
            names,
        }
    }
}

fn sorted(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort();
    names
}
