//! The call of Salt that a step makes: what is carried out, and what an approval names by its digest, are the same.

use eos_core::canonical::canonical_digest;
use eos_core::plan::{Step, Work};
use serde_json::{Value, json};

/// One call of a function of the formula, without operation and step, which go with every one.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub minion: String,
    pub function: &'static str,
    pub arguments: Value,
}

impl Call {
    /// What an approval names it by.
    pub fn digest(&self) -> String {
        canonical_digest(&json!([self.function, self.arguments]))
    }
}

/// What a step has Salt do; nothing where it asks another engine, or only looks. `made_by` is the operation whose
/// volumes a take-back removes.
pub fn call_of(step: &Step, made_by: &str) -> Option<Call> {
    let (minion, function, arguments) = match &step.work {
        Work::Volumes {
            minion, sls, digest, ..
        }
        | Work::Workspace { minion, sls, digest }
        | Work::Monitor { minion, sls, digest } => {
            (minion, "eos.run_step", json!({"sls": sls, "digest": digest}))
        }
        Work::RemoveWorkspace { minion } => {
            let arguments = json!({"environment": step.environment, "component": step.component});
            (minion, "eos.remove_workspace", arguments)
        }
        Work::Secret { minion, items, .. } => {
            let arguments =
                json!({"environment": step.environment, "component": step.component, "items": items});
            (minion, "eos.write_secrets", arguments)
        }
        Work::RestoreSecret { minion, previous, .. } => {
            let arguments = json!({
                "environment": step.environment, "component": step.component, "previous": previous,
            });
            (minion, "eos.restore_secrets", arguments)
        }
        Work::RemoveSecret { minion, .. } => {
            let arguments = json!({"environment": step.environment, "component": step.component});
            (minion, "eos.remove_secrets", arguments)
        }
        Work::RemoveVolumes {
            minion,
            volumes,
            with_data,
        } => {
            let arguments = match with_data.is_empty() {
                true => json!({"volumes": volumes}),
                false => json!({"volumes": volumes, "with_data": with_data}),
            };
            (minion, "eos.remove_volumes", arguments)
        }
        Work::RemoveUnusedVolumes { minion, volumes } => {
            let arguments = json!({"volumes": volumes, "made_by": made_by});
            (minion, "eos.remove_unused_volumes", arguments)
        }
        Work::RemoveMonitor { minion, by } => {
            let arguments =
                json!({"environment": step.environment, "component": step.component, "monitor": by});
            (minion, "eos.remove_monitoring", arguments)
        }
        Work::Deliver
        | Work::VerifyUnwatched { .. }
        | Work::Verify { .. }
        | Work::VerifyHost { .. }
        | Work::VerifyKept { .. }
        | Work::VerifyGone { .. } => return None,
    };
    Some(Call {
        minion: minion.clone(),
        function,
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eos_core::emit::sha256;
    use eos_core::plan::{Previous, SecretWork};
    use eos_core::recipe::Risk;

    use super::*;

    fn step(work: Work) -> Step {
        Step {
            id: "2-terraform".to_owned(),
            environment: "production".to_owned(),
            component: "hello".to_owned(),
            after: Vec::new(),
            risk: Risk::Low,
            work,
        }
    }

    fn minion() -> String {
        "control".to_owned()
    }

    fn volumes() -> BTreeMap<String, String> {
        BTreeMap::from([("production/hello/data".to_owned(), "/srv/hello".to_owned())])
    }

    #[test]
    fn each_step_that_changes_something_through_salt_has_its_call() {
        let (sls, digest) = (
            "components.hello.production.workspace".to_owned(),
            "d1".to_owned(),
        );
        let run = json!({"sls": sls, "digest": "d1"});
        let named = json!({"production/hello/data": "/srv/hello"});
        let cases = [
            (
                Work::Volumes {
                    minion: minion(),
                    sls: sls.clone(),
                    digest: digest.clone(),
                    paths: vec!["/srv/hello".to_owned()],
                    lasting: false,
                },
                ("eos.run_step", run.clone()),
            ),
            (
                Work::Workspace {
                    minion: minion(),
                    sls,
                    digest,
                },
                ("eos.run_step", run.clone()),
            ),
            (
                Work::Monitor {
                    minion: minion(),
                    sls: "components.hello.production.workspace".to_owned(),
                    digest: "d1".to_owned(),
                },
                ("eos.run_step", run),
            ),
            (
                Work::RemoveMonitor {
                    minion: minion(),
                    by: "prometheus".to_owned(),
                },
                (
                    "eos.remove_monitoring",
                    json!({"environment": "production", "component": "hello", "monitor": "prometheus"}),
                ),
            ),
            (
                Work::RemoveWorkspace { minion: minion() },
                (
                    "eos.remove_workspace",
                    json!({"environment": "production", "component": "hello"}),
                ),
            ),
            (
                Work::Secret {
                    minion: minion(),
                    path: "nomad/jobs/hello".to_owned(),
                    items: vec![SecretWork {
                        item: "password".to_owned(),
                        given: false,
                        rotate: false,
                        generate: Some(24),
                        copy_of: None,
                    }],
                },
                (
                    "eos.write_secrets",
                    json!({
                        "environment": "production", "component": "hello",
                        "items": [{"item": "password", "given": false, "generate": 24}],
                    }),
                ),
            ),
            (
                Work::RestoreSecret {
                    minion: minion(),
                    path: "nomad/jobs/hello".to_owned(),
                    previous: Previous::Version(3),
                },
                (
                    "eos.restore_secrets",
                    json!({"environment": "production", "component": "hello", "previous": {"version": 3}}),
                ),
            ),
            (
                Work::RemoveSecret {
                    minion: minion(),
                    path: "nomad/jobs/hello".to_owned(),
                },
                (
                    "eos.remove_secrets",
                    json!({"environment": "production", "component": "hello"}),
                ),
            ),
            (
                Work::RemoveVolumes {
                    minion: minion(),
                    volumes: volumes(),
                    with_data: Vec::new(),
                },
                ("eos.remove_volumes", json!({"volumes": named})),
            ),
            (
                Work::RemoveVolumes {
                    minion: minion(),
                    volumes: volumes(),
                    with_data: vec!["production/hello/data".to_owned()],
                },
                (
                    "eos.remove_volumes",
                    json!({"volumes": named, "with_data": ["production/hello/data"]}),
                ),
            ),
            (
                Work::RemoveUnusedVolumes {
                    minion: minion(),
                    volumes: volumes(),
                },
                (
                    "eos.remove_unused_volumes",
                    json!({"volumes": named, "made_by": "01OP"}),
                ),
            ),
        ];
        for (work, (function, arguments)) in cases {
            let call = call_of(&step(work), "01OP").unwrap();
            assert_eq!(
                call,
                Call {
                    minion: minion(),
                    function,
                    arguments
                }
            );
        }
        for work in [
            Work::Deliver,
            Work::VerifyGone {
                services: Vec::new(),
                stop: None,
            },
        ] {
            assert_eq!(call_of(&step(work), "01OP"), None);
        }
    }

    #[test]
    fn the_digest_is_that_of_the_canonical_call() {
        let call = call_of(&step(Work::RemoveWorkspace { minion: minion() }), "").unwrap();
        let text = r#"["eos.remove_workspace",{"component":"hello","environment":"production"}]"#;
        assert_eq!(call.digest(), sha256(text.as_bytes()));
    }
}
