//! Names that are joined from others must not meet: who has the name of another is called, and trusted, in its place.

use crate::diagnostic::Diagnostic;
use crate::lowered::{Lowered, SecretItem};
use std::collections::BTreeMap;

/// Consul calls the sidecar of a service so.
const SIDECAR: &str = "-sidecar-proxy";

/// No two components of any environments have a service or a volume of one name, and none has two secrets of one name.
pub fn check_names<'c>(components: impl Iterator<Item = &'c Lowered>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut taken: BTreeMap<(&str, String), &Lowered> = BTreeMap::new();
    for component in components {
        for (what, name) in names(component) {
            let other = *taken.entry((what, name.clone())).or_insert(component);
            if other.workspace() != component.workspace() {
                let words = format!(
                    "{} and {} would both have the {what} {name}",
                    other.workspace(),
                    component.workspace()
                );
                found.push(
                    Diagnostic::new(words)
                        .at(&component.at.file, component.at.position)
                        .hint("Give one of them another name"),
                );
            }
        }
        found.extend(check_secrets(component));
    }
    found
}

fn names(component: &Lowered) -> impl Iterator<Item = (&'static str, String)> {
    let services = component.groups.iter().flat_map(|group| {
        let sidecar = group.mesh.as_ref().map(|_| format!("{}{SIDECAR}", group.service));
        [Some(group.service.clone()), sidecar].into_iter().flatten()
    });
    let volumes = component.volumes.iter();
    services
        .map(|name| ("service", name))
        .chain(volumes.map(|volume| ("volume", volume.name.clone())))
        .chain(component.parts.claims())
}

/// A copy is called after the use and the secret.
fn check_secrets(component: &Lowered) -> Option<Diagnostic> {
    let pair = component
        .secrets
        .windows(2)
        .find(|pair| pair[0].item == pair[1].item)?;
    let words = format!(
        "{} would have two secrets called {}: {} and {}",
        component.workspace(),
        pair[0].item,
        origin(&pair[0]),
        origin(&pair[1])
    );
    Some(
        Diagnostic::new(words)
            .at(&component.at.file, component.at.position)
            .hint("Give one of them, or the use, another name in the recipe"),
    )
}

fn origin(secret: &SecretItem) -> String {
    match &secret.copy_of {
        Some(of) => format!("{} of {}", of.item, of.component),
        None => "its own".to_owned(),
    }
}
