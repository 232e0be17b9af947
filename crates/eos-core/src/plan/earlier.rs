//! Plans of the version before, as the store of an older estate has them: their operations can go on and be undone.

use super::{Plan, VERSION};
use serde_json::{Map, Value, json};

/// The one version before that is still read.
const BEFORE: u32 = 3;

/// Reads a plan that this version, or the one before, wrote.
pub fn read(mut plan: Value) -> Result<Plan, String> {
    let version = plan.get("version").and_then(Value::as_u64);
    if version == Some(BEFORE.into()) {
        let steps = plan.get_mut("steps").and_then(Value::as_array_mut);
        for step in steps.into_iter().flatten() {
            translate(step).ok_or("it has a step that no version of Eos made")?;
        }
        plan["version"] = VERSION.into();
    } else if version != Some(VERSION.into()) {
        let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        return Err(format!(
            "it has version {version}, this Eos knows version {VERSION}"
        ));
    }
    serde_json::from_value(plan).map_err(|error| error.to_string())
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
    use crate::kinds::secret::How;
    use crate::kinds::volume::Which;
    use crate::kinds::{Made, Proof, Unmade};
    use crate::plan::Work;

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
    fn another_version_and_an_unknown_step_are_refused() {
        for version in [1, 2, 5] {
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
