//! The hash of a plan: what an approval is bound to.

use crate::canonical::canonical_digest;
use crate::plan::Plan;

impl Plan {
    /// sha256 of its canonical JSON: a plan with one byte changed is another plan.
    pub fn hash(&self) -> String {
        let value = serde_json::to_value(self).expect("a plan has a JSON form");
        canonical_digest(&value)
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;
    use serde_json::json;

    fn plan(component: &str) -> Plan {
        let step = json!({"id": "1-deliver", "environment": "production", "component": "platform", "work": "deliver"});
        let plan = json!({
            "version": 1, "environment": "production", "components": [component], "hosts": [], "intent": null, "base": "b",
            "pillar": {}, "release": "r", "observed": true, "changes": [], "acts": [], "steps": [step],
        });
        serde_json::from_value(plan).expect("a plan")
    }

    #[test]
    fn a_plan_keeps_its_hash_through_a_file_and_another_plan_has_another() {
        let one = plan("hello");
        let text = serde_json::to_string_pretty(&one).expect("JSON");
        let again: Plan = serde_json::from_str(&text).expect("a plan");
        assert_eq!(one.hash(), again.hash());
        assert_ne!(one.hash(), plan("hellO").hash());
        assert_eq!(one.hash().len(), 64);
    }
}
