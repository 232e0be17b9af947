//! The environment pass: how many instances, how much processor and memory, how durable the data (requirement A9).

use crate::expand::Expanded;
use crate::lowered::{Durability, Group};
use crate::pillar::Stopped;
use crate::recipe::{Figure, Mode, Service};
use crate::source::{Overruled, Source, Sourced};

pub struct Figures {
    pub count: Sourced<u32>,
    pub cpu: Sourced<u32>,
    pub memory: Sourced<u32>,
}

/// What an environment gives where nobody says otherwise.
struct Table {
    replicas: u32,
    /// MHz of an instance.
    cpu: u32,
    /// MiB of an instance.
    memory: u32,
    durability: Durability,
}

fn table(environment: &str) -> Table {
    let (replicas, cpu, memory, durability) = match environment {
        "development" => (1, 100, 256, Durability::Ephemeral),
        "staging" => (2, 200, 512, Durability::Persistent),
        _ => (3, 500, 1024, Durability::Redundant),
    };
    Table {
        replicas,
        cpu,
        memory,
        durability,
    }
}

pub fn durability(environment: &str) -> Sourced<Durability> {
    Sourced::new(
        table(environment).durability,
        default_of(environment, "durability"),
    )
}

pub fn figures(expanded: &Expanded<'_>, service: &Service) -> Figures {
    let table = table(&expanded.component.environment);
    let count = figure(expanded, "replicas", &service.replicas, table.replicas);
    Figures {
        count: match (&service.mode, service.one) {
            (Mode::System, _) => one(count, "type: system, one instance runs on each host"),
            (Mode::Service | Mode::Batch | Mode::Scheduled(_), true) => {
                one(count, "instances: one, replicas do not apply")
            }
            (Mode::Service | Mode::Batch | Mode::Scheduled(_), false) => count,
        },
        cpu: figure(expanded, "cpu", &service.cpu, table.cpu),
        memory: figure(expanded, "memory", &service.memory, table.memory),
    }
}

/// No instance runs of what a person stopped.
pub fn stop(groups: &mut [Group], stopped: &Stopped) {
    for group in groups {
        let count = Sourced::new(0, stopped_by(stopped));
        let wanted = std::mem::replace(&mut group.count, count);
        group.count.over = overruled(vec![wanted]).into();
    }
}

/// Where the pillar says that a person stopped it.
pub fn stopped_by(stopped: &Stopped) -> Source {
    Source::Stopped {
        file: stopped.at.file.clone(),
        line: stopped.at.position.line,
    }
}

fn one(count: Sourced<u32>, why: &'static str) -> Sourced<u32> {
    let one = Source::pass("environment", why);
    Sourced::new(1, one).over(overruled(vec![count]))
}

/// A flag wins over all; then what the recipe says of this environment; then the environment's table, which a minimum of
/// the recipe can raise.
fn figure(expanded: &Expanded<'_>, key: &str, recipe: &Figure, default: u32) -> Sourced<u32> {
    let environment = &expanded.component.environment;
    let mut candidates = Vec::new();
    if let Some(option) = expanded.options.get(key) {
        let value = option.value.as_u64().and_then(|value| u32::try_from(value).ok());
        candidates.extend(value.map(|value| option.map(|_| value)));
    }
    let minimum = recipe.minimum.map(|(value, at)| {
        let from = Source::Minimum {
            recipe: expanded.recipe.name.clone(),
            line: at.line,
        };
        Sourced::new(value, from)
    });
    let of_recipe = recipe.of.iter().find(|(of, ..)| of == environment);
    let mut usual: Vec<Sourced<u32>> = Vec::new();
    usual.extend(of_recipe.map(|(_, value, at)| Sourced::new(*value, expanded.line_source(at.line))));
    usual.push(Sourced::new(default, default_of(environment, key)));
    match minimum {
        Some(minimum) if minimum.value > usual[0].value => candidates.push(minimum),
        _ => {}
    }
    candidates.extend(usual);
    let chosen = candidates.remove(0);
    chosen.over(overruled(candidates))
}

fn default_of(environment: &str, key: &str) -> Source {
    Source::Environment {
        environment: environment.to_owned(),
        key: key.to_owned(),
    }
}

fn overruled(values: Vec<Sourced<u32>>) -> Vec<Overruled> {
    let mut list = Vec::with_capacity(values.len());
    for Sourced { value, from, over } in values {
        let value = value.into();
        list.push(Overruled { value, from });
        list.extend(over);
    }
    list
}
