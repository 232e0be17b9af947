//! JSON in one form only, so that two programs agree on its digest: keys sorted, no spaces, text in UTF-8 as it is.
//! Python writes the same by `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.

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
}
