//! What Nomad says: its answer to a job's plan, read into effects on the job, its instances and its services.

use super::{Effect, EffectAttribute, Engine, Of, PRESENT};
use crate::plan::Action;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Stands in a planned job where nobody knows the value yet.
pub const UNKNOWN: &str = "(unknown)";

/// Where a job says which version of its secrets it runs with.
pub const SECRET_VERSION: &str = "Meta.eos_secret_version";

/// A job as Nomad has it now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobNow {
    /// Its JSON; none where there is no such job.
    pub job: Option<Value>,
    /// Instances of each group that run or are about to.
    pub live: BTreeMap<String, u64>,
}

/// What `eos.preview` answers of a job, as far as it is read here.
pub struct JobPreview<'a> {
    pub namespace: &'a str,
    pub id: &'a str,
    pub diff: &'a Value,
    /// `DesiredTGUpdates`: group -> what the scheduler would do at first.
    pub updates: &'a Value,
    /// Group -> why it finds no place.
    pub failed: &'a Value,
    /// The planned job, as Nomad parses it.
    pub spec: &'a Value,
}

impl<'a> JobPreview<'a> {
    /// The part `nomad` of an answer; none where Nomad was not asked.
    pub fn read(answer: &'a Value) -> Option<Self> {
        let annotations = &answer["annotations"];
        Some(Self {
            namespace: answer.get("namespace")?.as_str()?,
            id: answer.get("job")?.as_str()?,
            diff: &answer["diff"],
            updates: annotations.get("DesiredTGUpdates").unwrap_or(annotations),
            failed: &answer["failed"],
            spec: &answer["spec"],
        })
    }

    /// What registering the planned job would do.
    pub fn effects(&self, of: Of<'_>, now: &JobNow) -> Vec<Effect> {
        let mut effects = Vec::new();
        let job = |action, attributes| of.effect(Engine::Nomad, self.object("job"), action, attributes);
        match (&now.job, text(&self.diff["Type"])) {
            // Where its namespace is made first, another one was asked, which says nothing of what is there.
            (None, _) => effects.push(job(Action::Create, Vec::new())),
            (Some(_), "None") => {}
            (Some(before), _) => {
                let attributes = changed(self.diff, before, self.spec);
                effects.push(job(Action::Change, attributes));
            }
        }
        effects.extend(self.allocations(of, now));
        let after = instances(self.spec, |_, count| count);
        effects.extend(services(of, self.namespace, &registered(now), &after));
        effects
    }

    fn object(&self, kind: &str) -> String {
        format!("nomad/{kind}/{}/{}", self.namespace, self.id)
    }

    fn allocations(&self, of: Of<'_>, now: &JobNow) -> Option<Effect> {
        let edited = now.job.is_none() || text(&self.diff["Type"]) != "None";
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (group, updates) in self.updates.as_object().into_iter().flatten() {
            let count = |name: &str| updates.get(name).and_then(Value::as_u64).unwrap_or(0);
            let (place, stop, migrate) = (count("Place"), count("Stop"), count("Migrate"));
            // A job that is registered as it is changes no instance.
            let in_place = if edited { count("InPlaceUpdate") } else { 0 };
            let live = now.live.get(group).copied().unwrap_or(0);
            // The scheduler counts those that it replaces at once; the others follow as the update goes on.
            let destructive = match edited {
                true => live.saturating_sub(stop + migrate + in_place),
                false => 0,
            };
            for (name, number) in [
                ("place", place),
                ("stop", stop),
                ("destructive", destructive),
                ("in_place", in_place),
                ("migrate", migrate),
                ("canary", count("Canary")),
            ] {
                *sums.entry(name).or_default() += number;
            }
        }
        let warning = self.unplaced();
        let attributes: Vec<_> = sums
            .iter()
            .filter(|(_, number)| **number > 0)
            .map(|(name, number)| EffectAttribute::new(*name, None, Some((*number).into())))
            .collect();
        if attributes.is_empty() && warning.is_none() {
            return None;
        }
        let object = self.object("allocations");
        Some(Effect {
            warning,
            ..of.effect(Engine::Nomad, object, Action::Change, attributes)
        })
    }

    fn unplaced(&self) -> Option<String> {
        let failed = self.failed.as_object()?;
        let reasons: BTreeSet<&str> = failed
            .values()
            .flat_map(|why| why["words"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        let reasons: Vec<&str> = reasons.into_iter().collect();
        match failed.is_empty() {
            true => None,
            false if reasons.is_empty() => Some("cannot be placed".to_owned()),
            false => Some(format!("cannot be placed: {}", reasons.join("; "))),
        }
    }
}

/// What stopping a job and forgetting it does.
pub fn removed(of: Of<'_>, namespace: &str, id: &str, now: &JobNow) -> Vec<Effect> {
    if now.job.is_none() {
        return Vec::new();
    }
    let object = |kind: &str| format!("nomad/{kind}/{namespace}/{id}");
    let mut effects = vec![of.effect(Engine::Nomad, object("job"), Action::Delete, Vec::new())];
    let live: u64 = now.live.values().sum();
    if live > 0 {
        let stop = vec![EffectAttribute::new("stop", None, Some(live.into()))];
        effects.push(of.effect(Engine::Nomad, object("allocations"), Action::Change, stop));
    }
    effects.extend(services(of, namespace, &registered(now), &BTreeMap::new()));
    effects
}

/// Service -> how many instances of it are registered, by object without the namespace.
type Instances = BTreeMap<String, u64>;

fn registered(now: &JobNow) -> Instances {
    let live = |group: &str, _| now.live.get(group).copied().unwrap_or(0);
    now.job
        .as_ref()
        .map_or_else(Instances::new, |job| instances(job, live))
}

/// The services of a job; `count` says how many instances of a group there are.
fn instances(job: &Value, count: impl Fn(&str, u64) -> u64) -> Instances {
    let mut found = Instances::new();
    for group in list(&job["TaskGroups"]) {
        let number = count(text(&group["Name"]), group["Count"].as_u64().unwrap_or(1));
        let of_tasks = list(&group["Tasks"]).flat_map(|task| list(&task["Services"]));
        for service in list(&group["Services"]).chain(of_tasks) {
            let name = text(&service["Name"]);
            // What only an instance knows has no name before there is one.
            if number == 0 || name.is_empty() || name.contains("${") {
                continue;
            }
            let kind = match text(&service["Provider"]) {
                "nomad" => "nomad",
                _ => "consul",
            };
            *found.entry(format!("{kind}/{name}")).or_default() += number;
            if service["Connect"]["SidecarService"].is_object() {
                *found.entry(format!("{kind}/{name}-sidecar-proxy")).or_default() += number;
            }
        }
    }
    found
}

fn services(of: Of<'_>, namespace: &str, before: &Instances, after: &Instances) -> Vec<Effect> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name));
    let effects = changed.map(|name| {
        let (was, is) = (before.get(name), after.get(name));
        let action = match (was, is) {
            (None, _) => Action::Create,
            (_, None) => Action::Delete,
            _ => Action::Change,
        };
        let object = match name.split_once('/') {
            Some(("nomad", name)) => format!("nomad/service/{namespace}/{name}"),
            Some((_, name)) => format!("consul/service/{name}"),
            None => name.clone(),
        };
        let number = |count: Option<&u64>| count.map(|count| Value::from(*count));
        let attributes = vec![EffectAttribute::new("instances", number(was), number(is))];
        of.effect(Engine::Nomad, object, action, attributes)
    });
    effects.collect()
}

/// How something that Nomad's diff calls an object lies in the job's JSON.
enum Lies {
    /// One object under this key.
    One(&'static str),
    /// A list or map under this key, whose elements are compared where they stand.
    Many(&'static str),
    /// A list to which Nomad adds some of its own, so that places in it say nothing: it changes as a whole.
    Whole(&'static str),
}

fn lies(object: &str) -> Option<Lies> {
    Some(match object {
        "RestartPolicy" => Lies::One("RestartPolicy"),
        "ReschedulePolicy" => Lies::One("ReschedulePolicy"),
        "Migrate" => Lies::One("Migrate"),
        "EphemeralDisk" => Lies::One("EphemeralDisk"),
        "Consul" => Lies::One("Consul"),
        "Update" => Lies::One("Update"),
        "Disconnect" => Lies::One("Disconnect"),
        "Scaling" => Lies::One("Scaling"),
        "Resources" => Lies::One("Resources"),
        "LogConfig" => Lies::One("LogConfig"),
        "DispatchPayload" => Lies::One("DispatchPayload"),
        "Vault" => Lies::One("Vault"),
        "Config" => Lies::One("Config"),
        "Periodic" => Lies::One("Periodic"),
        "ParameterizedJob" => Lies::One("ParameterizedJob"),
        "Multiregion" => Lies::One("Multiregion"),
        "UI" => Lies::One("UI"),
        "Schedule" => Lies::One("Schedule"),
        "Datacenters" => Lies::Many("Datacenters"),
        "Service" => Lies::Many("Services"),
        "Network" => Lies::Many("Networks"),
        "Template" => Lies::Many("Templates"),
        "Artifact" => Lies::Many("Artifacts"),
        "VolumeMount" => Lies::Many("VolumeMounts"),
        "Volume" => Lies::Many("Volumes"),
        "Action" => Lies::Many("Actions"),
        "Secret" => Lies::Many("Secrets"),
        "Constraint" => Lies::Whole("Constraints"),
        "Affinity" => Lies::Whole("Affinities"),
        "Spread" => Lies::Whole("Spreads"),
        "Identity" => Lies::Whole("Identities"),
        "Device" => Lies::Whole("Devices"),
        "NUMA" => Lies::Whole("NUMA"),
        _ => return None,
    })
}

/// Every attribute of the job that changes. Nomad's diff says which do; what they are and become is in the two jobs.
pub fn changed(diff: &Value, before: &Value, after: &Value) -> Vec<EffectAttribute> {
    let mut found = Differences::default();
    let pair = Pair {
        before: Some(before),
        after: Some(after),
    };
    found.object(diff, "", pair);
    for group in list(&diff["TaskGroups"]) {
        let (path, pair) = found.named("TaskGroups", group, "", pair);
        if found.is_whole(group, &path) {
            continue;
        }
        found.object(group, &path, pair);
        for task in list(&group["Tasks"]) {
            let (path, pair) = found.named("Tasks", task, &path, pair);
            if !found.is_whole(task, &path) {
                found.object(task, &path, pair);
            }
        }
    }
    // Nomad's diff leaves out what a job says for all of its groups; it keeps these two.
    for key in ["MaxParallel", "Stagger"] {
        let (was, is) = (&before["Update"][key], &after["Update"][key]);
        if is.is_number() && was != is {
            found.add(format!("Update.{key}"), Some(was.clone()), Some(is.clone()));
        }
    }
    found.attributes.into_values().collect()
}

/// One place in the job as it is and as it is planned.
#[derive(Clone, Copy)]
struct Pair<'a> {
    before: Option<&'a Value>,
    after: Option<&'a Value>,
}

impl<'a> Pair<'a> {
    fn get(self, key: &str) -> Self {
        let part = |value: Option<&'a Value>| value.and_then(|value| at(value, key));
        Self {
            before: part(self.before),
            after: part(self.after),
        }
    }
}

#[derive(Default)]
struct Differences {
    attributes: BTreeMap<String, EffectAttribute>,
}

impl Differences {
    fn add(&mut self, name: String, before: Option<Value>, after: Option<Value>) {
        let [before, after] = [before, after].map(|value| value.filter(|value| !is_nothing(value)));
        let is_unknown = |value: &Value| value.as_str().is_some_and(|text| text.contains(UNKNOWN));
        let attribute = match after.as_ref().is_some_and(is_unknown) {
            true => EffectAttribute::unknown(name.clone(), before),
            false => EffectAttribute::new(name.clone(), before, after),
        };
        self.attributes.insert(name, attribute);
    }

    fn named<'a>(&self, key: &str, diff: &Value, path: &str, pair: Pair<'a>) -> (String, Pair<'a>) {
        let name = text(&diff["Name"]);
        let find = |value: Option<&'a Value>| {
            let mut all = list(value?.get(key)?);
            all.find(|one| text(&one["Name"]) == name)
        };
        let pair = Pair {
            before: find(pair.before),
            after: find(pair.after),
        };
        (join(path, &[key, name]), pair)
    }

    /// A group or task that is there on one side only stands for all that is in it.
    fn is_whole(&mut self, diff: &Value, path: &str) -> bool {
        match text(&diff["Type"]) {
            "Added" => self.add(path.to_owned(), None, Some(PRESENT.into())),
            "Deleted" => self.add(path.to_owned(), Some(PRESENT.into()), None),
            _ => return false,
        }
        true
    }

    /// The fields and objects that a diff names.
    fn object(&mut self, diff: &Value, path: &str, pair: Pair<'_>) {
        for field in list(&diff["Fields"]).filter(|field| text(&field["Type"]) != "None") {
            let parts = parts(text(&field["Name"]));
            let place = parts.iter().fold(pair, |pair, part| pair.get(part));
            let value = |found: Option<&Value>, said: &Value| {
                let found = found.filter(|value| !value.is_null() && !value.is_object() && !value.is_array());
                let said = || Some(said).filter(|said| !text(said).is_empty());
                found.or_else(said).cloned()
            };
            let before = value(place.before, &field["Old"]);
            let after = value(place.after, &field["New"]);
            let after = after.filter(|_| text(&field["Type"]) != "Deleted");
            self.add(join(path, &parts), before, after);
        }
        let mut done = BTreeSet::new();
        for object in list(&diff["Objects"]).filter(|object| text(&object["Type"]) != "None") {
            let name = text(&object["Name"]);
            match lies(name) {
                Some(Lies::One(key)) => self.one(object, &join(path, &[key]), pair.get(key)),
                Some(Lies::Many(key)) if done.insert(key) => {
                    self.many(&join(path, &[key]), key, pair.get(key));
                }
                Some(Lies::Many(_)) => {}
                Some(Lies::Whole(key)) => self.whole(join(path, &[key])),
                None => self.whole(join(path, &[name])),
            }
        }
    }

    fn one(&mut self, diff: &Value, path: &str, pair: Pair<'_>) {
        let there = |value: Option<&Value>| value.is_some_and(|value| !is_nothing(value));
        match text(&diff["Type"]) {
            "Added" if !there(pair.before) => self.add(path.to_owned(), None, Some(PRESENT.into())),
            "Deleted" if !there(pair.after) => self.add(path.to_owned(), Some(PRESENT.into()), None),
            _ => self.object(diff, path, pair),
        }
    }

    fn many(&mut self, path: &str, key: &str, pair: Pair<'_>) {
        match (pair.before, pair.after) {
            // What Nomad itself adds to a job, such as a sidecar, is in no jobspec.
            (_, None) => self.whole(path.to_owned()),
            (before, Some(after)) => {
                let nothing = Value::Null;
                let after = with_defaults(key, after.clone());
                compare(before.unwrap_or(&nothing), &after, path, &mut |name, was, is| {
                    self.add(name, was, is);
                });
            }
        }
    }

    /// Something in it changes.
    fn whole(&mut self, path: String) {
        self.add(path, Some(PRESENT.into()), Some(PRESENT.into()));
    }
}

/// `Meta[eos_digest]` -> `Meta`, `eos_digest`.
fn parts(field: &str) -> Vec<&str> {
    let Some((first, rest)) = field.split_once('[') else {
        return vec![field];
    };
    let rest = rest.strip_suffix(']').unwrap_or(rest);
    std::iter::once(first).chain(rest.split("][")).collect()
}

fn join(path: &str, parts: &[&str]) -> String {
    let path = Some(path).filter(|path| !path.is_empty());
    let all: Vec<&str> = path.into_iter().chain(parts.iter().copied()).collect();
    all.join(".")
}

/// What Nomad fills in when a job is registered, and its parser does not.
fn with_defaults(key: &str, mut value: Value) -> Value {
    let each = value.as_array_mut().into_iter().flatten();
    match key {
        "Networks" => each
            .flat_map(|network| {
                let Value::Object(network) = network else {
                    return Vec::new();
                };
                let ports = network
                    .iter_mut()
                    .filter(|(key, _)| matches!(key.as_str(), "ReservedPorts" | "DynamicPorts"));
                ports
                    .flat_map(|(_, ports)| ports.as_array_mut().into_iter().flatten())
                    .collect()
            })
            .for_each(|port| fill(port, "HostNetwork", "default")),
        "Services" => {
            for service in each {
                let name = format!("service: \"{}\" check", text(&service["Name"]));
                for check in service["Checks"].as_array_mut().into_iter().flatten() {
                    fill(check, "Name", &name);
                }
            }
        }
        _ => {}
    }
    value
}

fn fill(object: &mut Value, key: &str, default: &str) {
    if text(&object[key]).is_empty() {
        object[key] = default.into();
    }
}

/// Tells of every place where two values differ: its path, what was there and what will be. What is null in the planned one
/// is left to Nomad, and nothing is said of it.
pub(super) fn compare(
    before: &Value,
    after: &Value,
    path: &str,
    tell: &mut dyn FnMut(String, Option<Value>, Option<Value>),
) {
    match (before, after) {
        (Value::Object(was), Value::Object(is)) => {
            let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
            for key in keys {
                member(was, is, key, path, tell);
            }
        }
        (Value::Array(_) | Value::Null, Value::Array(is)) => {
            let nothing = Vec::new();
            let was = before.as_array().unwrap_or(&nothing);
            let (was, is) = (keyed(path, was), keyed(path, is));
            let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
            for key in keys {
                let path = join(path, &[key.as_str()]);
                match (was.get(key), is.get(key)) {
                    (Some(was), Some(is)) => compare(was, is, &path, tell),
                    (was, is) => tell(path, was.map(|was| shown(was)), is.map(|is| shown(is))),
                }
            }
        }
        (was, is) if was == is => {}
        (was, is) => tell(path.to_owned(), known(was).map(shown), known(is).map(shown)),
    }
}

fn member(
    was: &Map<String, Value>,
    is: &Map<String, Value>,
    key: &str,
    path: &str,
    tell: &mut dyn FnMut(String, Option<Value>, Option<Value>),
) {
    let path = join(path, &[key]);
    match (was.get(key).and_then(known), is.get(key).and_then(known)) {
        (Some(was), Some(is)) => compare(was, is, &path, tell),
        (Some(was), None) if (was.is_object() || was.is_array()) && !is_nothing(was) => {
            tell(path, Some(PRESENT.into()), None);
        }
        (None, Some(is)) if !is_nothing(is) => match is {
            Value::Array(_) => compare(&Value::Null, is, &path, tell),
            _ => tell(path, None, Some(shown(is))),
        },
        _ => {}
    }
}

/// The elements of a list, by what they are known by.
fn keyed<'a>(path: &str, all: &'a [Value]) -> BTreeMap<String, &'a Value> {
    let by = match path.rsplit('.').next().unwrap_or(path) {
        "Services" | "Tasks" | "TaskGroups" => Some("Name"),
        "ReservedPorts" | "DynamicPorts" => Some("Label"),
        _ => None,
    };
    let name = |index: usize, one: &Value| {
        let known = by.and_then(|by| one.get(by)).and_then(Value::as_str);
        known.map_or_else(|| index.to_string(), str::to_owned)
    };
    all.iter()
        .enumerate()
        .map(|(index, one)| (name(index, one), one))
        .collect()
}

fn at<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Array(all) => key.parse::<usize>().ok().and_then(|index| all.get(index)),
        other => other.get(key),
    }
}

/// A value as an attribute has it: what is in an object is not told.
fn shown(value: &Value) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) => PRESENT.into(),
        other => other.clone(),
    }
}

fn known(value: &Value) -> Option<&Value> {
    Some(value).filter(|value| !value.is_null())
}

/// What Nomad leaves out of a job's JSON as well as writing it.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(set) => !set,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
