//! Plans of earlier versions, as the store of an older estate has them: their operations can go on and be undone.

use super::{Plan, VERSION};
use crate::pillar::STANDING_NEED;
use serde_json::{Map, Value, json};

/// A step of a plan was named by a word of its own.
const WORDS: u32 = 3;
/// A plan was about the host of its intent, and about no other.
const HOST_OF_INTENT: u32 = 4;
/// A plan knew changes, and no acts.
const WITHOUT_ACTS: u32 = 5;

/// Reads a plan that this version, or one of the three before, wrote.
pub fn read(mut plan: Value) -> Result<Plan, String> {
    let version = plan.get("version").and_then(Value::as_u64);
    let is = |known: u32| version == Some(known.into());
    if ![WORDS, HOST_OF_INTENT, WITHOUT_ACTS, VERSION].into_iter().any(is) {
        let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        return Err(format!(
            "it has version {version}, this Eos knows version {VERSION}"
        ));
    }
    if is(WORDS) {
        for step in steps(&mut plan) {
            translate(step).ok_or("it has a step that no version of Eos made")?;
        }
    }
    if is(WORDS) || is(HOST_OF_INTENT) {
        name_hosts(&mut plan);
        let intent = plan["intent"].take();
        if intent.is_object() {
            plan["intent"] = sentence(&intent).ok_or("it has an intent that no version of Eos had")?;
        }
    }
    if !is(VERSION) {
        plan["acts"] = json!([]);
        plan["version"] = VERSION.into();
    }
    serde_json::from_value(plan).map_err(|error| error.to_string())
}

fn steps(plan: &mut Value) -> impl Iterator<Item = &mut Value> {
    let steps = plan.get_mut("steps").and_then(Value::as_array_mut);
    steps.into_iter().flatten()
}

/// A plan names its hosts, and the step that proves one belongs to no environment.
fn name_hosts(plan: &mut Value) {
    let intent = plan.get("intent").filter(|intent| intent["noun"] == "host");
    let hosts: Vec<Value> = intent
        .map(|intent| intent["component"].clone())
        .into_iter()
        .collect();
    plan["hosts"] = hosts.into();
    for step in steps(plan) {
        if step["work"] == "prove" && step["kind"] == "host" {
            step["environment"] = "".into();
        }
    }
}

/// An intent had a verb, a noun and all fields that any sentence needs; now it is the sentence itself.
fn sentence(before: &Value) -> Option<Value> {
    let field = |name: &str| before.get(name).cloned().unwrap_or_default();
    let (verb, noun) = (before.get("verb")?.as_str()?, before.get("noun"));
    let noun = noun.and_then(Value::as_str).unwrap_or("component");
    let (environment, of) = (field("environment"), field("component"));
    let mut options = before.get("options")?.as_object()?.clone();
    let mut after = match (verb, noun) {
        ("reconcile", _) => {
            let (parts, components): (Vec<_>, Vec<_>) = options
                .into_iter()
                .map(|(name, _)| name)
                .partition(|name| name.contains('/'));
            json!({"sentence": "reconcile", "components": components, "parts": parts})
        }
        ("create", "component") => {
            let recipe = Some(field("recipe")).filter(|recipe| !recipe.is_null());
            let recipe = recipe.unwrap_or_else(|| of.clone());
            json!({"sentence": "create_component", "component": of, "recipe": recipe, "options": options})
        }
        ("update", "component") => json!({
            "sentence": "update_component", "component": of, "options": options,
            "upgrade": before.get("upgrade") == Some(&Value::Bool(true)),
        }),
        ("delete", "component") => json!({"sentence": "delete_component", "component": of}),
        ("promote", "component") => json!({
            "sentence": "promote_component", "component": of, "from": field("from"), "to": environment,
        }),
        ("promote", "environment") => {
            json!({"sentence": "promote_environment", "from": field("from"), "to": environment})
        }
        ("delete", "environment") => json!({"sentence": "delete_environment"}),
        ("rotate", "component") => {
            for value in options.values_mut() {
                *value = if value.is_null() { "generated" } else { "given" }.into();
            }
            json!({"sentence": "rotate", "component": of, "secrets": options})
        }
        ("create" | "update", "host") => {
            json!({"sentence": format!("{verb}_host"), "host": of, "facts": options})
        }
        ("delete", "host") => json!({"sentence": "delete_host", "host": of}),
        ("create", "volume") => json!({"sentence": "create_volume", "volume": of, "facts": options}),
        ("update", "volume") => {
            let need = options.remove("need").unwrap_or_else(|| STANDING_NEED.into());
            json!({"sentence": "update_volume", "component": of, "need": need, "facts": options})
        }
        ("delete", "volume") => json!({
            "sentence": "delete_volume", "volume": of,
            "with_data": options.get("with_data") == Some(&Value::Bool(true)),
        }),
        _ => return None,
    };
    after["environment"] = environment;
    for name in ["words", "who", "when"] {
        after[name] = field(name);
    }
    Some(after)
}

/// A step named its sort of work by one word; now it names its work and the kind.
fn translate(step: &mut Value) -> Option<()> {
    let step = step.as_object_mut()?;
    let word = step.remove("kind")?;
    let (work, kind) = match word.as_str()? {
        "deliver" => ("deliver", None),
        "volumes" => ("make", Some("volume")),
        "workspace" => ("make", Some("workspace")),
        "monitor" => ("make", Some("rules")),
        "remove_workspace" => ("unmake", Some("workspace")),
        "remove_volumes" => {
            step.entry("with_data").or_insert_with(|| json!([]));
            ("unmake", Some("volume"))
        }
        "remove_unused_volumes" => {
            step.insert("if_empty".to_owned(), json!({}));
            ("unmake", Some("volume"))
        }
        "remove_monitor" => ("unmake", Some("rules")),
        "verify" => ("prove", Some("healthy")),
        "verify_gone" => ("prove", Some("gone")),
        "verify_kept" => ("prove", Some("kept")),
        "verify_host" => ("prove", Some("host")),
        "verify_unwatched" => ("prove", Some("unwatched")),
        "secret" => secret(step, "write", &["items"])?,
        "restore_secret" => secret(step, "restore", &["previous"])?,
        "remove_secret" => secret(step, "remove", &[])?,
        _ => return None,
    };
    step.insert("work".to_owned(), work.into());
    if let Some(kind) = kind {
        step.insert("kind".to_owned(), kind.into());
    }
    Some(())
}

/// What is done to secrets stands apart from where they are.
fn secret(
    step: &mut Map<String, Value>,
    how: &str,
    with: &[&str],
) -> Option<(&'static str, Option<&'static str>)> {
    let mut facts = Map::new();
    for name in with {
        facts.insert((*name).to_owned(), step.remove(*name)?);
    }
    step.insert(how.to_owned(), facts.into());
    Some(("secret", None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::NodeKind;
    use crate::intent::{NewValue, Options, Sentence};
    use crate::kinds::secret::How;
    use crate::kinds::volume::Which;
    use crate::kinds::{Made, Proof, Unmade};
    use crate::plan::Work;
    use crate::scope::Scope;

    /// One step of each word that version 3 had, as it wrote them.
    fn steps() -> Vec<Value> {
        let control =
            json!({"minion": "control", "sls": "components.hello.production.workspace", "digest": "d"});
        let volumes = json!({"minion": "control", "volumes": {"production/hello/data": "/srv/hello"}});
        let with = |word: &str, facts: Value| {
            let mut step =
                json!({"id": word, "environment": "production", "component": "hello", "kind": word});
            step.as_object_mut()
                .unwrap()
                .extend(facts.as_object().unwrap().clone());
            step
        };
        let mut made = control.clone();
        made["paths"] = json!(["/srv/hello"]);
        vec![
            with("deliver", json!({})),
            with("volumes", made),
            with("workspace", control.clone()),
            with("monitor", control),
            with("secret", json!({"minion": "control", "path": "p", "items": []})),
            with(
                "restore_secret",
                json!({"minion": "control", "path": "p", "previous": "nothing"}),
            ),
            with("remove_secret", json!({"minion": "control", "path": "p"})),
            with("verify", json!({"digest": "d", "groups": []})),
            with("remove_workspace", json!({"minion": "control"})),
            with("remove_volumes", volumes.clone()),
            with("remove_unused_volumes", volumes),
            with("verify_kept", json!({"minion": "control", "paths": []})),
            with("verify_host", json!({"minion": "control", "client": true})),
            with("verify_gone", json!({"services": []})),
            with("remove_monitor", json!({"minion": "control", "by": "prometheus"})),
            with("verify_unwatched", json!({"by": "prometheus"})),
        ]
    }

    fn plan(version: u32, steps: Vec<Value>) -> Value {
        json!({
            "version": version, "environment": "production", "components": ["hello"], "intent": null, "base": "b",
            "pillar": {}, "release": "r", "observed": true, "changes": [], "steps": steps,
        })
    }

    #[test]
    fn each_step_of_the_version_before_is_read() {
        let plan = read(plan(3, steps())).unwrap();
        assert_eq!(plan.version, VERSION);
        let said: Vec<&str> = plan.steps.iter().map(|step| step.work.title()).collect();
        let same = "deliver volume terraform monitor secret secret secret healthy terraform volume volume kept host gone \
                    monitor monitor";
        assert_eq!(said.join(" "), same);
        let work = |id: &str| &plan.steps.iter().find(|step| step.id == id).unwrap().work;
        assert!(matches!(work("volumes"), Work::Make(Made::Volume(_))));
        assert!(matches!(work("verify"), Work::Prove(Proof::Healthy(_))));
        let which = |id: &str| match work(id) {
            Work::Unmake(Unmade::Volume(gone)) => gone.which.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(which("remove_volumes"), Which::WithData(Vec::new()));
        assert_eq!(which("remove_unused_volumes"), Which::IfEmpty {});
        let how = |id: &str| match work(id) {
            Work::Secret(moved) => moved.how.clone(),
            other => panic!("{other:?}"),
        };
        assert!(matches!(how("secret"), How::Write { .. }));
        assert!(matches!(how("restore_secret"), How::Restore { .. }));
        assert!(matches!(how("remove_secret"), How::Remove {}));
    }

    #[test]
    fn a_host_of_the_version_before_belongs_to_no_environment() {
        let proof = json!({
            "id": "host", "environment": "production", "component": "node2", "work": "prove", "kind": "host",
            "minion": "node2", "client": true,
        });
        let mut before = plan(4, vec![proof]);
        before["intent"] = json!({
            "verb": "create", "noun": "host", "environment": "production", "component": "node2", "recipe": null,
            "options": {"address": "10.0.0.2"}, "upgrade": false, "words": "w", "who": "ada", "when": "now",
        });
        let plan = read(before).unwrap();
        assert_eq!(plan.intent.as_ref().unwrap().sentence.host(), Some("node2"));
        assert_eq!(plan.hosts, ["node2"]);
        assert_eq!(plan.steps[0].key(), Scope::Estate.key("node2"));
        assert!(plan.locked().contains(&Scope::Estate.key("node2")));
    }

    #[test]
    fn each_intent_of_the_version_before_is_a_sentence() {
        let read = |verb: &str, noun: &str, options: Value| {
            let mut before = plan(4, Vec::new());
            before["intent"] = json!({
                "verb": verb, "noun": noun, "environment": "staging", "component": "x", "recipe": null, "options": options,
                "from": "development", "upgrade": true, "words": "w", "who": "ada", "when": "now",
            });
            read(before).unwrap().intent.unwrap().sentence
        };
        let (environment, x) = ("staging".to_owned(), "x".to_owned());
        let options = |value: Value| -> Options { serde_json::from_value(value).unwrap() };
        let port = || options(json!({"port": 1}));
        let (from, to) = ("development".to_owned(), environment.clone());
        let same = |one: Sentence, other: Sentence| assert_eq!(one, other);
        same(
            read("create", "component", json!({"port": 1})),
            Sentence::CreateComponent {
                environment: environment.clone(),
                component: x.clone(),
                recipe: x.clone(),
                options: port(),
            },
        );
        same(
            read("update", "component", json!({"port": 1})),
            Sentence::UpdateComponent {
                environment: environment.clone(),
                component: x.clone(),
                options: port(),
                upgrade: true,
            },
        );
        same(
            read("delete", "component", json!({})),
            Sentence::DeleteComponent {
                environment: environment.clone(),
                component: x.clone(),
            },
        );
        same(
            read("promote", "component", json!({})),
            Sentence::PromoteComponent {
                from: from.clone(),
                to: to.clone(),
                component: x.clone(),
            },
        );
        same(
            read("promote", "environment", json!({})),
            Sentence::PromoteEnvironment { from, to },
        );
        same(
            read("delete", "environment", json!({})),
            Sentence::DeleteEnvironment {
                environment: environment.clone(),
            },
        );
        same(
            read("rotate", "component", json!({"a": null, "b": "***"})),
            Sentence::Rotate {
                environment: environment.clone(),
                component: x.clone(),
                secrets: [
                    ("a".to_owned(), NewValue::Generated),
                    ("b".to_owned(), NewValue::Given),
                ]
                .into(),
            },
        );
        same(
            read(
                "reconcile",
                "environment",
                json!({"redis": null, "volume/redis-data": null}),
            ),
            Sentence::Reconcile {
                environment: environment.clone(),
                components: ["redis".to_owned()].into(),
                parts: [NodeKind::Volume.at("redis-data")].into(),
            },
        );
        same(
            read("update", "host", json!({"port": 1})),
            Sentence::UpdateHost {
                host: x.clone(),
                facts: port(),
            },
        );
        same(
            read("delete", "host", json!({})),
            Sentence::DeleteHost { host: x.clone() },
        );
        same(
            read("create", "volume", json!({"port": 1})),
            Sentence::CreateVolume {
                environment: environment.clone(),
                volume: x.clone(),
                facts: port(),
            },
        );
        same(
            read("update", "volume", json!({"need": "logs", "port": 1})),
            Sentence::UpdateVolume {
                environment: environment.clone(),
                component: x.clone(),
                need: "logs".to_owned(),
                facts: port(),
            },
        );
        same(
            read("delete", "volume", json!({"with_data": true})),
            Sentence::DeleteVolume {
                environment,
                volume: x,
                with_data: true,
            },
        );
        let mut strange = plan(4, Vec::new());
        strange["intent"] = json!({"verb": "explode", "options": {}});
        assert!(super::read(strange).is_err());
    }

    #[test]
    fn a_plan_of_the_version_before_has_no_acts() {
        let step = json!({"id": "1", "environment": "e", "component": "c", "work": "deliver"});
        let mut before = plan(5, vec![step]);
        before["hosts"] = json!(["node2"]);
        let read = read(before).unwrap();
        assert_eq!((read.version, read.acts.len()), (VERSION, 0));
        assert_eq!(read.hosts, ["node2"], "nothing else of it is translated");
    }

    #[test]
    fn another_version_and_an_unknown_step_are_refused() {
        for version in [1, 2, 7] {
            let why = read(plan(version, Vec::new())).unwrap_err();
            assert_eq!(
                why,
                format!("it has version {version}, this Eos knows version {VERSION}")
            );
        }
        let strange = json!({"id": "1", "environment": "e", "component": "c", "kind": "explode"});
        assert!(read(plan(3, vec![strange])).is_err());
    }
}
