//! Lowering: one pass after the other decides what a component becomes, and says why.

mod environment;
mod hosts;
mod jobs;
mod mesh;
pub mod monitoring;
mod names;
mod outputs;
mod placement;
mod secrets;
mod storage;
mod tasks;

use crate::diagnostic::Diagnostic;
use crate::expand::{Expanded, ROUTE, ROUTES};
use crate::lowered::{Check, Driver, Group, Lowered, Mount, Port, SecretUse, Texts, front, service_name};
use crate::profile::Profile;
use crate::recipe::{self, Placed, Run, Service};
use crate::runtime::{Piece, RuntimeText};
use crate::source::Sourced;
use crate::template::Template;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub use mesh::{tell_where_to_listen, weave};
pub use names::check_names;
pub use placement::{Ground, check_ports};
pub use storage::{check_volumes, standing};

/// What a component becomes on the ground there is: itself, with its own job, and the jobs that it has beside. `order` says
/// of a name who is done before it, and its wave.
pub fn lower(
    expanded: &Expanded<'_>,
    ground: &Ground<'_>,
    order: impl Fn(&str) -> (BTreeSet<String>, usize),
) -> Result<Vec<Lowered>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut services = Vec::new();
    let mut groups = Vec::new();
    for service in &expanded.recipe.services {
        match storage::seen_by(expanded, ground, service)
            .and_then(|seen| group(&seen, service, ground.profile))
        {
            Ok(Some(group)) => {
                services.push(service);
                groups.push(group);
            }
            Ok(None) => {}
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    placement::place(expanded, ground, &groups, &mut found);
    let in_workspace = expanded.recipe.in_workspace.lower(expanded, &mut found);
    let volumes = storage::volumes(expanded, ground, &groups, &mut found);
    let parts = hosts::parts(expanded, ground)
        .map_err(|wrong| found.push(wrong))
        .unwrap_or_default();
    if !found.is_empty() {
        return Err(found);
    }
    if groups.is_empty() && volumes.is_empty() && parts.is_empty() && in_workspace.is_empty() {
        return Err(vec![empty(expanded)]);
    }
    let monitor = monitoring::monitor(expanded, &groups, &volumes).map_err(|wrong| vec![wrong])?;
    let component = &expanded.component;
    // Last: what is stopped keeps its volumes, hosts and ports.
    if let Some(stopped) = &component.stopped {
        environment::stop(&mut groups, stopped);
    }
    let secrets = secrets::items(expanded, &groups);
    let datacenter = &expanded.options["datacenter"];
    let front = front(&groups).map(|front| front.service.clone());
    let outputs =
        outputs::outputs(expanded, ground.profile, front.as_deref()).map_err(|wrong| vec![wrong])?;
    let jobs = jobs::apart(expanded, services, groups).map_err(|wrong| vec![wrong])?;
    let has_front = |groups: &[Group]| groups.iter().any(|group| Some(&group.service) == front.as_ref());
    let mut jobs = jobs.into_iter();
    let own = jobs.next().unwrap_or_default();
    let (before, wave) = order(&component.name);
    let own = Lowered {
        profile: ground.profile,
        environment: component.environment.clone(),
        component: component.name.clone(),
        recipe: expanded.recipe.name.clone(),
        version: expanded.recipe.version.clone(),
        risk: expanded.recipe.risk,
        owner: component.owner.clone(),
        is_member: false,
        uses: expanded.uses.clone(),
        optional: optional(expanded),
        before,
        wave,
        datacenter: datacenter.map(|_| expanded.datacenter().to_owned()),
        generation: component.generation,
        shape: own.shape,
        groups: own.groups,
        borrowed: BTreeMap::new(),
        in_workspace,
        volumes: volumes.into(),
        parts,
        secrets: secrets.into(),
        outputs: outputs.into(),
        routed_by: expanded.served.first().map(|route| route.by.clone()),
        asked: expanded
            .recipe
            .proxy
            .as_ref()
            .and_then(|proxy| proxy.asked.clone()),
        monitor,
        watched_by: None,
        at: component.at.clone(),
    };
    let mut all = vec![own];
    for job in jobs {
        let member = jobs::member(expanded, &all[0], job, &order);
        all.push(member);
    }
    // What is said of a place is said by the job that is there.
    if let Some(home) = all
        .iter()
        .position(|job| has_front(&job.groups))
        .filter(|home| *home > 0)
    {
        all[home].outputs = std::mem::take(&mut all[0].outputs);
    }
    Ok(all)
}

/// The uses that a component can be without. Of one that a person named it cannot.
fn optional(expanded: &Expanded<'_>) -> BTreeSet<String> {
    let is_chosen = |name: &str| {
        let chosen = expanded.options.get(name);
        chosen.is_some_and(|chosen| !chosen.value.is_null())
    };
    let uses = expanded.recipe.uses.iter();
    let uses = uses.filter(|used| used.optional && !is_chosen(&used.name));
    uses.map(|used| used.name.clone()).collect()
}

/// Nothing can be made, proved or recorded of a component that is nothing.
fn empty(expanded: &Expanded<'_>) -> Diagnostic {
    let (name, at) = (&expanded.component.name, &expanded.component.at);
    let words = format!(
        "{name} is empty: with its options nothing of recipe {} applies",
        expanded.recipe.name
    );
    Diagnostic::new(words)
        .at(&at.file, at.position)
        .hint(format!("Change its options, or delete it: `eos delete {name}`"))
}

/// A service that applies becomes a group.
fn group(expanded: &Expanded<'_>, service: &Service, profile: Profile) -> Result<Option<Group>, Diagnostic> {
    if !expanded.applies(&service.when)? {
        return Ok(None);
    }
    let component = &expanded.component;
    let figures = environment::figures(expanded, service);
    let ports = each(&service.ports, |port| {
        Ok(Port {
            label: port.label.clone(),
            to: expanded.port(port.to.as_ref())?,
            fixed: expanded.port(port.fixed.as_ref())?,
        })
    })?;
    let mounts = mounts(expanded, service)?;
    let env = texts(expanded, &service.env)?;
    for ((name, value), (_, template)) in env.iter().zip(&service.env) {
        refuse_interpolation(expanded, name, template, value, &["${"])?;
    }
    let secrets = each(&service.secrets, |secret| {
        Ok(SecretUse {
            variable: secret.variable.clone(),
            text: expanded.runtime_text(&secret.text)?,
            file: secret.file.clone(),
        })
    })?;
    let check = match &service.check {
        Some(recipe::Check::Http(path)) => {
            Some(Check::Http(plain_text(expanded, "The check", path, &["${"])?))
        }
        Some(recipe::Check::Tcp { command }) => Some(Check::Tcp {
            command: command.clone(),
        }),
        None => None,
    };
    Ok(Some(Group {
        name: service.name.clone(),
        service: service_name(
            &component.environment,
            &component.name,
            expanded.recipe,
            &service.name,
        ),
        count: figures.count,
        one: service.one,
        cpu: figures.cpu,
        memory: figures.memory,
        distinct_hosts: ports.iter().any(|port| port.fixed.is_some())
            || mounts.iter().any(|mount| mount.each),
        driver: driver(expanded, &service.run)?,
        more: tasks::more(expanded, service)?,
        env,
        files: each(&service.files, |file| {
            let text = match file.each_route {
                true => for_each_route(expanded, &file.text, profile)?,
                false => expanded.runtime_text(&file.text)?,
            };
            Ok((file.name.clone(), text))
        })?,
        secrets,
        ports,
        check,
        timing: service.timing.clone(),
        routes: expanded
            .served
            .iter()
            .filter(|route| route.service == service.name)
            .map(|route| route.host.clone())
            .collect(),
        metrics: service.metrics.as_ref().map(|path| said(expanded, path)),
        mounts: mounts.into(),
        mesh: None,
        declared: expanded.line_source(service.at.line),
    }))
}

/// The text for each route. In solo the task finds the routes in Nomad's catalogue. In full its sidecar has to be told of
/// each, so that the routes are in the job itself.
fn for_each_route(
    expanded: &Expanded<'_>,
    template: &Template,
    profile: Profile,
) -> Result<Sourced<RuntimeText>, Diagnostic> {
    let of = |host: Value, addresses: Value| {
        let mut seen = expanded.clone();
        let route = serde_json::json!({"host": host, "addresses": addresses});
        seen.context.insert(ROUTE.to_owned(), route);
        seen.runtime_text(template)
    };
    let late = of(
        Piece::RouteHost.mark().into(),
        Piece::RouteAddresses.mark().into(),
    )?;
    // Without any route the file has an empty line: Caddy refuses one with nothing in it.
    let mut pieces = vec![Piece::Text("\n".to_owned())];
    match profile {
        Profile::Solo => {
            pieces.push(Piece::EachRoute);
            pieces.extend(late.value.0.iter().cloned());
            pieces.push(Piece::EndRoute);
        }
        Profile::Full => {
            let routes = expanded.context.get(ROUTES).and_then(Value::as_array);
            for route in routes.into_iter().flatten() {
                pieces.extend(of(route["host"].clone(), route["addresses"].clone())?.value.0);
            }
        }
    }
    Ok(late.map(|_| RuntimeText::joined(pieces)))
}

fn texts(expanded: &Expanded<'_>, templates: &[(String, Template)]) -> Result<Texts, Diagnostic> {
    each(templates, |(name, template)| {
        Ok((name.clone(), expanded.runtime_text(template)?))
    })
}

/// One thing for each of a list, in a list with room for no more.
fn each<T, U>(list: &[T], mut make: impl FnMut(&T) -> Result<U, Diagnostic>) -> Result<Box<[U]>, Diagnostic> {
    let mut made = Vec::with_capacity(list.len());
    for one in list {
        made.push(make(one)?);
    }
    Ok(made.into())
}

/// What the recipe says in so many words.
fn said(expanded: &Expanded<'_>, text: &Placed) -> Sourced<String> {
    Sourced::new(text.text.clone(), expanded.line_source(text.at.line))
}

/// The volumes of a service that apply.
fn mounts(expanded: &Expanded<'_>, service: &Service) -> Result<Vec<Mount>, Diagnostic> {
    let mut mounts = Vec::new();
    for (volume, path) in &service.mounts {
        let Some(need) = expanded.recipe.volumes.iter().find(|need| need.name == *volume) else {
            continue;
        };
        if expanded.applies(&need.when)? {
            mounts.push(Mount {
                volume: volume.clone(),
                path: said(expanded, path),
                each: need.each,
            });
        }
    }
    Ok(mounts)
}

fn driver(expanded: &Expanded<'_>, run: &Run) -> Result<Driver, Diagnostic> {
    let words = |templates: &[Template]| each(templates, |template| word(expanded, template));
    Ok(match run {
        Run::Image(image, args) => Driver::Docker {
            image: plain_text(expanded, "The image", image, CONFIG)?,
            args: words(args)?,
        },
        Run::Program(program) => Driver::RawExec {
            command: word(expanded, &program[0])?,
            args: words(&program[1..])?,
        },
    })
}

/// A word of a command line: Nomad puts its directories in, and nothing else is known only later.
fn word(expanded: &Expanded<'_>, template: &Template) -> Result<Sourced<String>, Diagnostic> {
    let text = expanded.runtime_text(template)?;
    refuse_interpolation(expanded, "A word of the command", template, &text, CONFIG)?;
    let Some(word) = text.value.word() else {
        let why = "an address or secret cannot stand on a command line: use env or secrets";
        return Err(expanded.wrong(template, why));
    };
    Ok(text.map(|_| word))
}

/// What Nomad's client replaces in the configuration of a driver, which it reads as a template of HCL.
const CONFIG: &[&str] = &["${", "%{"];

/// Text that Nomad leaves as it is.
fn plain_text(
    expanded: &Expanded<'_>,
    what: &str,
    template: &Template,
    replaced: &[&str],
) -> Result<Sourced<String>, Diagnostic> {
    let text = expanded.runtime_text(template)?;
    refuse_interpolation(expanded, what, template, &text, replaced)?;
    expanded.text(template)
}

/// Nomad's client replaces these when it starts the task, and knows no escape.
fn refuse_interpolation(
    expanded: &Expanded<'_>,
    what: &str,
    template: &Template,
    value: &Sourced<RuntimeText>,
    replaced: &[&str],
) -> Result<(), Diagnostic> {
    // A text that is whole only in the task becomes a template of its own, which replaces nothing else.
    let found = replaced.iter().find(|mark| value.value.text_contains(mark));
    let Some(found) = found.filter(|_| value.value.word().is_some()) else {
        return Ok(());
    };
    let place = expanded.place(template);
    Err(Diagnostic::new(format!(
        "{what} of {} contains {found}, which Nomad would replace when the task starts",
        expanded.component.name
    ))
    .at(&place.file, place.position)
    .hint(format!("Choose a value without {found}")))
}
