//! Why a value is what it is: who set it, over whom, where that stands, and what changes it.

mod explain;

use crate::address::NodeKind;
use crate::called::Called;
use crate::catalog::Catalog;
use crate::compile::Compilation;
use crate::compose::compose;
use crate::diagnostic::Diagnostic;
use crate::kinds::{self, host};
use crate::name::{closest, quoted};
use crate::node::{Attribute, Node};
use crate::pillar::Pillar;
use crate::source::Source;
use explain::Explainer;
use serde::Serialize;
use serde_json::Value;

/// What a person wants to have explained.
pub struct Question<'q> {
    /// `job/grafana.group.count`, `job/grafana` or `grafana`.
    pub about: &'q str,
    pub environment: &'q str,
    /// The environment that a command means when it names none.
    pub usual_environment: &'q str,
}

pub struct Explanation {
    pub extent: Extent,
    pub explained: Vec<Explained>,
    /// Of the one node that was asked about as a whole: its other names.
    pub called: Vec<Called>,
}

/// How much was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Attribute,
    /// All or some attributes of one node, or of all nodes of a component.
    Several,
}

/// One attribute of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// None for a host, which all environments share.
    pub environment: Option<String>,
    pub component: String,
    pub address: String,
    pub attribute: String,
    pub value: Value,
    /// How far reality falls short of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<String>,
    pub from: Source,
    pub place: Option<Spot>,
    /// What else would have set it, strongest first.
    pub over: Vec<Rival>,
    /// The options it was made from, where there are several.
    pub made_of: Vec<Part>,
    pub change: Vec<Change>,
}

/// A file, and the line where that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spot {
    pub file: String,
    pub line: Option<u32>,
    /// The file is part of Eos, not of the estate.
    pub built_in: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// None where it could have set a value, and did not.
    pub value: Option<Value>,
    pub from: Source,
    pub place: Option<Spot>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    pub option: String,
    pub value: Value,
    pub from: Source,
    pub place: Option<Spot>,
}

/// What a person does to have another value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Change {
    Command {
        command: String,
    },
    Edit {
        place: Spot,
        what: String,
    },
    /// Nothing sets it by itself.
    Follows {
        from: String,
    },
}

/// Attributes of a group that every recipe has an option for.
const FIGURES: &[(&str, &str)] = &[("count", "replicas"), ("cpu", "cpu"), ("memory", "memory")];

pub fn why(
    question: &Question<'_>,
    pillar: &Pillar,
    catalog: &Catalog,
    compilation: &Compilation,
) -> Result<Explanation, Diagnostic> {
    let (composed, _) = compose(pillar, catalog);
    let hosts: Vec<Node> = pillar.hosts.values().map(host::node).collect();
    let all = compilation.all_nodes();
    let of_environment = all
        .iter()
        .filter(|((environment, _), _)| environment == question.environment)
        .flat_map(|(_, nodes)| nodes);
    let nodes: Vec<&Node> = of_environment.chain(&hosts).collect();
    let (subject, attribute) = split(question.about, &nodes);
    let named: Vec<&Node> = nodes
        .iter()
        .copied()
        .filter(|node| match subject.contains('/') {
            true => node.address.to_string() == subject,
            false => node.component == subject,
        })
        .collect();
    if named.is_empty() {
        return Err(unknown_subject(subject, question, &nodes, compilation));
    }
    let explainer = Explainer {
        question,
        pillar,
        catalog,
        compilation,
        composed: &composed,
    };
    let chosen = match attribute {
        None => named.iter().copied().flat_map(all_attributes).collect(),
        Some(wanted) => matching(&named, wanted).ok_or_else(|| unknown_attribute(subject, wanted, &named))?,
    };
    let explained: Vec<Explained> = chosen
        .into_iter()
        .map(|(node, name, attribute)| explainer.explain(node, name, attribute))
        .collect();
    let extent = match (attribute, explained.len()) {
        (Some(_), 1) => Extent::Attribute,
        _ => Extent::Several,
    };
    let called = match (attribute, named.as_slice()) {
        (None, [node]) => called(node, compilation),
        _ => Vec::new(),
    };
    Ok(Explanation {
        extent,
        explained,
        called,
    })
}

/// What engines call a node, where that is another name than its own.
fn called(node: &Node, compilation: &Compilation) -> Vec<Called> {
    let key = (node.environment.clone(), node.component.clone());
    match (kinds::of(node.address.kind), compilation.components.get(&key)) {
        (Some(kind), Some(component)) => kind.called(component, node),
        _ if node.address.kind == NodeKind::Host => host::called(&node.component),
        _ => Vec::new(),
    }
}

/// `job/grafana.group.count` as `job/grafana` and `group.count`. The name of a node, as that of a host, may have dots in
/// it: the longest that fits is meant.
fn split<'a>(about: &'a str, nodes: &[&Node]) -> (&'a str, Option<&'a str>) {
    let ends = nodes.iter().flat_map(|node| {
        [node.address.to_string(), node.component.clone()]
            .into_iter()
            .filter_map(|name| {
                let rest = about.strip_prefix(&name)?;
                (rest.is_empty() || rest.starts_with('.')).then_some(name.len())
            })
    });
    let dot = match ends.max() {
        Some(end) if end == about.len() => return (about, None),
        Some(end) => Some((&about[..end], &about[end + 1..])),
        None => about.split_once('.'),
    };
    match dot {
        Some((subject, attribute)) => (subject, Some(attribute)),
        None => (about, None),
    }
}

type NamedAttribute<'n> = (&'n Node, &'n str, &'n Attribute);

fn all_attributes(node: &Node) -> impl Iterator<Item = NamedAttribute<'_>> {
    let attributes = node.attributes.iter();
    attributes.map(move |(name, attribute)| (node, name.as_str(), attribute))
}

/// The attributes that a person means: by the whole name, by its beginning or end, or by the option that sets them.
fn matching<'n>(nodes: &[&'n Node], wanted: &str) -> Option<Vec<NamedAttribute<'n>>> {
    let by_name = |name: &str| name == wanted;
    let by_part = |name: &str| {
        let before = name
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.starts_with('.'));
        let after = name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'));
        before || after
    };
    let figure = FIGURES.iter().find(|(_, option)| *option == wanted);
    let by_option = |name: &str, attribute: &Attribute| {
        let is_figure = figure.is_some_and(|(of, _)| last(name) == *of);
        is_figure || option_of(&attribute.from) == Some(wanted) || is_made_of(&attribute.from, wanted)
    };
    let pick = |fits: &dyn Fn(&str, &Attribute) -> bool| -> Option<Vec<NamedAttribute<'n>>> {
        let all = nodes.iter().copied().flat_map(all_attributes);
        let found: Vec<_> = all.filter(|(_, name, attribute)| fits(name, attribute)).collect();
        (!found.is_empty()).then_some(found)
    };
    pick(&|name, _| by_name(name))
        .or_else(|| pick(&|name, _| by_part(name)))
        .or_else(|| pick(&by_option))
}

/// The last word of an attribute's name.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The option of the component itself that a value comes from.
fn option_of(source: &Source) -> Option<&str> {
    match source {
        Source::Option { option, .. } | Source::Consumer { option, .. } => Some(option),
        Source::Recipe { default_of, .. } => default_of.as_deref(),
        Source::Environment { key, .. } => Some(key),
        Source::Below { from, .. } => option_of(from),
        _ => None,
    }
}

/// Whether an option, or a component used under that name, is part of a value.
fn is_made_of(source: &Source, wanted: &str) -> bool {
    let Source::Recipe { made_of, .. } = source else {
        return false;
    };
    let mut options = made_of.iter().map(|part| part.option.as_str());
    options.any(|option| option == wanted || option.split('.').next() == Some(wanted))
}

fn unknown_subject(
    subject: &str,
    question: &Question<'_>,
    nodes: &[&Node],
    compilation: &Compilation,
) -> Diagnostic {
    let environment = question.environment;
    let is_address = subject.contains('/');
    let all = compilation.all_nodes();
    let elsewhere = all.iter().find(|((of, component), nodes)| {
        let there = match is_address {
            true => nodes.iter().any(|node| node.address.to_string() == subject),
            false => component == subject,
        };
        of != environment && there
    });
    let names: Vec<String> = nodes
        .iter()
        .map(|node| match is_address {
            true => node.address.to_string(),
            false => node.component.clone(),
        })
        .collect();
    let meant = closest(subject, names.iter().map(String::as_str));
    let kinds = NodeKind::ALL.map(NodeKind::word);
    let hint = match (elsewhere, meant, subject.split_once('/')) {
        (Some(((of, _), _)), ..) => format!("It is in {of}: --environment {of}"),
        (None, Some(meant), _) => format!("Did you mean {meant}?"),
        (None, None, Some((kind, _))) if !kinds.contains(&kind) => {
            format!("An address begins with {}/", kinds.join("/, "))
        }
        (None, None, Some((kind, _))) => {
            let of_kind: Vec<String> = nodes
                .iter()
                .filter(|node| node.address.kind.word() == kind)
                .map(|node| node.address.to_string())
                .take(SHOWN)
                .collect();
            match of_kind.is_empty() {
                true => format!("There is no {kind} in {environment}; `eos graph` shows what there is"),
                false => format!("There is {}", of_kind.join(", ")),
            }
        }
        (None, None, None) => "`eos list` shows the components, `eos graph` all addresses".to_owned(),
    };
    let what = if is_address { "node" } else { "component" };
    Diagnostic::new(format!("There is no {what} {} in {environment}", quoted(subject))).hint(hint)
}

/// How many names a hint lists.
const SHOWN: usize = 8;

fn unknown_attribute(subject: &str, wanted: &str, nodes: &[&Node]) -> Diagnostic {
    let names = || {
        nodes
            .iter()
            .flat_map(|node| node.attributes.keys())
            .map(String::as_str)
    };
    let by_end = || closest(wanted, names().map(last));
    let meant = closest(wanted, names()).or_else(|| names().find(|name| Some(last(name)) == by_end()));
    let hint = match meant {
        Some(meant) => format!("Did you mean {subject}.{meant}?"),
        None => format!("`eos why {subject}` shows what it has"),
    };
    Diagnostic::new(format!("{subject} has no attribute {}", quoted(wanted))).hint(hint)
}
