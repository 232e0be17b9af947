//! What Terraform says: the resource changes of a workspace's plan, read into effects on the real objects and on its state.

use super::nomad::compare;
use super::{ABSENT, CHANGED, Effect, EffectAttribute, Engine, Of, PRESENT};
use crate::plan::Action;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The part `terraform` of what `eos.preview` answers.
pub struct TerraformPreview<'a> {
    resources: Vec<Resource<'a>>,
    drift: Vec<Resource<'a>>,
}

/// One resource that changes.
struct Resource<'a> {
    address: &'a str,
    kind: &'a str,
    actions: Vec<&'a str>,
    before: &'a Value,
    after: &'a Value,
    unknown: &'a Value,
}

/// A job that a workspace registers or forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobWork<'a> {
    Register,
    Remove { namespace: &'a str, id: &'a str },
}

impl<'a> TerraformPreview<'a> {
    pub fn read(answer: &'a Value) -> Self {
        let all = |key: &str| {
            let listed = answer.get(key).and_then(Value::as_array);
            listed.into_iter().flatten().map(Resource::read).collect()
        };
        Self {
            resources: all("resources"),
            drift: all("drift"),
        }
    }

    /// What becomes of the workspace's job; nothing where Terraform leaves it alone, whatever Nomad would make of it.
    pub fn job(&self) -> Option<JobWork<'a>> {
        let job = self
            .resources
            .iter()
            .find(|resource| resource.kind == "nomad_job")?;
        let name = |key: &str| job.before.get(key).and_then(Value::as_str);
        match job.action()? {
            Action::Create | Action::Change => Some(JobWork::Register),
            Action::Delete => Some(JobWork::Remove {
                namespace: name("namespace")?,
                id: name("id")?,
            }),
        }
    }

    /// What the workspace's plan does, but for its job, of which Nomad knows more. `state` is whether there is a Terraform
    /// state, and `gone` whether it goes with the workspace.
    pub fn effects(&self, of: Of<'_>, state: bool, gone: bool) -> Vec<Effect> {
        let mut effects: Vec<Effect> = Vec::new();
        let objects = self.resources.iter().flat_map(|resource| resource.effects(of));
        for effect in objects {
            // A volume of the same name on each of several hosts.
            if !effects.iter().any(|known| known.object == effect.object) {
                effects.push(effect);
            }
        }
        effects.extend(self.state(of, state, gone));
        effects
    }

    fn state(&self, of: Of<'_>, there: bool, gone: bool) -> Option<Effect> {
        let drifted: BTreeMap<&str, &Resource<'_>> = self
            .drift
            .iter()
            .map(|resource| (resource.address, resource))
            .collect();
        let changed = self.resources.iter().map(|resource| {
            let action = match (resource.action(), drifted.get(resource.address)) {
                // Somebody removed the real thing: the state has it still, and has another in its place afterwards.
                (Some(Action::Create), Some(_)) => Some(Action::Change),
                // Somebody changed it, and it becomes again what the state says that it is.
                (Some(Action::Change), Some(drift)) if resource.becomes(drift.before) => None,
                (action, _) => action,
            };
            (resource.address, action)
        });
        let drift = drifted.iter().map(|(address, drift)| (*address, drift.action()));
        let all: BTreeMap<&str, Option<Action>> = drift.chain(changed).collect();
        let all = all
            .into_iter()
            .filter_map(|(address, action)| Some((address, action?)));
        let attributes: Vec<_> = all
            .map(|(address, action)| {
                let (before, after) = match action {
                    Action::Create => (ABSENT, PRESENT),
                    Action::Change => (PRESENT, CHANGED),
                    Action::Delete => (PRESENT, ABSENT),
                };
                EffectAttribute::new(address, Some(before.into()), Some(after.into()))
            })
            .collect();
        let action = match (there, gone) {
            (false, true) => return None,
            (true, true) => Action::Delete,
            (_, false) if attributes.is_empty() => return None,
            (false, false) => Action::Create,
            (true, false) => Action::Change,
        };
        let object = format!("terraform/state/{}/{}", of.environment, of.component);
        Some(of.effect(Engine::Terraform, object, action, attributes))
    }
}

/// Attributes of a resource that a person or a recipe decides, and the names that they have in the engine. All others are
/// computed.
const NAMESPACE: [(&str, &str); 4] = [
    ("description", "Description"),
    ("quota", "Quota"),
    ("meta", "Meta"),
    ("capabilities", "Capabilities"),
];
const VOLUME: [(&str, &str); 6] = [
    ("node_id", "NodeID"),
    ("host_path", "HostPath"),
    ("plugin_id", "PluginID"),
    ("capability", "RequestedCapabilities"),
    ("parameters", "Parameters"),
    ("constraint", "Constraints"),
];

impl<'a> Resource<'a> {
    fn read(resource: &'a Value) -> Self {
        let text = |key: &str| resource[key].as_str().unwrap_or_default();
        let actions = resource["actions"].as_array().into_iter().flatten();
        Self {
            address: text("address"),
            kind: text("type"),
            actions: actions.filter_map(Value::as_str).collect(),
            before: &resource["before"],
            after: &resource["after"],
            unknown: &resource["after_unknown"],
        }
    }

    fn action(&self) -> Option<Action> {
        match self.actions.as_slice() {
            ["create"] => Some(Action::Create),
            ["update"] | ["delete", "create"] | ["create", "delete"] => Some(Action::Change),
            ["delete"] => Some(Action::Delete),
            _ => None,
        }
    }

    /// Whether all that it will be is known, and is this.
    fn becomes(&self, value: &Value) -> bool {
        self.after == value && !is_any_true(self.unknown)
    }

    fn effects(&self, of: Of<'_>) -> Vec<Effect> {
        let Some(action) = self.action().filter(|_| self.kind != "nomad_job") else {
            return Vec::new();
        };
        let effect =
            |object: String, action, attributes| of.effect(Engine::Terraform, object, action, attributes);
        let (was, is) = (self.object(self.before), self.object(self.after));
        match (action, was, is) {
            // Another name is another object.
            (Action::Change, Some(was), Some(is)) if was != is => vec![
                effect(was, Action::Delete, Vec::new()),
                effect(is, Action::Create, Vec::new()),
            ],
            (Action::Change, _, Some(object)) => match self.attributes() {
                none if none.is_empty() => Vec::new(),
                attributes => vec![effect(object, action, attributes)],
            },
            (Action::Create, _, Some(object)) | (Action::Delete, Some(object), _) => {
                vec![effect(object, action, Vec::new())]
            }
            _ => {
                let object = format!("terraform/resource/{}", self.address);
                let mut whole = effect(object, action, self.known_changes(action));
                whole.warning = self.is_replaced().then(|| {
                    "Terraform destroys the one that is there, and makes another in its place".to_owned()
                });
                vec![whole]
            }
        }
    }

    fn is_replaced(&self) -> bool {
        self.actions.len() > 1
    }

    /// What becomes another in a resource that stays, as far as it is known. What its provider computes is left out.
    fn known_changes(&self, action: Action) -> Vec<EffectAttribute> {
        let mut found = Vec::new();
        let (Action::Change, Some(before), Some(after)) =
            (action, self.before.as_object(), self.after.as_object())
        else {
            return found;
        };
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names
            .into_iter()
            .filter(|name| !is_any_true(&self.unknown[name.as_str()]))
        {
            let nothing = Value::Null;
            let (was, is) = (
                before.get(name).unwrap_or(&nothing),
                after.get(name).unwrap_or(&nothing),
            );
            compare(was, is, name, &mut |name, before, after| {
                found.push(EffectAttribute::new(name, before, after));
            });
        }
        found
    }

    /// The real object, by its name in its engine.
    fn object(&self, attributes: &Value) -> Option<String> {
        let text = |key: &str| attributes.get(key).and_then(Value::as_str);
        Some(match self.kind {
            "nomad_namespace" => format!("nomad/namespace/{}", text("name")?),
            "nomad_dynamic_host_volume_registration" => {
                format!("nomad/volume/{}/{}", text("namespace")?, text("name")?)
            }
            "consul_config_entry" => format!("consul/config/{}/{}", text("kind")?, text("name")?),
            _ => return None,
        })
    }

    /// What changes of the real object; empty where all that changes is in Terraform's state alone.
    fn attributes(&self) -> Vec<EffectAttribute> {
        let mut found = Vec::new();
        let mut add = |name, before, after| found.push(EffectAttribute::new(name, before, after));
        match self.kind {
            "nomad_namespace" => self.fields(&NAMESPACE, &mut add),
            "nomad_dynamic_host_volume_registration" => self.fields(&VOLUME, &mut add),
            "consul_config_entry" => {
                let entry = |attributes: &Value| -> Value {
                    let text = attributes["config_json"].as_str().unwrap_or_default();
                    serde_json::from_str(text).unwrap_or_default()
                };
                compare(&entry(self.before), &entry(self.after), "", &mut add);
            }
            _ => {}
        }
        found
    }

    fn fields(&self, names: &[(&str, &str)], add: &mut dyn FnMut(String, Option<Value>, Option<Value>)) {
        for (key, name) in names {
            if self.unknown[key].as_bool() != Some(true) {
                compare(&self.before[key], &self.after[key], name, add);
            }
        }
    }
}

/// Terraform marks what is not known yet with true, where the value would be.
fn is_any_true(marks: &Value) -> bool {
    match marks {
        Value::Bool(mark) => *mark,
        Value::Array(all) => all.iter().any(is_any_true),
        Value::Object(all) => all.values().any(is_any_true),
        _ => false,
    }
}
