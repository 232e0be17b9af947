//! Why a value is what it is: who set it, over whom, where that stands, and what changes it.

use crate::catalog::{Catalog, kept_file};
use crate::compile::Compilation;
use crate::compose::{Composed, compose};
use crate::diagnostic::Diagnostic;
use crate::expand::{Expanded, flag};
use crate::lowered::Lowered;
use crate::name::{closest, quoted};
use crate::node::{Attribute, Node, host_node};
use crate::option::OptionType;
use crate::pillar::{Host, Pillar};
use crate::recipe::{Recipe, Service, VolumeNeed};
use crate::source::Source;
use crate::template::Template;
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

pub struct Answer {
    pub extent: Extent,
    pub explained: Vec<Explained>,
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

/// The kinds of nodes, as addresses begin.
const KINDS: &[&str] = &["host", "job", "namespace", "secret", "service", "volume"];

/// Attributes of a group that every recipe has an option for.
const FIGURES: &[(&str, &str)] = &[("count", "replicas"), ("cpu", "cpu"), ("memory", "memory")];

pub fn why(
    question: &Question<'_>,
    pillar: &Pillar,
    catalog: &Catalog,
    compilation: &Compilation,
) -> Result<Answer, Diagnostic> {
    let (composed, _) = compose(pillar, catalog);
    let hosts: Vec<Node> = pillar.hosts.values().map(host_node).collect();
    let of_environment = compilation
        .nodes
        .iter()
        .filter(|((environment, _), _)| environment == question.environment)
        .flat_map(|(_, nodes)| nodes);
    let nodes: Vec<&Node> = of_environment.chain(&hosts).collect();
    let (subject, attribute) = split(question.about);
    let named: Vec<&Node> = nodes
        .iter()
        .copied()
        .filter(|node| match subject.contains('/') {
            true => node.address == subject,
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
    Ok(Answer { extent, explained })
}

/// `job/grafana.group.count` as `job/grafana` and `group.count`: no name has a dot in it.
fn split(about: &str) -> (&str, Option<&str>) {
    match about.split_once('.') {
        Some((subject, attribute)) => (subject, Some(attribute)),
        None => (about, None),
    }
}

type Found<'n> = (&'n Node, &'n str, &'n Attribute);

fn all_attributes(node: &Node) -> impl Iterator<Item = Found<'_>> {
    let attributes = node.attributes.iter();
    attributes.map(move |(name, attribute)| (node, name.as_str(), attribute))
}

/// The attributes that a person means: by the whole name, by its beginning or end, or by the option that sets them.
fn matching<'n>(nodes: &[&'n Node], wanted: &str) -> Option<Vec<Found<'n>>> {
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
    let pick = |fits: &dyn Fn(&str, &Attribute) -> bool| -> Option<Vec<Found<'n>>> {
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
    let elsewhere = compilation.nodes.iter().find(|((of, component), nodes)| {
        let there = match is_address {
            true => nodes.iter().any(|node| node.address == subject),
            false => component == subject,
        };
        of != environment && there
    });
    let names = nodes.iter().map(|node| match is_address {
        true => node.address.as_str(),
        false => node.component.as_str(),
    });
    let hint = match (elsewhere, closest(subject, names), subject.split_once('/')) {
        (Some(((of, _), _)), ..) => format!("It is in {of}: --environment {of}"),
        (None, Some(meant), _) => format!("Did you mean {meant}?"),
        (None, None, Some((kind, _))) if !KINDS.contains(&kind) => {
            format!("An address begins with {}/", KINDS.join("/, "))
        }
        (None, None, Some((kind, _))) => {
            let prefix = format!("{kind}/");
            let of_kind: Vec<_> = nodes
                .iter()
                .map(|node| node.address.as_str())
                .filter(|address| address.starts_with(&prefix))
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

/// What explanations are made from.
struct Explainer<'a> {
    question: &'a Question<'a>,
    pillar: &'a Pillar,
    catalog: &'a Catalog,
    compilation: &'a Compilation,
    composed: &'a Composed<'a>,
}

/// The component that a value belongs to.
#[derive(Clone, Copy)]
struct Home<'a> {
    expanded: &'a Expanded<'a>,
    lowered: &'a Lowered,
}

/// What of its recipe an attribute comes from, where it is a service or a volume.
#[derive(Clone, Copy, Default)]
struct Origin<'a> {
    service: Option<&'a Service>,
    volume: Option<(&'a VolumeNeed, &'a Host)>,
}

impl<'a> Explainer<'a> {
    fn explain(&self, node: &Node, name: &str, attribute: &Attribute) -> Explained {
        let home = self.home(&node.component);
        let origin = home.map_or_else(Origin::default, |home| self.origin(home, node, name));
        let from = &attribute.from;
        let mut over: Vec<Rival> = attribute
            .over
            .iter()
            .map(|other| Rival {
                value: Some(other.value.clone()),
                from: other.from.clone(),
                place: match other.from {
                    // Its table is in no file.
                    Source::Environment { .. } => None,
                    _ => self.place(home, origin, name, &other.from),
                },
            })
            .collect();
        over.extend(self.silent_recipe(home, origin, attribute));
        let made_of = match from {
            Source::Recipe { made_of, .. } => made_of.as_slice(),
            _ => &[],
        };
        let part = |part: &crate::source::Ingredient| Part {
            option: part.option.clone(),
            value: part.value.clone(),
            from: part.from.clone(),
            place: self.place(home, origin, name, &part.from),
        };
        Explained {
            environment: Some(node.environment.clone()).filter(|environment| !environment.is_empty()),
            component: node.component.clone(),
            address: node.address.clone(),
            attribute: name.to_owned(),
            value: attribute.value.clone(),
            from: from.clone(),
            place: self.place(home, origin, name, from),
            over,
            made_of: made_of.iter().map(part).collect(),
            change: self.change(home, origin, name, from),
        }
    }

    fn home(&self, component: &str) -> Option<Home<'a>> {
        let key = (self.question.environment.to_owned(), component.to_owned());
        Some(Home {
            expanded: self.composed.components.get(&key)?,
            lowered: self.compilation.components.get(&key)?,
        })
    }

    fn origin(&self, home: Home<'a>, node: &Node, name: &str) -> Origin<'a> {
        let recipe = home.expanded.recipe;
        let group = match home.lowered.groups.as_slice() {
            [group] => Some(group),
            groups => groups.iter().find(|group| {
                let mut words = name.split('.');
                let of_job = words.next() == Some("group") && words.next() == Some(&group.name);
                of_job || node.address == format!("service/{}", group.service)
            }),
        };
        let volume = home.lowered.volumes.iter().find(|volume| {
            let own = node.address.strip_prefix("volume/");
            let with_host = format!("{}@{}", volume.name, volume.host.value);
            own.is_some_and(|own| own == volume.name || own == with_host)
        });
        Origin {
            service: group
                .and_then(|group| recipe.services.iter().find(|service| service.name == group.name)),
            volume: volume.and_then(|volume| {
                let need = recipe.volumes.iter().find(|need| need.name == volume.need)?;
                Some((need, self.pillar.hosts.get(&volume.host.value)?))
            }),
        }
    }

    /// Where the environment's table decided, the recipe could have.
    fn silent_recipe(
        &self,
        home: Option<Home<'_>>,
        origin: Origin<'_>,
        attribute: &Attribute,
    ) -> Option<Rival> {
        let (Source::Environment { key, .. }, Some(home), Some(service)) =
            (&attribute.from, home, origin.service)
        else {
            return None;
        };
        FIGURES.iter().find(|(_, option)| option == key)?;
        let recipe = home.expanded.recipe;
        Some(Rival {
            value: None,
            from: Source::recipe(&recipe.name, service.at.line),
            place: Some(self.in_recipe(recipe, Some(service.at.line))),
        })
    }

    fn place(&self, home: Option<Home<'_>>, origin: Origin<'_>, name: &str, source: &Source) -> Option<Spot> {
        match source {
            Source::Option { file, line, .. }
            | Source::Host { file, line, .. }
            | Source::Kept { file, line, .. } => Some(in_estate(file, *line)),
            Source::Recipe { line, .. } | Source::Minimum { line, .. } => {
                Some(self.in_recipe(home?.expanded.recipe, Some(*line)))
            }
            Source::Environment { .. } => Some(of_component(home?)),
            Source::Consumer { component, line, .. } => {
                Some(self.in_recipe(self.home(component)?.expanded.recipe, Some(*line)))
            }
            Source::Used { component, from, .. } => {
                self.place(self.home(component), Origin::default(), name, from)
            }
            Source::Below { from, .. } => self.place(home, origin, name, from),
            Source::Pass { .. } => self.place_of_pass(home?, origin, name),
        }
    }

    /// The fact that a pass of the compiler decided by.
    fn place_of_pass(&self, home: Home<'_>, origin: Origin<'_>, name: &str) -> Option<Spot> {
        let recipe = home.expanded.recipe;
        match (last(name), origin.volume, origin.service) {
            ("filesystem", Some((_, host)), _) if has_no_disk(host) => Some(of_host(host)),
            ("filesystem", Some((need, _)), _) => Some(self.in_recipe(recipe, Some(need.at.line))),
            ("volume_group", Some((_, host)), _) => Some(of_host(host)),
            ("host", Some(_), _) => Some(of_component(home)),
            ("count", _, Some(service)) => Some(self.in_recipe(recipe, Some(service.at.line))),
            ("datacenter", ..) => None,
            ("name", ..) => Some(of_component(home)),
            _ => Some(self.in_recipe(recipe, None)),
        }
    }

    /// The recipe as the estate keeps it for the component, if it does.
    fn in_recipe(&self, recipe: &Recipe, line: Option<u32>) -> Spot {
        let own = recipe.file.starts_with("recipes/");
        let (file, built_in) = match (own, self.catalog.keeps(recipe)) {
            (true, _) => (recipe.file.clone(), false),
            (false, true) => (kept_file(recipe), false),
            (false, false) => (recipe.file.clone(), true),
        };
        Spot {
            file,
            line: line.filter(|line| *line > 0),
            built_in,
        }
    }

    fn change(&self, home: Option<Home<'_>>, origin: Origin<'_>, name: &str, source: &Source) -> Vec<Change> {
        let figure = FIGURES.iter().find(|(of, _)| *of == last(name));
        let only_one = origin.service.is_some_and(|service| service.one);
        let figure = figure
            .filter(|(of, _)| name.starts_with("group.") && !(only_one && *of == "count"))
            .map(|(_, option)| *option);
        let option = option_of(source).or(figure);
        if let Some((home, option)) = home.zip(option)
            && let Some(command) = self.update(home, option)
        {
            return vec![command];
        }
        match (source, home) {
            (
                Source::Used {
                    component, option, ..
                },
                _,
            ) => {
                let used = self.home(component);
                used.and_then(|used| self.update(used, option))
                    .into_iter()
                    .collect()
            }
            (Source::Host { file, line, host }, _) => vec![Change::Edit {
                place: in_estate(file, *line),
                what: format!("{} of host {host}", last(name)),
            }],
            (Source::Kept { file, line, what }, _) => vec![Change::Edit {
                place: in_estate(file, *line),
                what: format!("{what}, after its data was moved"),
            }],
            (Source::Recipe { made_of, .. }, Some(home)) if !made_of.is_empty() => made_of
                .iter()
                .flat_map(|part| match &part.from {
                    Source::Used { .. } => self.change(Some(home), origin, &part.option, &part.from),
                    _ => self.update(home, &part.option).into_iter().collect(),
                })
                .collect(),
            (Source::Recipe { line, .. } | Source::Minimum { line, .. }, Some(home)) => {
                vec![self.edit_recipe(home, Some(*line))]
            }
            (Source::Environment { environment, .. }, _) => {
                vec![follows(format!("from the environment, {environment}"))]
            }
            (Source::Pass { .. }, Some(home)) => self.change_of_pass(home, origin, name),
            (Source::Pass { .. }, None) => {
                vec![follows(format!(
                    "from the environment, {}",
                    self.question.environment
                ))]
            }
            _ => vec![follows("from how the component was made".to_owned())],
        }
    }

    fn change_of_pass(&self, home: Home<'_>, origin: Origin<'_>, name: &str) -> Vec<Change> {
        let component = &home.expanded.component;
        match (last(name), origin.volume, origin.service) {
            ("filesystem", Some((need, host)), _) => {
                let named = need.filesystem.iter().flat_map(Template::names);
                let mut changes: Vec<_> = named.filter_map(|option| self.update(home, option)).collect();
                if has_no_disk(host) {
                    changes.push(Change::Edit {
                        place: of_host(host),
                        what: "give the host a volume_group, or devices".to_owned(),
                    });
                } else if changes.is_empty() {
                    changes.push(self.edit_recipe(home, Some(need.at.line)));
                }
                changes
            }
            ("volume_group", Some((_, host)), _) => vec![Change::Edit {
                place: of_host(host),
                what: "give the host a volume_group".to_owned(),
            }],
            ("host", Some((need, _)), _) => vec![Change::Edit {
                place: of_component(home),
                what: format!("hosts: {{{}: [HOST]}}, before it is made", need.name),
            }],
            ("count", _, Some(service)) => vec![self.edit_recipe(home, Some(service.at.line))],
            ("datacenter", ..) => self.update(home, "datacenter").into_iter().collect(),
            ("version", ..) => vec![Change::Command {
                command: self.in_environment(format!("eos update {} --upgrade", component.name)),
            }],
            ("name", ..) => vec![follows("from the name and the environment".to_owned())],
            _ => vec![self.edit_recipe(home, None)],
        }
    }

    /// The command that sets an option, if the recipe has it.
    fn update(&self, home: Home<'_>, option: &str) -> Option<Change> {
        let spec = home.expanded.recipe.settable().find(|spec| spec.name == option)?;
        let value = match spec.kind {
            OptionType::Flag => format!("={}", spec.kind.placeholder()),
            _ => format!(" {}", spec.kind.placeholder()),
        };
        let component = &home.expanded.component.name;
        Some(Change::Command {
            command: self.in_environment(format!("eos update {component} --{}{value}", flag(option))),
        })
    }

    fn in_environment(&self, command: String) -> String {
        let Question {
            environment,
            usual_environment,
            ..
        } = self.question;
        match environment == usual_environment {
            true => command,
            false => format!("{command} --environment {environment}"),
        }
    }

    /// No option sets it: a recipe does.
    fn edit_recipe(&self, home: Home<'_>, line: Option<u32>) -> Change {
        let recipe = home.expanded.recipe;
        let newest = self.catalog.get(&recipe.name);
        let own = newest.filter(|newest| newest.file.starts_with("recipes/"));
        let Some(own) = own else {
            let name = &recipe.name;
            return follows(format!(
                "from recipe {name}; a copy of it in recipes/{name}/recipe.yaml can say otherwise"
            ));
        };
        let component = &home.expanded.component;
        let upgrade = match component.pinned.contains_key(&recipe.name) {
            true => {
                let upgrade = self.in_environment(format!("eos update {} --upgrade", component.name));
                format!("the recipe, then {upgrade}")
            }
            false => "the recipe".to_owned(),
        };
        Change::Edit {
            place: Spot {
                file: own.file.clone(),
                line: line.filter(|_| own.pin == recipe.pin),
                built_in: false,
            },
            what: upgrade,
        }
    }
}

fn has_no_disk(host: &Host) -> bool {
    host.volume_group.is_none() && host.devices.is_empty()
}

fn follows(from: String) -> Change {
    Change::Follows { from }
}

fn in_estate(file: &str, line: u32) -> Spot {
    Spot {
        file: file.to_owned(),
        line: Some(line),
        built_in: false,
    }
}

fn of_host(host: &Host) -> Spot {
    in_estate(&host.at.file, host.at.position.line)
}

fn of_component(home: Home<'_>) -> Spot {
    let at = &home.expanded.component.at;
    in_estate(&at.file, at.position.line)
}
