//! JSON in one form only, so that two programs agree on its digest: keys sorted, no spaces, text in UTF-8 as it is. The
//! formula's `eos_digest.of_json` is the same.

use crate::emit::sha256;
use serde_json::Value;
use std::collections::BTreeMap;

pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let sorted: BTreeMap<&String, &Value> = entries.iter().collect();
            let entries: Vec<String> = sorted
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

pub fn canonical_digest(value: &Value) -> String {
    sha256(canonical(value).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"z": 1, "ä": "é\n"}], "a": null});
        assert_eq!(canonical(&value), "{\"a\":null,\"b\":[{\"z\":1,\"ä\":\"é\\n\"}]}");
    }

    /// tests/formula/test_records.py holds the formula to the same digest.
    #[test]
    fn a_value_has_one_digest() {
        let value = json!({
            "b": [{"z": 1, "a": null}], "a": "ü\u{2028}\u{7f}\u{1}\n\"\\/", "ä": true, "Z": 21_474_836_480_u64
        });
        let digest = "ae43dea9f992e2c745b620058291b755576a7078bdbe771e08fcd1db5a6701f4";
        assert_eq!(canonical_digest(&value), digest);
    }
}
