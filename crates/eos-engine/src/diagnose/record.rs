//! What the minion wrote down of a step: the Salt states that failed, and what Terraform did after its failure.

use jiff::Timestamp;
use serde_json::Value;

use super::{Diagnosis, LINES, LogLines, first_sentence, printable};
use crate::error::Layer;

/// The step record, as the formula wrote it (see docs/contracts.md).
pub struct Record(pub Value);

impl Record {
    pub fn started(&self) -> Option<Timestamp> {
        self.0.get("started")?.as_str()?.parse().ok()
    }

    /// The states that failed, each with Salt's own comment.
    pub fn states(&self, minion: &str, found: &mut Diagnosis) {
        let states = self.0.pointer("/result/states").and_then(Value::as_array);
        let failed = states
            .into_iter()
            .flatten()
            .filter(|state| state["result"] != Value::Bool(true));
        for (index, state) in failed.enumerate() {
            let text = |key: &str| state.get(key).and_then(Value::as_str).unwrap_or_default();
            let comment: Vec<String> = text("comment").lines().map(printable).collect();
            if index == 0 {
                found.layer = Layer::Salt;
                found.object = format!("state {} on {minion}", text("id"));
                found.words = first_sentence(text("comment"));
                found.hint = format!("Correct it in the pillar (path, owner), or fix it on {minion}");
            }
            found.lines.push(LogLines {
                from: format!("Salt on {minion}, state {} ({})", text("id"), text("name")),
                lines: comment.into_iter().take(LINES).collect(),
            });
        }
    }

    /// Whether the previous configuration was applied again, and what came of it.
    pub fn terraform(&self, found: &mut Diagnosis) {
        let Some(report) = self
            .0
            .pointer("/result/terraform")
            .filter(|report| report["ran"] == true)
        else {
            return;
        };
        let snapshot = report["snapshot_id"].as_str();
        let outcome = &report["rollback_result"];
        let said = match (report["rollback_attempted"] == true, snapshot) {
            (true, snapshot) => {
                let which = format!(
                    "the previous configuration (snapshot {})",
                    snapshot.unwrap_or("unknown")
                );
                match outcome["result"] == true {
                    true => {
                        let count = |key: &str| outcome[key].as_u64().unwrap_or(0);
                        vec![format!(
                            "{which} was applied again: {} added, {} changed, {} destroyed",
                            count("added"),
                            count("changed"),
                            count("destroyed")
                        )]
                    }
                    false => {
                        found.hint = format!(
                            "{}; neither configuration may be running now: eos status",
                            found.hint
                        );
                        let why = outcome["error"].as_str().unwrap_or_default().lines();
                        let first = format!("applying {which} again failed too:");
                        std::iter::once(first)
                            .chain(why.map(printable))
                            .take(LINES)
                            .collect()
                    }
                }
            }
            (false, Some(snapshot)) => {
                vec![format!("nothing of snapshot {snapshot} had to be applied again")]
            }
            (false, None) => vec!["there was no previous configuration to go back to".to_owned()],
        };
        found.lines.push(LogLines {
            from: "Terraform, after its failure".to_owned(),
            lines: said,
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found() -> Diagnosis {
        Diagnosis {
            layer: Layer::Salt,
            object: "minion node1".to_owned(),
            words: String::new(),
            lines: Vec::new(),
            hint: "Mend it".to_owned(),
        }
    }

    #[test]
    fn the_state_that_failed_is_the_object() {
        let record = Record(json!({"result": {"states": [
            {"id": "a", "name": "/a", "result": true, "comment": "fine"},
            {"id": "b", "name": "/b", "result": false, "comment": "/b exists and is a file. No.\nMore"},
        ]}}));
        let mut found = found();
        record.states("node1", &mut found);
        assert_eq!(found.object, "state b on node1");
        assert_eq!(found.words, "/b exists and is a file");
        assert_eq!(found.lines.len(), 1);
        assert_eq!(found.lines[0].lines, ["/b exists and is a file. No.", "More"]);
    }

    #[test]
    fn what_was_applied_again_is_said() {
        let report = |attempted: bool, snapshot: Value, outcome: Value| {
            let mut found = found();
            Record(
                json!({"result": {"terraform": {"ran": true, "snapshot_id": snapshot,
                "rollback_attempted": attempted, "rollback_result": outcome}}}),
            )
            .terraform(&mut found);
            (found.lines[0].lines.join("\n"), found.hint)
        };
        let done = json!({"result": true, "added": 0, "changed": 1, "destroyed": 0});
        let (words, hint) = report(true, json!("S1"), done);
        assert_eq!(
            words,
            "the previous configuration (snapshot S1) was applied again: 0 added, 1 changed, 0 destroyed"
        );
        assert_eq!(hint, "Mend it");
        let (words, hint) = report(true, json!("S1"), json!({"result": false, "error": "no\nroom"}));
        assert!(words.ends_with("failed too:\nno\nroom"), "{words}");
        assert!(hint.contains("eos status"));
        let (words, _) = report(false, Value::Null, Value::Null);
        assert_eq!(words, "there was no previous configuration to go back to");
    }
}
