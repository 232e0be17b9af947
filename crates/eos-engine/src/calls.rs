//! The call of Salt that a step makes: the call that Eos makes and the call that an approval names are the same.

use eos_core::canonical::canonical_digest;
use eos_core::kinds::Function;
use eos_core::plan::Step;
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

/// The call that a step makes; nothing where it asks another engine, or only looks. `made_by` is the operation that a
/// rollback undoes.
pub fn call_of(step: &Step, made_by: &str) -> Option<Call> {
    let request = step.work.request()?;
    let mut arguments = json!({
        "kind": request.kind(),
        "environment": step.environment,
        "component": step.component,
        "facts": request.facts(made_by),
    });
    let function = match request.function() {
        Function::Make => "eos.make",
        Function::Remove => "eos.remove",
        Function::Act(action) => {
            arguments["action"] = action.into();
            "eos.act"
        }
    };
    Some(Call {
        minion: request.minion().to_owned(),
        function,
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eos_core::emit::sha256;
    use eos_core::kinds::secret::{How, Moved, Previous, SecretWork};
    use eos_core::kinds::volume::{self, Which};
    use eos_core::kinds::{Made, Proof, Unmade, job, rules, workspace};
    use eos_core::plan::Work;
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

    fn secret(how: How) -> Work {
        Work::Secret(Moved {
            minion: minion(),
            path: "nomad/jobs/hello".to_owned(),
            how,
        })
    }

    fn without(which: Which) -> Work {
        Work::Unmake(Unmade::Volume(volume::Unmade {
            minion: minion(),
            volumes: BTreeMap::from([("production/hello/data".to_owned(), "/srv/hello".to_owned())]),
            which,
        }))
    }

    #[test]
    fn each_step_that_changes_something_through_salt_has_its_call() {
        let (digest, digested) = ("d1".to_owned(), json!({"digest": "d1"}));
        let named = json!({"production/hello/data": "/srv/hello"});
        let item = SecretWork {
            item: "password".to_owned(),
            given: false,
            rotate: false,
            generate: Some(24),
            copy_of: None,
        };
        let cases = [
            (
                Work::Make(Made::Volume(volume::Made {
                    minion: minion(),
                    digest: digest.clone(),
                    paths: vec!["/srv/hello".to_owned()],
                    lasting: false,
                })),
                ("eos.make", "volume", digested.clone()),
            ),
            (
                Work::Make(Made::Workspace(workspace::Made {
                    minion: minion(),
                    digest: digest.clone(),
                    loses: false,
                })),
                ("eos.make", "workspace", digested.clone()),
            ),
            (
                Work::Make(Made::Rules(rules::Made {
                    minion: minion(),
                    digest,
                })),
                ("eos.make", "rules", digested),
            ),
            (
                Work::Unmake(Unmade::Rules(rules::Unmade {
                    minion: minion(),
                    by: "prometheus".to_owned(),
                })),
                ("eos.remove", "rules", json!({"monitor": "prometheus"})),
            ),
            (
                Work::Unmake(Unmade::Workspace(workspace::Unmade {
                    minion: minion(),
                    loses: false,
                })),
                ("eos.remove", "workspace", json!({})),
            ),
            (
                secret(How::Write { items: vec![item] }),
                (
                    "eos.make",
                    "secret",
                    json!({"items": [{"item": "password", "given": false, "generate": 24}]}),
                ),
            ),
            (
                secret(How::Restore {
                    previous: Previous::Version(3),
                }),
                ("eos.act", "secret", json!({"previous": {"version": 3}})),
            ),
            (secret(How::Remove {}), ("eos.remove", "secret", json!({}))),
            (
                without(Which::WithData(vec!["production/hello/data".to_owned()])),
                (
                    "eos.remove",
                    "volume",
                    json!({"volumes": named, "with_data": ["production/hello/data"]}),
                ),
            ),
            (
                without(Which::IfEmpty {}),
                (
                    "eos.remove",
                    "volume",
                    json!({"volumes": named, "made_by": "01OP"}),
                ),
            ),
        ];
        for (work, (function, kind, facts)) in cases {
            let call = call_of(&step(work), "01OP").unwrap();
            let place = json!(["production", "hello"]);
            let arguments = &call.arguments;
            assert_eq!(json!([arguments["environment"], arguments["component"]]), place);
            let said = (
                call.function,
                arguments["kind"].as_str().unwrap(),
                &arguments["facts"],
            );
            assert_eq!(said, (function, kind, &facts));
            let action = (function == "eos.act").then_some("restore");
            assert_eq!(arguments.get("action").and_then(Value::as_str), action);
            assert_eq!(call.minion, "control");
        }
        let gone = Proof::Gone(job::Gone {
            services: Vec::new(),
            stop: None,
        });
        for work in [Work::Deliver, Work::Prove(gone)] {
            assert_eq!(call_of(&step(work), "01OP"), None);
        }
    }

    #[test]
    fn the_digest_is_that_of_the_canonical_call() {
        let work = Work::Unmake(Unmade::Workspace(workspace::Unmade {
            minion: minion(),
            loses: false,
        }));
        let call = call_of(&step(work), "").unwrap();
        let text = r#"["eos.remove",{"component":"hello","environment":"production","facts":{},"kind":"workspace"}]"#;
        assert_eq!(call.digest(), sha256(text.as_bytes()));
    }

    #[test]
    fn a_step_is_read_as_it_is_written() {
        let works = [
            Work::Deliver,
            secret(How::Remove {}),
            secret(How::Restore {
                previous: Previous::Nothing,
            }),
            without(Which::IfEmpty {}),
            without(Which::WithData(Vec::new())),
            Work::Make(Made::Workspace(workspace::Made {
                minion: minion(),
                digest: "d1".to_owned(),
                loses: false,
            })),
        ];
        for work in works {
            let step = step(work);
            let text = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<Step>(&text).unwrap(), step, "{text}");
        }
    }
}
