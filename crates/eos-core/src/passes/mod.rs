//! Lowering: one pass after the other decides what a component becomes, and says why.

mod environment;
mod placement;
mod secrets;
mod storage;

use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::lowered::{Driver, Group, Lowered, Mount, Port, instance_name};
use crate::pillar::Pillar;
use crate::recipe::{Run, Service};
use crate::source::Sourced;

pub use placement::check_ports;

pub fn lower(expanded: &Expanded<'_>, pillar: &Pillar) -> Result<Lowered, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut groups = Vec::new();
    for service in &expanded.recipe.services {
        match group(expanded, service) {
            Ok(group) => groups.push(group),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    let volumes = storage::volumes(expanded, pillar).unwrap_or_else(|diagnostics| {
        found.extend(diagnostics);
        Vec::new()
    });
    placement::place(expanded, pillar, &mut groups, &mut found);
    if !found.is_empty() {
        return Err(found);
    }
    let component = expanded.component;
    let datacenter = &expanded.options["datacenter"];
    Ok(Lowered {
        environment: component.environment.clone(),
        component: component.name.clone(),
        recipe: expanded.recipe.name.clone(),
        version: expanded.recipe.version.clone(),
        risk: expanded.recipe.risk,
        datacenter: Sourced::new(
            datacenter.value.as_str().unwrap_or_default().to_owned(),
            datacenter.from.clone(),
        ),
        groups,
        volumes,
        secrets: secrets::items(expanded),
        outputs: expanded
            .recipe
            .outputs
            .iter()
            .map(|o| (o.name.clone(), o.value.clone()))
            .collect(),
        context: expanded.context.clone(),
        at: component.at.clone(),
    })
}

fn group(expanded: &Expanded<'_>, service: &Service) -> Result<Group, Diagnostic> {
    let component = expanded.component;
    let base = instance_name(&component.environment, &component.name);
    let only = expanded.recipe.services.len() == 1 || service.name == expanded.recipe.name;
    let figures = environment::figures(expanded, service);
    let driver = match &service.run {
        Run::Image(image) => Driver::Docker {
            image: expanded.text(image)?,
        },
        Run::Program(words) => {
            let mut words = words
                .iter()
                .map(|word| expanded.text(word))
                .collect::<Result<Vec<_>, _>>()?;
            Driver::RawExec {
                command: words.remove(0),
                args: words,
            }
        }
    };
    let ports = service
        .ports
        .iter()
        .map(|port| {
            Ok(Port {
                label: port.label.clone(),
                to: port.to.as_ref().map(|to| expanded.port(to)).transpose()?,
                fixed: port
                    .fixed
                    .as_ref()
                    .map(|fixed| expanded.port(fixed))
                    .transpose()?,
            })
        })
        .collect::<Result<Vec<_>, Diagnostic>>()?;
    let mut env = Vec::new();
    for (name, value) in &service.env {
        let value = expanded.text(value)?;
        refuse_interpolation(expanded, name, &value)?;
        env.push((name.clone(), value));
    }
    Ok(Group {
        name: service.name.clone(),
        service: if only {
            base
        } else {
            format!("{base}-{}", service.name)
        },
        count: figures.count,
        cpu: figures.cpu,
        memory: figures.memory,
        distinct_hosts: ports.iter().any(|port| port.fixed.is_some()),
        driver,
        env,
        secrets: service.secrets.clone(),
        ports,
        check: service
            .check
            .as_ref()
            .map(|check| expanded.text(&check.path))
            .transpose()?,
        mounts: service
            .mounts
            .iter()
            .map(|(volume, path)| Mount {
                volume: volume.clone(),
                path: path.clone(),
            })
            .collect(),
    })
}

/// Nomad's client replaces `${...}` in a task's environment when it starts the task, and knows no escape.
fn refuse_interpolation(
    expanded: &Expanded<'_>,
    name: &str,
    value: &Sourced<String>,
) -> Result<(), Diagnostic> {
    if !value.value.contains("${") {
        return Ok(());
    }
    let place = &expanded.component.at;
    Err(Diagnostic::new(format!(
        "{} of {} contains ${{, which Nomad would replace when the task starts",
        name, expanded.component.name
    ))
    .at(&place.file, place.position)
    .hint("Choose a value without ${"))
}
