//! Owns the comparison of a config entry as it was written with the entry that Consul keeps: Consul completes
//! what it is given, and what it adds of its own accord is no difference.

use serde_json::{Map, Value as Json};

use crate::duration;

/// Consul's own of an entry, besides what the resource has as attributes.
const BOOKKEEPING: [&str; 7] = [
    "Kind",
    "Name",
    "Namespace",
    "Partition",
    "CreateIndex",
    "ModifyIndex",
    "Hash",
];
/// The type of a source that names none.
const DEFAULT_TYPE: &str = "consul";
/// What names a source; there is one of each name in an entry.
const IDENTITY_OF_A_SOURCE: [&str; 6] = ["Name", "Type", "Namespace", "Partition", "Peer", "SamenessGroup"];
/// Fields whose content is a person's own: Consul neither knows nor completes it.
const FREE: [&str; 3] = ["Config", "Meta", "Arguments"];
/// Numbers that may be missing, which is not the same as zero.
const NULLABLE: [&str; 6] = [
    "MaxRequestHeadersKB",
    "EnforcingConsecutive5xx",
    "MaxEjectionPercent",
    "MaxConnections",
    "MaxPendingRequests",
    "MaxConcurrentRequests",
];

/// The places where the kept entry is not what was written, sorted; none if they say the same.
pub fn differences(written: &Json, kept: &Json) -> Vec<String> {
    let mut found = Vec::new();
    compare("", "", written, kept, &mut found);
    found.sort();
    found
}

/// The kept entry as a person would have written it; with `written`, in the manner of that.
pub fn readable(kept: &Json, written: Option<&Json>) -> Json {
    let mut readable = without_nothing("", kept);
    if let Some(fields) = readable.as_object_mut() {
        fields.retain(|field, _| !BOOKKEEPING.contains(&field.as_str()));
    }
    let Some(kept_sources) = readable.get_mut("Sources").and_then(Json::as_array_mut) else {
        return readable;
    };
    let written_sources = written.map(sources);
    let names = |field: &str| {
        written_sources.is_none_or(|sources| sources.iter().any(|source| member(source, field).is_some()))
    };
    let (names_precedence, names_type) = (names("Precedence"), names("Type"));
    for source in kept_sources.iter_mut().filter_map(Json::as_object_mut) {
        source.retain(|field, value| match field.as_str() {
            "Precedence" => names_precedence,
            "Type" => names_type || value != DEFAULT_TYPE,
            _ => !field.starts_with("Legacy"),
        });
    }
    // In the order of the written ones, so that only what differs shows as a difference.
    kept_sources.sort_by_key(|kept| {
        let written = written_sources.unwrap_or_default().iter();
        let place = written
            .map(identity)
            .position(|written| written == identity(kept));
        place.unwrap_or(usize::MAX)
    });
    readable
}

fn compare(place: &str, field: &str, written: &Json, kept: &Json, found: &mut Vec<String>) {
    let same = match (written, kept) {
        (Json::Object(written), Json::Object(kept)) if !FREE.contains(&field) => {
            return compare_fields(place, field, written, kept, found);
        }
        (Json::Array(_), Json::Array(_)) if place == "Sources" => {
            return compare_sources(written, kept, found);
        }
        (Json::Array(written), Json::Array(kept))
            if written.len() == kept.len() && !FREE.contains(&field) =>
        {
            for (index, (written, kept)) in written.iter().zip(kept).enumerate() {
                compare(&format!("{place}[{index}]"), "", written, kept, found);
            }
            return;
        }
        // Consul keeps a duration as nanoseconds.
        (Json::String(text), Json::Number(number)) => {
            let nanoseconds = duration::parse(text).map(|duration| duration.as_nanos());
            nanoseconds.is_some() && nanoseconds == number.as_u64().map(u128::from)
        }
        (Json::Number(written), Json::Number(kept)) => written.as_f64() == kept.as_f64(),
        (written, kept) => written == kept,
    };
    let is_nothing = says_nothing(field, written) && says_nothing(field, kept);
    if !same && !is_nothing {
        found.push(place.to_owned());
    }
}

fn compare_fields(
    place: &str,
    field: &str,
    written: &Map<String, Json>,
    kept: &Map<String, Json>,
    found: &mut Vec<String>,
) {
    let within = |name: &str| match place {
        "" => name.to_owned(),
        _ => format!("{place}.{name}"),
    };
    for (name, value) in written {
        let kept = kept.iter().find(|(other, _)| folded(other) == folded(name));
        // Consul's spelling is the one that the lists above have.
        let (name, kept) = kept.map_or((name, &Json::Null), |(name, kept)| (name, kept));
        compare(&within(name), name, value, kept, found);
    }
    let added = kept
        .iter()
        .filter(|(name, _)| !written.keys().any(|other| folded(other) == folded(name)));
    for (name, value) in added {
        let is_consuls = match field {
            "" if place.is_empty() => BOOKKEEPING.contains(&name.as_str()),
            "Sources" => {
                name == "Precedence"
                    || name.starts_with("Legacy")
                    || (name == "Type" && value == DEFAULT_TYPE)
            }
            _ => false,
        };
        if !is_consuls {
            compare(&within(name), name, &Json::Null, value, found);
        }
    }
}

/// Consul sorts sources by precedence, so their order says nothing.
fn compare_sources(written: &Json, kept: &Json, found: &mut Vec<String>) {
    let place = |source: &Json| {
        let name = member(source, "Name").and_then(Json::as_str).unwrap_or_default();
        format!("Sources[{name}]")
    };
    let list = |sources: &Json| sources.as_array().cloned().unwrap_or_default();
    let mut left = list(kept);
    for source in list(written) {
        match left.iter().position(|other| identity(other) == identity(&source)) {
            Some(index) => {
                let kept = left.remove(index);
                compare(&place(&source), "Sources", &source, &kept, found);
            }
            None => found.push(place(&source)),
        }
    }
    found.extend(left.iter().map(place));
}

fn identity(source: &Json) -> [&str; 6] {
    IDENTITY_OF_A_SOURCE.map(|field| {
        let value = member(source, field).and_then(Json::as_str).unwrap_or_default();
        match (field, value) {
            ("Type", "") => DEFAULT_TYPE,
            ("Namespace" | "Partition", "default") => "",
            _ => value,
        }
    })
}

fn sources(entry: &Json) -> &[Json] {
    let sources = member(entry, "Sources").and_then(Json::as_array);
    sources.map(Vec::as_slice).unwrap_or_default()
}

/// A field in either spelling.
pub fn member<'a>(object: &'a Json, field: &str) -> Option<&'a Json> {
    let fields = object.as_object()?;
    let found = fields.iter().find(|(name, _)| folded(name) == folded(field));
    found.map(|(_, value)| value)
}

/// Consul reads `MeshGateway`, `meshgateway` and `mesh_gateway` as the same field.
fn folded(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// Whether a value is what Consul takes a missing one for.
fn says_nothing(field: &str, value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(set) => !set,
        Json::Number(number) => number.as_f64() == Some(0.0) && !NULLABLE.contains(&field),
        Json::String(text) => text.is_empty(),
        Json::Array(elements) => elements.is_empty(),
        Json::Object(fields) if FREE.contains(&field) => fields.is_empty(),
        Json::Object(fields) => fields.iter().all(|(field, value)| says_nothing(field, value)),
    }
}

fn without_nothing(field: &str, value: &Json) -> Json {
    match value {
        Json::Object(fields) if !FREE.contains(&field) => {
            let telling = fields.iter().filter(|(field, value)| !says_nothing(field, value));
            telling
                .map(|(field, value)| (field.clone(), without_nothing(field, value)))
                .collect()
        }
        Json::Array(elements) => elements
            .iter()
            .map(|element| without_nothing("", element))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What Consul 1.22 answered to the entries of the same name below.
    fn kept_intentions() -> Json {
        json!({"Kind": "service-intentions", "Name": "api", "Sources": [
            {"Name": "front", "Action": "allow", "Precedence": 9, "Type": "consul"},
            {"Name": "*", "Action": "deny", "Precedence": 8, "Type": "consul"},
        ], "Hash": 5963970019996445811_u64, "CreateIndex": 22, "ModifyIndex": 22})
    }

    fn intentions() -> Json {
        json!({"Sources": [{"Name": "*", "Action": "deny"}, {"Name": "front", "Action": "allow"}]})
    }

    #[test]
    fn what_consul_adds_is_no_difference() {
        let none: [&str; 0] = [];
        assert_eq!(differences(&intentions(), &kept_intentions()), none);
        let spelled_out = json!({"Sources": [
            {"Name": "front", "Action": "allow", "Precedence": 9, "Type": "consul", "Description": ""},
            {"Name": "*", "Action": "deny", "Precedence": 8, "Type": "consul", "Permissions": []},
        ], "Meta": null});
        assert_eq!(differences(&spelled_out, &kept_intentions()), none);

        let kept = json!({"Kind": "proxy-defaults", "Name": "global", "Config": {"protocol": "http", "x": 0},
            "TransparentProxy": {}, "MeshGateway": {}, "Expose": {}, "AccessLogs": {}, "Hash": 1,
            "CreateIndex": 23, "ModifyIndex": 23});
        assert_eq!(
            differences(&json!({"Config": {"protocol": "http", "x": 0}}), &kept),
            none
        );

        let kept = json!({"Kind": "service-defaults", "Name": "web", "Protocol": "http", "TransparentProxy": {},
            "UpstreamConfig": {"Defaults": {"Peer": "", "Limits": {"MaxConnections": 0},
                "PassiveHealthCheck": {"Interval": 10_000_000_000_u64}, "MeshGateway": {}}},
            "Hash": 1, "CreateIndex": 25, "ModifyIndex": 25});
        let written = json!({"protocol": "http", "upstream_config": {"Defaults": {
            "Limits": {"MaxConnections": 0}, "PassiveHealthCheck": {"Interval": "10s"}}}});
        assert_eq!(differences(&written, &kept), none);
    }

    #[test]
    fn what_a_person_changed_is_a_difference() {
        let changed = |path: &str, value: Json| {
            let mut kept = kept_intentions();
            *kept.pointer_mut(path).expect("the path is there") = value;
            differences(&intentions(), &kept)
        };
        assert_eq!(
            changed("/Sources/0/Action", json!("deny")),
            ["Sources[front].Action"]
        );
        assert_eq!(
            changed("/Sources/0/Name", json!("back")),
            ["Sources[back]", "Sources[front]"]
        );
        assert_eq!(changed("/Sources", json!([])), ["Sources[*]", "Sources[front]"]);
        assert_eq!(changed("/Sources", Json::Null), ["Sources"]);
        assert_eq!(
            changed("/Sources/1/Type", json!("spiffe")),
            ["Sources[*]", "Sources[*]"]
        );

        let mut kept = kept_intentions();
        kept["Sources"][0]["Description"] = json!("by hand");
        kept["Sources"]
            .as_array_mut()
            .expect("a list")
            .push(json!({"Name": "more", "Action": "allow"}));
        kept["Meta"] = json!({"owner": "someone"});
        let expected = ["Meta", "Sources[front].Description", "Sources[more]"];
        assert_eq!(differences(&intentions(), &kept), expected);
    }

    #[test]
    fn the_order_of_permissions_says_something() {
        let written = json!({"Sources": [{"Name": "a", "Permissions": [
            {"Action": "deny", "HTTP": {"PathPrefix": "/x"}}, {"Action": "allow", "HTTP": {"PathPrefix": "/"}}]}]});
        let kept = json!({"Sources": [{"Name": "a", "Permissions": [
            {"Action": "allow", "HTTP": {"PathPrefix": "/"}}, {"Action": "deny", "HTTP": {"PathPrefix": "/x"}}]}]});
        assert_eq!(differences(&written, &kept).len(), 4);
        assert_eq!(differences(&written, &written).len(), 0);
    }

    #[test]
    fn zero_is_not_missing_where_consul_tells_them_apart() {
        let limits = json!({"UpstreamConfig": {"Defaults": {"Limits": {"MaxConnections": 0}}}});
        let place = ["UpstreamConfig.Defaults.Limits.MaxConnections"];
        let none = json!({"UpstreamConfig": {"Defaults": {"Limits": {}}}});
        assert_eq!(differences(&none, &limits), place);
        assert_eq!(differences(&limits, &none), place);
        assert_eq!(
            differences(&json!({"Config": {"x": 0}}), &json!({"Config": {}})),
            ["Config"]
        );
    }

    #[test]
    fn a_kept_entry_reads_as_it_would_have_been_written() {
        let wanted = intentions();
        assert_eq!(readable(&kept_intentions(), Some(&wanted)), wanted);
        let whole = readable(&kept_intentions(), None);
        assert_eq!(whole["Sources"][0]["Precedence"], 9);
        assert_eq!(whole.as_object().map(Map::len), Some(1));
        assert_eq!(differences(&intentions(), &whole), [""; 0]);
    }
}
