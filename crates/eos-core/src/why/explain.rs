//! Explaining one attribute: the places of its sources, and what changes it.

use super::{Change, Explained, FIGURES, Part, Question, Rival, Spot, last, option_of};
use crate::address::NodeKind;
use crate::catalog::{Catalog, kept_file};
use crate::compile::Compilation;
use crate::compose::Composed;
use crate::expand::{Expanded, flag};
use crate::kinds::{job, volume};
use crate::lowered::{Lowered, Volume};
use crate::node::{Attribute, Node};
use crate::option::OptionType;
use crate::output::PUBLIC_URL;
use crate::pillar::{Host, Pillar};
use crate::recipe::{Recipe, Service, VolumeNeed};
use crate::source::{Ingredient, Source};
use crate::template::Template;

/// What explanations are made from.
pub struct Explainer<'a> {
    pub question: &'a Question<'a>,
    pub pillar: &'a Pillar,
    pub catalog: &'a Catalog,
    pub compilation: &'a Compilation,
    pub composed: &'a Composed<'a>,
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
    pub fn explain(&self, node: &Node, name: &str, attribute: &Attribute) -> Explained {
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
        let part = |part: &Ingredient| Part {
            option: part.option.clone(),
            value: part.value.clone(),
            from: part.from.clone(),
            place: self.place(home, origin, name, &part.from),
        };
        Explained {
            environment: Some(node.environment.clone()).filter(|environment| !environment.is_empty()),
            component: node.component.clone(),
            address: node.address.to_string(),
            attribute: name.to_owned(),
            value: attribute.value.clone(),
            truth: self.volume(node).and_then(|volume| volume::truth(volume, name)),
            from: from.clone(),
            place: self
                .place(home, origin, name, from)
                .or_else(|| self.place_of_standing(node)),
            over,
            made_of: made_of.iter().map(part).collect(),
            change: match self.change_of_volume(node, name) {
                Some(change) => vec![change],
                None => self.change(home, origin, name, from),
            },
        }
    }

    fn volume(&self, node: &Node) -> Option<&'a Volume> {
        let key = (node.environment.clone(), node.component.clone());
        let mut volumes = self.compilation.components.get(&key)?.volumes.iter();
        volumes.find(|volume| volume::address(volume) == node.address)
    }

    /// Where a volume that stands for itself stands.
    fn place_of_standing(&self, node: &Node) -> Option<Spot> {
        let volume = self.pillar.volume(&node.environment, &node.component)?;
        Some(in_estate(&volume.at.file, volume.at.position.line))
    }

    /// What a volume on LVM is, its own verbs change.
    fn change_of_volume(&self, node: &Node, name: &str) -> Option<Change> {
        let volume = self.volume(node).filter(|volume| volume.lvm.is_some())?;
        let command = match name {
            "size" => format!("eos resize lvm {} SIZE", volume.name),
            "filesystem" | "compression" => {
                format!("eos convert filesystem {} FILESYSTEM", volume.path.value)
            }
            _ => return None,
        };
        Some(Change::Command {
            command: self.in_environment(command),
        })
    }

    /// A job that a component has beside its own has what its owner was given.
    fn home(&self, component: &str) -> Option<Home<'a>> {
        let key = (self.question.environment.to_owned(), component.to_owned());
        let owner = match self.composed.members.get(&key) {
            Some(member) => &(key.0.clone(), member.owner.clone()),
            None => &key,
        };
        Some(Home {
            expanded: self.composed.components.get(owner)?,
            lowered: self.compilation.components.get(&key)?,
        })
    }

    fn origin(&self, home: Home<'a>, node: &Node, name: &str) -> Origin<'a> {
        let recipe = home.expanded.recipe;
        let group = match &*home.lowered.groups {
            [group] => Some(group),
            groups => groups.iter().find(|group| {
                let mut words = name.split('.');
                let of_job = words.next() == Some("group") && words.next() == Some(&group.name);
                of_job || node.address == job::service_address(group)
            }),
        };
        let volume = home.lowered.volumes.iter().find(|volume| {
            let is_one_of_several = node.address == NodeKind::Volume.at(&volume.name);
            is_one_of_several || node.address == volume::address(volume)
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
            | Source::Kept { file, line, .. }
            | Source::Stopped { file, line } => Some(in_estate(file, *line)),
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
            ("datacenter" | "callers" | "reached" | "catalogue", ..) => None,
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
        if let (Source::Stopped { .. }, Some(home)) = (source, home) {
            let command = format!("eos start {}", home.expanded.component.name);
            return vec![Change::Command {
                command: self.in_environment(command),
            }];
        }
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
                what: format!("{what}, after you moved its data"),
            }],
            (Source::Recipe { made_of, .. }, Some(home)) if !made_of.is_empty() => made_of
                .iter()
                .flat_map(|part| match &part.from {
                    Source::Used { .. } => self.change(Some(home), origin, &part.option, &part.from),
                    _ if part.option == PUBLIC_URL => {
                        vec![follows("from its route, and the proxy that serves it".to_owned())]
                    }
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
            _ => vec![follows("from the command that made the component".to_owned())],
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
                what: format!("hosts: {{{}: [HOST]}}, before Eos makes it", need.name),
            }],
            ("count", _, Some(service)) => vec![self.edit_recipe(home, Some(service.at.line))],
            ("datacenter", ..) => self.update(home, "datacenter").into_iter().collect(),
            ("version", ..) => vec![Change::Command {
                command: self.in_environment(format!("eos update {} --upgrade", component.name)),
            }],
            ("name", ..) => vec![follows("from the name and the environment".to_owned())],
            ("callers", ..) => vec![follows("from the components that use it".to_owned())],
            ("reached", ..) => match self.update(home, "port") {
                Some(open) => vec![open],
                None => vec![follows("from the components that use it".to_owned())],
            },
            ("catalogue", ..) => vec![follows("from the profile in eos.toml".to_owned())],
            _ => vec![self.edit_recipe(home, None)],
        }
    }

    /// The command that sets an option, if the recipe has it.
    fn update(&self, home: Home<'_>, option: &str) -> Option<Change> {
        let spec = home.expanded.recipe.settable().find(|spec| spec.name == option)?;
        let value = match spec.kind {
            OptionType::Flag => format!("={}", spec.kind.value_name()),
            _ => format!(" {}", spec.kind.value_name()),
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
                "from recipe {name}; a copy of it in recipes/{name}/recipe.yaml can override it"
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
