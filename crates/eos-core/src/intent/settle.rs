//! What is written down with a component so that it stays as it was made: the recipes it is pinned to, the hosts its
//! volumes lie on, and the shared components that it is the first to use.

use crate::catalog::{Catalog, kept_file};
use crate::compile::lower;
use crate::compose::{Composed, compose};
use crate::lowered::Lowered;
use crate::pillar::{Component, HostsOfVolume, Pillar};
use crate::profile::Profile;
use crate::recipe::Recipe;
use std::collections::BTreeMap;

pub struct Settled {
    pub component: Component,
    /// Shared components that were missing.
    pub added: Vec<Component>,
    /// Recipes to keep: file -> text.
    pub kept: BTreeMap<String, Vec<u8>>,
}

/// What is wrong with the component is left to the compiler, which sees all of it.
pub fn settle(pillar: &Pillar, catalog: &Catalog, component: Component) -> Settled {
    let environment = component.environment.clone();
    let root = component.name.clone();
    // A pillar of just this component and what it uses: the rest of the estate does not matter, however large.
    let mut small = Pillar {
        hosts: pillar.hosts.clone(),
        ..Pillar::default()
    };
    let mut added: Vec<String> = Vec::new();
    small
        .components
        .insert((environment.clone(), root.clone()), component.clone());
    loop {
        let wanted = missing_uses(pillar, catalog, &small, &environment);
        if wanted.is_empty() {
            break;
        }
        for (name, recipe) in wanted {
            let there = pillar.component(&environment, &name).cloned();
            let component = there.unwrap_or_else(|| {
                added.push(name.clone());
                Component {
                    name: name.clone(),
                    recipe,
                    pinned: BTreeMap::new(),
                    hosts: BTreeMap::new(),
                    options: BTreeMap::new(),
                    volumes: BTreeMap::new(),
                    generation: 0,
                    stopped: None,
                    ..component.clone()
                }
            });
            small.components.insert((environment.clone(), name), component);
        }
    }
    let (composed, _) = compose(&small, catalog);
    // Where volumes lie is the same in every profile.
    let (lowered, _) = lower(&small, catalog, Profile::default());
    let of_root = |name: &str| (environment.clone(), name.to_owned());
    let mut kept = BTreeMap::new();
    let mut written = Vec::new();
    for name in [&root].into_iter().chain(&added) {
        let mut component = small.components[&of_root(name)].clone();
        let mut recipes: Vec<&Recipe> = Vec::new();
        collect(&composed, &lowered, &mut component, &mut recipes, name, "");
        for recipe in recipes {
            component.pinned.insert(recipe.name.clone(), recipe.pin.clone());
            if !catalog.keeps(recipe) {
                kept.insert(kept_file(recipe), recipe.text.to_vec());
            }
        }
        written.push(component);
    }
    let component = written.remove(0);
    Settled {
        component,
        added: written,
        kept,
    }
}

/// Components that those of the small pillar use and that are not in it: by name, with their recipe.
fn missing_uses(
    pillar: &Pillar,
    catalog: &Catalog,
    small: &Pillar,
    environment: &str,
) -> BTreeMap<String, String> {
    let (composed, _) = compose(small, catalog);
    let mut wanted = BTreeMap::new();
    let mut routed = false;
    for component in composed.components.values() {
        for (name, target) in &component.uses {
            let Some(used) = component.recipe.use_named(name) else {
                continue;
            };
            let there = composed
                .components
                .contains_key(&(environment.to_owned(), target.clone()));
            // A component that a person chose must be there; a shared one is made for the first who uses it.
            let shared = used.share && *target == used.recipe;
            if !there && (shared || pillar.component(environment, target).is_some()) {
                wanted.insert(target.clone(), used.recipe.clone());
            }
        }
        let mut routes = component.recipe.routes.iter();
        routed |= routes.any(|route| component.applies(&route.when) == Ok(true));
    }
    let is_proxy = |recipe: &str| catalog.get(recipe).is_some_and(|recipe| recipe.is_proxy());
    let proxies = |pillar: &Pillar| {
        let mut components = pillar.components.values();
        components.any(|component| component.environment == environment && is_proxy(&component.recipe))
    };
    if routed && !proxies(pillar) && !proxies(small) {
        let proxy = catalog.iter().find(|recipe| recipe.is_proxy());
        wanted.extend(proxy.map(|proxy| (proxy.name.clone(), proxy.name.clone())));
    }
    wanted
}

/// The recipes and hosts of a component and of all it has for its own use.
fn collect<'c>(
    composed: &Composed<'c>,
    lowered: &BTreeMap<(String, String), Lowered>,
    root: &mut Component,
    recipes: &mut Vec<&'c Recipe>,
    name: &str,
    prefix: &str,
) {
    let key = (root.environment.clone(), name.to_owned());
    let Some(expanded) = composed.components.get(&key) else {
        return;
    };
    recipes.push(expanded.recipe);
    if let Some(lowered) = lowered.get(&key) {
        for (need, volumes) in lowered.volumes_by_need() {
            let names = volumes.iter().map(|volume| volume.host.value.clone()).collect();
            let at = root.at.clone();
            root.hosts
                .insert(format!("{prefix}{need}"), HostsOfVolume { names, at });
        }
    }
    for (used, target) in &expanded.uses {
        let key = (root.environment.clone(), target.clone());
        let owner = composed
            .components
            .get(&key)
            .and_then(|used| used.component.owner.as_deref());
        if owner == Some(name) {
            collect(
                composed,
                lowered,
                root,
                recipes,
                target,
                &format!("{prefix}{used}."),
            );
        }
    }
}
