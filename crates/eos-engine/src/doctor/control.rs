//! What the control minion says of itself: its Terraform, its credential, its schedule, and workspaces of nobody.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::files::quoted;
use super::leftovers::{self, Keys};
use super::versions::Engine;
use super::{Area, Condition, Examination, Finding, words_of};
use crate::error::{EngineError, ErrorKind};

/// What stands in the master's `file_roots` for any environment.
const ANY_ENVIRONMENT: &str = "__env__";

/// The command that a minion's words name where a delivered file is damaged.
const DELIVER: &str = "eos apply";

impl Examination<'_> {
    /// `asked` is nothing where Salt itself is not to be spoken to, which is said elsewhere.
    pub(super) fn control(
        &self,
        asked: Option<Result<Value, EngineError>>,
        keys: Option<Keys>,
    ) -> Vec<Finding> {
        let of_consul = keys
            .iter()
            .flat_map(|keys| leftovers::consul_locks(self.expected.estate, keys));
        let mut findings: Vec<Finding> = of_consul.collect();
        match asked {
            Some(Ok(seen)) => findings.extend(self.seen_by_control(&seen, keys.as_ref())),
            Some(Err(error)) => findings.extend(self.not_examined(&error)),
            None => {}
        }
        findings
    }

    fn not_examined(&self, error: &EngineError) -> Option<Finding> {
        let (condition, mend) = match error.kind {
            // Its formula is another one, or it is silent: both are findings of the minion.
            ErrorKind::NotFound | ErrorKind::Unreachable => return None,
            ErrorKind::Refused => (Condition::Broken, self.edit_master()),
            _ => (Condition::Limited, "eos doctor".to_owned()),
        };
        let what = format!("minion {}", self.endpoints.control);
        let words = format!("it does not report its settings: {}", words_of(error));
        Some(Finding::not_ok(Area::Salt, what, condition, words, mend))
    }

    fn seen_by_control(&self, seen: &Value, keys: Option<&Keys>) -> Vec<Finding> {
        let control = &self.endpoints.control;
        let master = self.edit_master();
        let pillar = pillar_finding(seen, &master);
        let has_pillar = pillar.condition == Condition::Ok;
        let mut findings = vec![environment_finding(seen, &master), pillar];
        findings.extend(damaged(seen, |file| {
            let rm = format!("rm {}", quoted(Path::new(file)));
            self.on_control(&rm)
        }));
        let Some(own) = seen.get("control").filter(|own| own.is_object()) else {
            let words =
                format!("minion {control} has no settings for Terraform: `eos:` in its configuration");
            let mend = self.edit_minion(&self.endpoints.control);
            findings.push(Finding::not_ok(
                Area::Terraform,
                "program",
                Condition::Broken,
                words,
                mend,
            ));
            return findings;
        };
        findings.push(self.schedule_finding(own));
        findings.extend(self.terraform_findings(own));
        findings.push(self.credential_finding(own));
        // Without a pillar nobody knows which workspaces are nobody's.
        if has_pillar {
            findings.extend(self.workspace_findings(own, keys));
        }
        findings.extend(leftovers::state_locks(own, |unlock| self.on_control(unlock)));
        findings
    }

    fn schedule_finding(&self, own: &Value) -> Finding {
        if own.get("schedule") == Some(&Value::Bool(true)) {
            let words = "a Salt schedule compares Terraform's states with reality, also without Eos";
            return Finding::ok(Area::Salt, "schedule", words);
        }
        let words = "nothing looks for drift while Eos does not run: no schedule of \
            eos_terraform.sync_states";
        let add =
            "salt-call schedule.add eos-drift function=eos_terraform.sync_states seconds=300 maxrunning=1";
        let mend = match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => self.on_control(add),
        };
        Finding::not_ok(Area::Salt, "schedule", Condition::Limited, words, mend)
    }

    fn terraform_findings(&self, own: &Value) -> Option<Finding> {
        let said = own.get("terraform")?;
        let text = |name: &str| said.get(name).and_then(Value::as_str);
        let program = text("program").unwrap_or("terraform");
        match text("version") {
            Some(version) => {
                let seen = [(program.to_owned(), version.to_owned())];
                Engine::Terraform.finding(Area::Terraform, &seen, &self.renew("terraform"))
            }
            None => {
                let words = format!(
                    "{program}: {}",
                    text("error").unwrap_or("it does not report its version")
                );
                let mend = self.renew("terraform");
                Some(Finding::not_ok(
                    Area::Terraform,
                    "version",
                    Condition::Broken,
                    words,
                    mend,
                ))
            }
        }
    }

    fn credential_finding(&self, own: &Value) -> Finding {
        match own.get("credential").and_then(Value::as_str) {
            None => Finding::ok(
                Area::Terraform,
                "credential",
                "readable by the minion's user alone",
            ),
            Some(fault) => {
                let mend = match self.is_lab() {
                    true => "eos lab up".to_owned(),
                    false => self.on_control("$EDITOR /etc/eos/nomad.json && chmod 600 /etc/eos/nomad.json"),
                };
                Finding::not_ok(Area::Terraform, "credential", Condition::Broken, fault, mend)
            }
        }
    }

    fn workspace_findings(&self, own: &Value, keys: Option<&Keys>) -> Vec<Finding> {
        let list = |name: &str| -> Vec<&str> {
            let all = own.get(name).and_then(Value::as_array);
            all.into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let named = list("named");
        let on_disk = list("orphans").into_iter().map(str::to_owned);
        let in_consul = keys
            .into_iter()
            .flat_map(|keys| leftovers::orphans_in_consul(keys, &named));
        let orphans: BTreeSet<String> = on_disk.chain(in_consul).collect();
        if orphans.is_empty() {
            let words = match named.len() {
                1 => "1, as in the pillar".to_owned(),
                count => format!("{count}, as in the pillar"),
            };
            return vec![Finding::ok(Area::Terraform, "workspaces", words)];
        }
        orphans.iter().map(|name| self.orphan_finding(name)).collect()
    }

    /// What an operation of Eos made is removed by Eos; of anything else only root can say that it may go.
    fn orphan_finding(&self, name: &str) -> Finding {
        let (environment, component) = name.split_once('/').unwrap_or((name, ""));
        let store = self.expected.estate.store_to_read();
        let is_applied = store
            .and_then(|store| store.applied(environment))
            .is_ok_and(|all| all.iter().any(|one| one.component == component));
        let mend = match is_applied {
            true => format!("eos apply --environment {environment}"),
            false => format!(
                "{} {} eos.remove operation=eject-orphan step={environment}.{component} kind=workspace \
                 environment={environment} component={component} facts={{}}",
                self.expected.salt, self.endpoints.control
            ),
        };
        let words = format!("{name} exists, but the pillar does not name it");
        Finding::not_ok(Area::Terraform, "workspaces", Condition::Limited, words, mend)
    }
}

/// Files of Eos on the control minion that hold no whole record. One of a workspace is written again with the workspace;
/// without any other, Eos goes on as if it had never been.
fn damaged(seen: &Value, remove: impl Fn(&str) -> String) -> Vec<Finding> {
    let all = seen.get("damaged").and_then(Value::as_array);
    all.into_iter()
        .flatten()
        .map(|one| {
            let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
            let file = text("file");
            let mend = match text("workspace").split_once('/') {
                Some((environment, component)) => format!("eos reconcile {component} -e {environment}"),
                None if file.ends_with("/home.json") => "eos home take".to_owned(),
                None => remove(file),
            };
            let words = format!("{file} {}", text("words"));
            Finding::not_ok(Area::Terraform, "records", Condition::Broken, words, mend)
        })
        .collect()
}

fn environment_finding(seen: &Value, mend: &str) -> Finding {
    let all = seen.get("environments").and_then(Value::as_array);
    let serves_any = all.is_some_and(|all| all.iter().any(|one| one == ANY_ENVIRONMENT));
    match serves_any {
        true => Finding::ok(
            Area::Salt,
            "plans",
            "the master serves a plan before it is applied",
        ),
        false => Finding::not_ok(
            Area::Salt,
            "plans",
            Condition::Limited,
            "the master has no environment for plans, so the engines cannot preview a change",
            mend,
        ),
    }
}

/// Whether the master reads what is delivered, and reads it as nothing but JSON.
fn pillar_finding(seen: &Value, edit: &str) -> Finding {
    match seen.get("pillar").and_then(Value::as_str) {
        None => Finding::ok(Area::Salt, "pillar", "the master reads what is delivered as JSON"),
        Some(words) => {
            let mend = if words.contains(DELIVER) { DELIVER } else { edit };
            Finding::not_ok(Area::Salt, "pillar", Condition::Broken, words, mend)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_master_that_does_not_read_what_is_delivered_is_told_with_its_words() {
        let of = |pillar: Value| {
            let found = pillar_finding(&json!({"pillar": pillar}), "edit");
            (found.condition, found.mend)
        };
        assert_eq!(of(Value::Null), (Condition::Ok, None));
        let settings = json!("the master's pillar_roots name /srv/eos/current/pillar");
        assert_eq!(of(settings), (Condition::Broken, Some("edit".to_owned())));
        let file = json!("control.sls is no JSON: deliver it again with `eos apply`");
        assert_eq!(of(file), (Condition::Broken, Some("eos apply".to_owned())));
    }

    #[test]
    fn a_master_without_an_environment_for_plans_is_told() {
        let of = |environments: &[&str]| {
            environment_finding(&json!({"environments": environments}), "mend").condition
        };
        assert_eq!(of(&["__env__", "base"]), Condition::Ok);
        assert_eq!(of(&["base"]), Condition::Limited);
    }

    #[test]
    fn a_damaged_file_is_named_with_what_mends_it() {
        let of = |file: &str, workspace: Option<&str>| {
            let one = json!({"file": file, "words": "is empty", "workspace": workspace});
            let found = damaged(&json!({"damaged": [one]}), |file| format!("rm {file}"));
            (found[0].words.clone(), found[0].mend.clone().unwrap())
        };
        let (words, mend) = of(
            "/srv/terraform/production/web/applied.json",
            Some("production/web"),
        );
        assert_eq!(words, "/srv/terraform/production/web/applied.json is empty");
        assert_eq!(mend, "eos reconcile web -e production");
        assert_eq!(of("/var/eos/home.json", None).1, "eos home take");
        assert_eq!(of("/var/eos/synced.json", None).1, "rm /var/eos/synced.json");
        assert_eq!(damaged(&json!({}), str::to_owned), Vec::new());
    }

    #[test]
    fn only_a_lock_that_nobody_holds_is_left_behind() {
        let lock = |held: bool, by_eos: bool| {
            json!({"workspace": "production/web", "where": "s3://b/k.tflock", "held": held, "by_eos": by_eos,
                "who": "ada@desk", "since": "noon", "unlock": "aws s3 rm s3://b/k.tflock"})
        };
        let seen = json!({"state_locks": [lock(true, true), lock(false, false), lock(true, false)]});
        let found = leftovers::state_locks(&seen, |unlock| format!("on control: {unlock}"));
        let [left, held] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            left.mend.as_deref(),
            Some("on control: aws s3 rm s3://b/k.tflock")
        );
        assert!(left.words.starts_with("a run that is gone"), "{}", left.words);
        let words = "ada@desk has locked the Terraform state of production/web since noon: s3://b/k.tflock";
        assert_eq!(held.words, words);
    }

    #[test]
    fn a_state_in_consul_that_the_pillar_does_not_name_is_of_nobody() {
        let keys = Keys {
            names: [
                "production/web/state",
                "production/web/lock",
                "production/ghost/state",
                "x",
            ]
            .map(|name| format!("terraform/{name}"))
            .to_vec(),
            held: Vec::new(),
            state_locks: BTreeSet::new(),
        };
        assert_eq!(
            leftovers::orphans_in_consul(&keys, &["production/web"]),
            ["production/ghost"]
        );
    }
}
