//! The environment pass: how many instances, how much processor and memory (requirement A9).

use crate::expand::Expanded;
use crate::recipe::{Figure, Service};
use crate::source::{Source, Sourced};

pub struct Figures {
    pub count: Sourced<u32>,
    pub cpu: Sourced<u32>,
    pub memory: Sourced<u32>,
}

/// Replicas, MHz and MiB that an environment gives where nobody says otherwise.
fn table(environment: &str) -> (u32, u32, u32) {
    match environment {
        "development" => (1, 100, 256),
        "staging" => (2, 200, 512),
        _ => (3, 500, 1024),
    }
}

pub fn figures(expanded: &Expanded<'_>, service: &Service) -> Figures {
    let (replicas, cpu, memory) = table(&expanded.component.environment);
    let count = if service.one {
        Sourced::new(
            1,
            Source::pass("environment", "instances: one, replicas do not apply"),
        )
    } else {
        figure(expanded, "replicas", service.replicas, replicas)
    };
    Figures {
        count,
        cpu: figure(expanded, "cpu", service.cpu, cpu),
        memory: figure(expanded, "memory", service.memory, memory),
    }
}

/// A flag wins over all; the recipe's own value holds for production; elsewhere the table wins.
fn figure(expanded: &Expanded<'_>, key: &str, recipe: Option<Figure>, default: u32) -> Sourced<u32> {
    if let Some(option) = expanded.options.get(key) {
        let value = option
            .value
            .as_u64()
            .and_then(|value| u32::try_from(value).ok())
            .unwrap_or(default);
        return Sourced::new(value, option.from.clone());
    }
    match recipe {
        Some(figure) if expanded.component.environment == "production" => {
            Sourced::new(figure.value, expanded.line_source(figure.at.line))
        }
        _ => {
            let environment = expanded.component.environment.clone();
            Sourced::new(
                default,
                Source::Environment {
                    environment,
                    key: key.to_owned(),
                },
            )
        }
    }
}
