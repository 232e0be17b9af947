//! The pass of hosts: which hosts have the parts that a recipe asks of hosts themselves.

use super::placement::Ground;
use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::kinds::HostParts;
use crate::name::{closest, quoted};
use crate::source::{Source, Sourced};
use crate::template::Template;
use serde_json::Value;

pub fn parts(expanded: &Expanded<'_>, ground: &Ground<'_>) -> Result<HostParts, Diagnostic> {
    let Some(host) = &expanded.recipe.host else {
        return Ok(HostParts::default());
    };
    let on = match &host.hosts {
        Some(hosts) => named(expanded, ground, hosts)?,
        None => Vec::new(),
    };
    let on = match on.is_empty() {
        true => all(expanded, ground),
        false => on,
    };
    host.needs.lower(expanded, &on)
}

fn all(expanded: &Expanded<'_>, ground: &Ground<'_>) -> Vec<Sourced<String>> {
    let datacenter = expanded.datacenter();
    let why = Source::pass("hosts", "without names of hosts, every host of the datacenter");
    let there = ground.hosts.values().filter(|host| host.datacenter == datacenter);
    there
        .map(|host| Sourced::new(host.name.clone(), why.clone()))
        .collect()
}

/// The hosts that a template names: a list, one name, or nothing.
fn named(
    expanded: &Expanded<'_>,
    ground: &Ground<'_>,
    template: &Template,
) -> Result<Vec<Sourced<String>>, Diagnostic> {
    let value = expanded.value(template)?;
    let names: Vec<Value> = match &value.value {
        Value::Null => Vec::new(),
        Value::String(name) if name.is_empty() => Vec::new(),
        Value::Array(names) => names.clone(),
        one => vec![one.clone()],
    };
    let mut found: Vec<Sourced<String>> = Vec::new();
    for name in names {
        let known = name.as_str().and_then(|name| ground.hosts.get(name));
        let Some(host) = known else {
            return Err(unknown(expanded, ground, template, &name));
        };
        if found.iter().all(|other| other.value != host.name) {
            found.push(value.clone().map(|_| host.name.clone()));
        }
    }
    Ok(found)
}

fn unknown(expanded: &Expanded<'_>, ground: &Ground<'_>, template: &Template, name: &Value) -> Diagnostic {
    let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    let hosts: Vec<&str> = ground.hosts.keys().map(String::as_str).collect();
    let hint = match closest(&name, hosts.iter().copied()) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => format!("The pillar has: {}", hosts.join(", ")),
    };
    let place = expanded.place(template);
    Diagnostic::new(format!(
        "{} names host {}, which the pillar does not have",
        expanded.component.name,
        quoted(&name)
    ))
    .at(&place.file, place.position)
    .hint(hint)
}
