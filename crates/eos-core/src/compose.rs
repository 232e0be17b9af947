//! Composition: every component of the pillar and all that they have for their own use, linked with what they use.

use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Place};
use crate::expand::{Expanded, ROUTES, Route, expand, flag};
use crate::lowered::{CopyOf, SecretItem, service_name};
use crate::name::{self, LONGEST_JOB, Sort};
use crate::option;
use crate::order::{self, Before};
use crate::output::PUBLIC_URL;
use crate::pillar::{Component, HostsOfVolume, OptionValue, Pillar, SetBy};
use crate::recipe::{self, Mode, Recipe, Use};
use crate::runtime::Piece;
use crate::source::{Overruled, Source, Sourced};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// How many components one may have for its own use, with those that they have. Twice two levels down is four times.
const IMPLIED: usize = 100;

/// (environment, component).
pub type Key = (String, String);

/// Components with their order.
#[derive(Debug)]
pub struct Composed<'a> {
    pub components: BTreeMap<Key, Expanded<'a>>,
    /// Component -> those of its environment that are done before it.
    pub before: BTreeMap<Key, BTreeSet<String>>,
    /// Component -> how many of those before it wait for one another.
    pub waves: BTreeMap<Key, usize>,
    /// Jobs that components have beside their own.
    pub members: BTreeMap<Key, Member>,
    /// Components that others call: those that are used, and those that a proxy serves.
    pub called: BTreeSet<Key>,
}

/// A job that a component has beside its own.
#[derive(Debug)]
pub struct Member {
    pub owner: String,
    /// The service that it is.
    pub service: String,
}

/// The name of the component that another has for its own use.
pub fn own_name(component: &str, used: &Use) -> String {
    format!("{component}-{}", used.name.replace('_', "-"))
}

/// The name of a job that a component has beside its own.
pub fn member_name(component: &str, service: &str) -> String {
    format!("{component}-{service}")
}

/// The pillar as if what components have for their own use, and their further jobs, were written in it.
pub fn whole(pillar: &Pillar, catalog: &Catalog) -> Result<Pillar, Vec<Diagnostic>> {
    let (composed, found) = compose(pillar, catalog);
    if !found.is_empty() {
        return Err(found);
    }
    let members = composed.members.into_iter().filter_map(|(key, member)| {
        let owner = composed.components.get(&(key.0.clone(), member.owner.clone()))?;
        let own = Component {
            name: key.1.clone(),
            owner: Some(member.owner),
            options: BTreeMap::new(),
            volumes: BTreeMap::new(),
            hosts: BTreeMap::new(),
            ..owner.component.as_ref().clone()
        };
        Some((key, own))
    });
    let members: Vec<(Key, Component)> = members.collect();
    let components = composed.components.into_iter();
    Ok(Pillar {
        hosts: pillar.hosts.clone(),
        components: components
            .map(|(key, expanded)| (key, expanded.component.into_owned()))
            .chain(members)
            .collect(),
        volumes: pillar.volumes.clone(),
        generations: pillar.generations.clone(),
    })
}

pub fn compose<'a>(pillar: &'a Pillar, catalog: &'a Catalog) -> (Composed<'a>, Vec<Diagnostic>) {
    let mut composer = Composer {
        pillar,
        catalog,
        components: BTreeMap::new(),
        given: BTreeMap::new(),
        implied: 0,
        failed: BTreeSet::new(),
        found: Vec::new(),
    };
    // A component sorts before what it has for its own use, since its name is the beginning of the other's.
    for (key, component) in &pillar.components {
        let component = match composer.given.remove(key) {
            Some(given) => Cow::Owned(given.merged(component)),
            None => Cow::Borrowed(component),
        };
        composer.implied = 0;
        composer.add(component, &mut Vec::new());
    }
    composer.link();
    let routed = composer.route();
    let Composer {
        components,
        mut found,
        ..
    } = composer;
    let mut before = before(&components, &routed);
    let mut named = BTreeMap::new();
    for members in members(&components, &mut found).into_values() {
        for (name, service) in &members.services {
            let key = (members.owner.0.clone(), name.clone());
            let (owner, service) = (members.owner.1.clone(), service.clone());
            named.insert(key, Member { owner, service });
        }
        members.join(&mut before);
    }
    let waves = waves(&before, &mut found);
    let called = called(&components, &routed);
    let composed = Composed {
        components,
        before,
        waves,
        members: named,
        called,
    };
    (composed, found)
}

/// What a component gives to the one it has for its own use.
struct Given {
    owner: String,
    options: BTreeMap<String, Box<OptionValue>>,
    pinned: BTreeMap<String, String>,
    hosts: BTreeMap<String, HostsOfVolume>,
}

impl Given {
    /// What a person wrote for the component itself wins.
    fn merged(self, component: &Component) -> Component {
        let mut merged = component.clone();
        merged.owner = Some(self.owner);
        for (name, value) in self.options {
            merged.options.entry(name).or_insert(value);
        }
        for (recipe, pin) in self.pinned {
            merged.pinned.entry(recipe).or_insert(pin);
        }
        for (volume, hosts) in self.hosts {
            merged.hosts.entry(volume).or_insert(hosts);
        }
        merged
    }
}

struct Composer<'a> {
    pillar: &'a Pillar,
    catalog: &'a Catalog,
    components: BTreeMap<Key, Expanded<'a>>,
    given: BTreeMap<Key, Given>,
    /// How many components the one of the pillar has for its own use so far.
    implied: usize,
    /// Components that something is wrong with: it was said, and is not said again of those that use them.
    failed: BTreeSet<Key>,
    found: Vec<Diagnostic>,
}

impl<'a> Composer<'a> {
    /// Expands a component and what it has for its own use. `chain` are the recipes on the way here.
    fn add(&mut self, component: Cow<'a, Component>, chain: &mut Vec<String>) {
        let at = component.at.clone();
        let pin = component.pinned.get(&component.recipe).map(String::as_str);
        let recipe = match self.catalog.find(&component.recipe, pin) {
            Ok(recipe) => recipe,
            Err(unknown) => return self.found.push(unknown.at(&at.file, at.position)),
        };
        if chain.contains(&recipe.name) {
            let cycle = [chain.join(" uses "), recipe.name.clone()].join(" uses ");
            return self.found.push(
                Diagnostic::new(format!("Recipes use one another without end: {cycle}"))
                    .at(&at.file, at.position)
                    .hint("Share one of them (share: true)"),
            );
        }
        let key = (component.environment.clone(), component.name.clone());
        self.implied += usize::from(!chain.is_empty());
        if self.implied > IMPLIED {
            if self.implied == IMPLIED + 1 {
                self.found.push(too_many(&at, chain, &recipe.name));
            }
            self.failed.insert(key);
            return;
        }
        let mut expanded = match expand(component, recipe) {
            Ok(expanded) => expanded,
            Err(found) => {
                self.failed.insert(key);
                return self.found.extend(found);
            }
        };
        let mut own = Vec::new();
        for used in &recipe.uses {
            if let Err(diagnostic) = self.resolve_use(&mut expanded, used, &mut own) {
                self.found.push(diagnostic);
            }
        }
        let owner = expanded.component.owner.clone();
        if let Some(other) = self.components.insert(key.clone(), expanded) {
            self.found
                .push(two_owners(&key.1, &other.component.owner, &owner, &at));
        }
        chain.push(recipe.name.clone());
        for component in own {
            self.add(Cow::Owned(component), chain);
        }
        chain.pop();
    }

    /// Which component a use means; one of its own that nobody wrote down is added to `own`.
    fn resolve_use(
        &mut self,
        expanded: &mut Expanded<'a>,
        used: &Use,
        own: &mut Vec<Component>,
    ) -> Result<(), Diagnostic> {
        if !expanded.applies(&used.when)? {
            return Ok(());
        }
        let consumer = expanded.component.clone();
        let chosen = expanded
            .options
            .get(&used.name)
            .and_then(|option| option.value.as_str());
        if let Some(chosen) = chosen {
            expanded.uses.insert(used.name.clone(), chosen.to_owned());
            return Ok(());
        }
        if used.share {
            expanded.uses.insert(used.name.clone(), used.recipe.clone());
            return Ok(());
        }
        if used.optional {
            let there = self.there(&consumer, &used.recipe).map(str::to_owned);
            expanded
                .uses
                .extend(there.map(|there| (used.name.clone(), there)));
            return Ok(());
        }
        let target = own_name(&consumer.name, used);
        let mut options = BTreeMap::new();
        for (name, template) in &used.with {
            let option = OptionValue {
                value: expanded.value(template)?.value,
                set_by: SetBy::Consumer {
                    component: consumer.name.clone(),
                    recipe: expanded.recipe.name.clone(),
                },
                at: Place {
                    file: expanded.recipe.file.clone(),
                    position: template.at,
                },
            };
            options.insert(name.clone(), Box::new(option));
        }
        let prefix = format!("{}.", used.name);
        let hosts = consumer
            .hosts
            .iter()
            .filter_map(|(volume, hosts)| Some((volume.strip_prefix(&prefix)?.to_owned(), hosts.clone())));
        let given = Given {
            owner: consumer.name.clone(),
            options,
            pinned: consumer.pinned.clone(),
            hosts: hosts.collect(),
        };
        let key = (consumer.environment.clone(), target.clone());
        match self.pillar.components.get(&key) {
            // That it is made from another recipe is told when it is linked.
            Some(written) if written.recipe != used.recipe => {}
            Some(_) => {
                if let Some(other) = self.given.get(&key) {
                    return Err(two_owners(
                        &target,
                        &Some(other.owner.clone()),
                        &Some(given.owner),
                        &consumer.at,
                    ));
                }
                self.given.insert(key, given);
            }
            None => own.push(Component {
                environment: consumer.environment.clone(),
                name: checked_name(&target, &consumer)?,
                recipe: used.recipe.clone(),
                pinned: given.pinned,
                hosts: given.hosts,
                options: given.options,
                volumes: BTreeMap::new(),
                generation: 0,
                stopped: None,
                intent: consumer.intent.clone(),
                owner: Some(consumer.name.clone()),
                at: consumer.at.clone(),
            }),
        }
        expanded.uses.insert(used.name.clone(), target);
        Ok(())
    }

    /// The component of a recipe that is in the pillar for all of its environment: the one of the recipe's name, else the
    /// first.
    fn there(&self, consumer: &Component, recipe: &str) -> Option<&'a str> {
        let others = self.pillar.components.values().filter(|other| {
            other.environment == consumer.environment && other.recipe == recipe && other.name != consumer.name
        });
        let mut names: Vec<&str> = others.map(|other| other.name.as_str()).collect();
        names.sort_by_key(|name| (*name != recipe, *name));
        names.first().copied()
    }

    /// Gives each component what it may name of those it uses.
    fn link(&mut self) {
        let mut facts = Vec::new();
        for (key, consumer) in &self.components {
            for (name, target) in &consumer.uses {
                let wanted = consumer.recipe.use_named(name).map(|used| used.recipe.as_str());
                match self.components.get(&(key.0.clone(), target.clone())) {
                    Some(used) if wanted == Some(&used.recipe.name) => {
                        facts.push((key.clone(), name.clone(), UsedFacts::of(consumer, name, used)));
                    }
                    Some(used) => self.found.push(mismatch(consumer, name, used)),
                    // What is wrong with a component that the pillar names was said where it was expanded.
                    None if self.failed.contains(&(key.0.clone(), target.clone())) => {}
                    None if self.pillar.component(&key.0, target).is_some() => {}
                    None => self.found.push(unknown_use(consumer, name, target)),
                }
            }
        }
        for (key, name, used) in facts {
            if let Some(consumer) = self.components.get_mut(&key) {
                consumer.options.extend(used.options);
                consumer.secrets.extend(used.secrets);
                consumer.context.insert(name, Value::Object(used.context));
            }
        }
    }

    /// Tells the proxies of each environment what to serve; gives back whom each of them serves.
    fn route(&mut self) -> BTreeMap<Key, BTreeSet<String>> {
        let mut routes: BTreeMap<String, BTreeMap<String, (String, Value)>> = BTreeMap::new();
        let mut found = Vec::new();
        for ((environment, name), component) in &self.components {
            for route in &component.recipe.routes {
                let host = match route_host(component, route) {
                    Ok(Some(host)) => host.value,
                    Ok(None) => continue,
                    Err(diagnostic) => {
                        found.push(diagnostic);
                        continue;
                    }
                };
                let service = service_name(environment, name, component.recipe, &route.service);
                let addresses = Piece::Addresses(service).mark();
                let value = json!({"host": host, "component": name, "addresses": addresses});
                let of_environment = routes.entry(environment.clone()).or_default();
                if let Some((other, _)) = of_environment.insert(host.clone(), (name.clone(), value)) {
                    let at = &component.component.at;
                    found.push(
                        Diagnostic::new(format!("{other} and {name} both want the host name {host}"))
                            .at(&at.file, at.position)
                            .hint("Give one of them another domain"),
                    );
                }
            }
        }
        let mut routed = BTreeMap::new();
        for (key, proxy) in &mut self.components {
            if proxy.recipe.is_proxy() {
                let served = routes.get(&key.0);
                let values = served.into_iter().flatten().map(|(_, (_, value))| value.clone());
                proxy.context.insert(ROUTES.to_owned(), values.collect());
                let names = served.into_iter().flatten().map(|(_, (name, _))| name.clone());
                routed.insert(key.clone(), names.collect());
            }
        }
        for (environment, served) in &routes {
            if !routed.keys().any(|(of, _)| of == environment) {
                let names: Vec<_> = served.values().map(|(name, _)| name.as_str()).collect();
                let first = (environment.clone(), names[0].to_owned());
                let at = &self.components[&first].component.at;
                found.push(
                    Diagnostic::new(format!(
                        "No proxy in {environment} serves the host names of {}",
                        names.join(", ")
                    ))
                    .at(&at.file, at.position)
                    .hint(format!(
                        "`eos create {} --environment {environment}`",
                        self.proxy_recipe()
                    )),
                );
            }
        }
        self.tell_urls(&mut found);
        self.found.extend(found);
        routed
    }

    /// Tells each component under which URLs the first proxy of its environment serves it.
    fn tell_urls(&mut self, found: &mut Vec<Diagnostic>) {
        let mut doors: BTreeMap<String, (String, String, Option<u16>)> = BTreeMap::new();
        for ((environment, name), proxy) in &self.components {
            let Some(own) = proxy
                .recipe
                .proxy
                .as_ref()
                .filter(|_| !doors.contains_key(environment))
            else {
                continue;
            };
            match door(proxy, own) {
                Ok((scheme, port)) => {
                    doors.insert(environment.clone(), (name.clone(), scheme, port));
                }
                Err(diagnostic) => found.push(diagnostic),
            }
        }
        for ((environment, _), component) in &mut self.components {
            if component.recipe.routes.is_empty() {
                continue;
            }
            if let Some((proxy, scheme, port)) = doors.get(environment) {
                let port = match (scheme.as_str(), port) {
                    (_, None) | ("http", Some(80)) | ("https", Some(443)) => String::new(),
                    (_, Some(port)) => format!(":{port}"),
                };
                // What is wrong with a host was said of its route.
                let hosts = component.recipe.routes.iter().filter_map(|route| {
                    let host = route_host(component, route).ok()??;
                    Some(Route {
                        name: route.name.clone(),
                        service: route.service.clone(),
                        url: format!("{scheme}://{}{port}", host.value),
                        by: proxy.clone(),
                        host,
                    })
                });
                component.served = hosts.collect();
            }
            let url = component.served.first().map(|route| route.url.as_str());
            component.context.insert(PUBLIC_URL.to_owned(), url.into());
        }
    }

    fn proxy_recipe(&self) -> &str {
        let proxy = self.catalog.iter().find(|recipe| recipe.is_proxy());
        proxy.map_or("PROXY", |recipe| recipe.name.as_str())
    }
}

fn too_many(at: &Place, chain: &[String], last: &str) -> Diagnostic {
    let way = [chain.join(" uses "), last.to_owned()].join(" uses ");
    Diagnostic::new(format!(
        "A component has more than {IMPLIED} others for its own use: {way}"
    ))
    .at(&at.file, at.position)
    .hint("Share one of these recipes (share: true)")
}

/// Its name is joined from that of its owner and that of the use.
fn two_owners(name: &str, one: &Option<String>, other: &Option<String>, at: &Place) -> Diagnostic {
    let owner = |owner: &Option<String>| owner.clone().unwrap_or_else(|| name.to_owned());
    Diagnostic::new(format!(
        "{} and {} would both have {name} for their own use",
        owner(one),
        owner(other)
    ))
    .at(&at.file, at.position)
    .hint("Give one of them another name")
}

fn checked_name(target: &str, consumer: &Component) -> Result<String, Diagnostic> {
    match name::problem(Sort::Component, target) {
        Some(problem) => Err(Diagnostic::new(problem)
            .at(&consumer.at.file, consumer.at.position)
            .hint("Choose a shorter name with --name")),
        None => Ok(target.to_owned()),
    }
}

fn route_host(
    component: &Expanded<'_>,
    route: &crate::recipe::RouteNeed,
) -> Result<Option<Sourced<String>>, Diagnostic> {
    if !component.applies(&route.when)? {
        return Ok(None);
    }
    let host = component.text(&route.host)?;
    let name = option::domain(&host.value).map_err(|why| component.wrong(&route.host, &why))?;
    Ok(Some(host.map(|_| name)))
}

/// What the URLs begin with that a proxy serves others under, and the port of its host.
fn door(proxy: &Expanded<'_>, own: &recipe::Proxy) -> Result<(String, Option<u16>), Diagnostic> {
    let scheme = proxy.text(&own.scheme)?.value;
    if !matches!(scheme.as_str(), "http" | "https") {
        let why = format!("{} is neither http nor https", name::quoted(&scheme));
        return Err(proxy.wrong(&own.scheme, &why));
    }
    let front = proxy
        .recipe
        .front()
        .and_then(|front| front.ports[0].fixed.as_ref());
    let port = proxy.port(own.port.as_ref().or(front))?;
    Ok((scheme, port.map(|port| port.value)))
}

/// What a consumer may name of a component it uses.
struct UsedFacts {
    context: Map<String, Value>,
    options: BTreeMap<String, Sourced<Value>>,
    secrets: Vec<SecretItem>,
}

impl UsedFacts {
    fn of(consumer: &Expanded<'_>, name: &str, used: &Expanded<'_>) -> Self {
        let component = &used.component;
        let mut context: Map<String, Value> = Map::new();
        let mut options = BTreeMap::new();
        for (option, value) in &used.options {
            context.insert(option.clone(), value.value.clone());
            let used = |from: &Source| Source::Used {
                component: component.name.clone(),
                option: option.clone(),
                from: Box::new(from.clone()),
            };
            let over = value.over.iter().map(|other| Overruled {
                value: other.value.clone(),
                from: used(&other.from),
            });
            options.insert(
                format!("{name}.{option}"),
                Sourced::new(value.value.clone(), used(&value.from)).over(over),
            );
        }
        context.insert("component".to_owned(), component.name.as_str().into());
        if let Some(front) = used.recipe.front() {
            let service = || service_name(&component.environment, &component.name, used.recipe, &front.name);
            for (fact, piece) in [
                ("address", Piece::Address(service())),
                ("addresses", Piece::Addresses(service())),
                ("host", Piece::Host(service())),
                ("port", Piece::Port(service())),
            ] {
                context.insert(fact.to_owned(), piece.mark().into());
            }
        }
        let mut secrets = Vec::new();
        for secret in &used.secrets {
            let item = format!("{name}_{}", secret.item);
            context.insert(secret.item.clone(), Piece::Secret(item.clone()).mark().into());
            if names_secret(consumer.recipe, name, &secret.item) {
                secrets.push(SecretItem {
                    item,
                    generate: None,
                    not_rotated: None,
                    copy_of: Some(CopyOf {
                        component: component.name.clone(),
                        item: secret.item.clone(),
                    }),
                });
            }
        }
        Self {
            context,
            options,
            secrets,
        }
    }
}

fn names_secret(recipe: &Recipe, used: &str, item: &str) -> bool {
    let wanted = format!("{used}.{item}");
    let mut texts = recipe.services.iter().flat_map(|service| &service.secrets);
    texts.any(|secret| secret.text.names().any(|name| name == wanted))
}

fn mismatch(consumer: &Expanded<'_>, name: &str, used: &Expanded<'_>) -> Diagnostic {
    let wanted = consumer
        .recipe
        .use_named(name)
        .map_or("", |used| used.recipe.as_str());
    let at = &consumer.component.at;
    Diagnostic::new(format!(
        "{} uses {} as {name}, which is made from recipe {}, not {wanted}",
        consumer.component.name, used.component.name, used.recipe.name
    ))
    .at(&at.file, at.position)
    .hint(format!("Name a {wanted}, or rename {}", used.component.name))
}

fn unknown_use(consumer: &Expanded<'_>, name: &str, target: &str) -> Diagnostic {
    let recipe = consumer
        .recipe
        .use_named(name)
        .map_or(target, |used| used.recipe.as_str());
    let named = match recipe == target {
        true => String::new(),
        false => format!(" --name {target}"),
    };
    let at = &consumer.component.at;
    Diagnostic::new(format!(
        "{} uses {target} as {name}, which is not in {}",
        consumer.component.name, consumer.component.environment
    ))
    .at(&at.file, at.position)
    .hint(format!(
        "Keep it, create it with `eos create {recipe}{named} --environment {}`, or let {} use another with \
         --{}",
        consumer.component.environment,
        consumer.component.name,
        flag(name)
    ))
}

/// Whom each component comes after: what it uses, what it routes to, and what its recipe names.
fn before(
    components: &BTreeMap<Key, Expanded<'_>>,
    routed: &BTreeMap<Key, BTreeSet<String>>,
) -> BTreeMap<Key, BTreeSet<String>> {
    let mut by_recipe: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for ((environment, name), component) in components {
        by_recipe
            .entry((environment, &component.recipe.name))
            .or_default()
            .push(name);
    }
    let mut all = BTreeMap::new();
    for (key, component) in components {
        let mut names: BTreeSet<String> = component.uses.values().cloned().collect();
        names.extend(routed.get(key).into_iter().flatten().cloned());
        for recipe in &component.recipe.after {
            let others: Vec<&str> = match recipe.as_str() {
                "*" => of_environment(components, &key.0)
                    .filter(|name| *name != key.1)
                    .collect(),
                recipe => by_recipe
                    .get(&(key.0.as_str(), recipe))
                    .cloned()
                    .unwrap_or_default(),
            };
            names.extend(others.into_iter().map(str::to_owned));
        }
        all.insert(key.clone(), names);
    }
    all
}

/// The jobs that a component has beside its own.
struct Members {
    owner: Key,
    /// Name -> its service.
    services: BTreeMap<String, String>,
    /// Name -> the others of its component that it comes after.
    after: BTreeMap<String, BTreeSet<String>>,
    /// Those that others wait for, too: they run for good, or to an end that is seen.
    awaited: BTreeSet<String>,
}

impl Members {
    /// Each comes after the component's own job. Who waits for the component waits for all of it.
    fn join(self, before: &mut BTreeMap<Key, BTreeSet<String>>) {
        let (environment, owner) = &self.owner;
        let dependents = before.iter_mut().filter(|((of, _), _)| of == environment);
        for (_, names) in dependents.filter(|(_, names)| names.contains(owner)) {
            names.extend(self.awaited.iter().cloned());
        }
        for (name, mut after) in self.after {
            after.insert(owner.clone());
            before.insert((environment.clone(), name), after);
        }
    }
}

fn members(components: &BTreeMap<Key, Expanded<'_>>, found: &mut Vec<Diagnostic>) -> BTreeMap<Key, Members> {
    let mut all = BTreeMap::new();
    let mut owners: BTreeMap<Key, &str> = BTreeMap::new();
    let several = components
        .iter()
        .filter(|(_, component)| component.recipe.services.len() > 1);
    for (key, component) in several {
        // A condition that cannot be evaluated is told when the service is lowered.
        let services = component.recipe.services.iter();
        let there: Vec<_> = services
            .filter(|service| component.applies(&service.when).unwrap_or(false))
            .collect();
        let mut members = Members {
            owner: key.clone(),
            services: BTreeMap::new(),
            after: BTreeMap::new(),
            awaited: BTreeSet::new(),
        };
        for job in recipe::jobs(&there) {
            let Some(service) = job.of else {
                continue;
            };
            let name = member_name(&key.1, &service.name);
            let (member, owner) = ((key.0.clone(), name.clone()), Some(key.1.clone()));
            let at = &component.component.at;
            // `a` with a service `b-c`, and `a-b` with a service `c`.
            let other = owners.get(&member).map(|other| (*other).to_owned());
            if other.is_some() || components.contains_key(&member) {
                found.push(two_owners(&name, &other, &owner, at));
                continue;
            }
            if name.len() > LONGEST_JOB {
                found.push(too_long(&name, &service.name, at));
                continue;
            }
            owners.insert(member, &key.1);
            if !matches!(service.mode, Mode::Scheduled(_)) {
                members.awaited.insert(name.clone());
            }
            let after = job.after.iter().map(|other| member_name(&key.1, other));
            members.services.insert(name.clone(), service.name.clone());
            members.after.insert(name, after.collect());
        }
        if !members.after.is_empty() {
            all.insert(key.clone(), members);
        }
    }
    all
}

fn too_long(name: &str, service: &str, at: &Place) -> Diagnostic {
    let length = name.len();
    Diagnostic::new(format!(
        "The job of service {service} would be {name}, which has {length} letters: {LONGEST_JOB} are the most"
    ))
    .at(&at.file, at.position)
    .hint("Choose a shorter name of the component with --name, or of the service in the recipe")
}

fn called(
    components: &BTreeMap<Key, Expanded<'_>>,
    routed: &BTreeMap<Key, BTreeSet<String>>,
) -> BTreeSet<Key> {
    let used = components
        .iter()
        .flat_map(|(key, component)| component.uses.values().map(|name| (key.0.clone(), name.clone())));
    let served = routed
        .iter()
        .flat_map(|(key, names)| names.iter().map(|name| (key.0.clone(), name.clone())));
    used.chain(served).collect()
}

fn of_environment<'c>(
    components: &'c BTreeMap<Key, Expanded<'_>>,
    environment: &'c str,
) -> impl Iterator<Item = &'c str> {
    components
        .keys()
        .filter(move |(of, _)| of == environment)
        .map(|(_, name)| name.as_str())
}

fn waves(before: &BTreeMap<Key, BTreeSet<String>>, found: &mut Vec<Diagnostic>) -> BTreeMap<Key, usize> {
    let mut graphs: BTreeMap<&str, Before<'_>> = BTreeMap::new();
    for ((environment, name), names) in before {
        let there = |other: &&str| before.contains_key(&(environment.clone(), (*other).to_owned()));
        let names = names.iter().map(String::as_str).filter(there).collect();
        graphs.entry(environment).or_default().insert(name, names);
    }
    let mut all = BTreeMap::new();
    for (environment, graph) in graphs {
        match order::waves(&graph) {
            Ok(waves) => {
                let waves = waves.into_iter();
                all.extend(waves.map(|(name, wave)| ((environment.to_owned(), name.to_owned()), wave)));
            }
            Err(cycle) => found.push(
                Diagnostic::new(format!(
                    "Components of {environment} wait for one another: {}",
                    cycle.join(" after ")
                ))
                .hint("Take one of them out of `uses` or `after` of a recipe"),
            ),
        }
    }
    all
}
