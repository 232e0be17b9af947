//! Nomad's own diff of a job, as attributes. It is asked what the pillar's job would change, so that what it calls old is
//! what runs, and new is what the pillar wants.

use super::Difference;
use serde_json::Value;

/// One for each field that differs, by its path in the job: `TaskGroups.hello.Count`.
pub fn attributes(diff: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    fields("", diff, &mut found);
    for group in list(&diff["TaskGroups"]) {
        let path = format!("TaskGroups.{}", text(&group["Name"]));
        if whole(&path, group, &mut found) {
            continue;
        }
        fields(&path, group, &mut found);
        for task in list(&group["Tasks"]) {
            let path = format!("{path}.Tasks.{}", text(&task["Name"]));
            if !whole(&path, task, &mut found) {
                fields(&path, task, &mut found);
            }
        }
    }
    found
}

/// A group or task that is there on one side only is one attribute, not one for each of its fields.
fn whole(path: &str, diff: &Value, found: &mut Vec<Difference>) -> bool {
    match text(&diff["Type"]) {
        "Added" => found.push(Difference::of(path, "present", "absent")),
        "Deleted" => found.push(Difference::of(path, "absent", "present")),
        _ => return false,
    }
    true
}

fn fields(path: &str, diff: &Value, found: &mut Vec<Difference>) {
    for field in list(&diff["Fields"]).filter(|field| text(&field["Type"]) != "None") {
        let side = |side: &Value| Some(text(side)).filter(|text| !text.is_empty()).map(Value::from);
        found.push(Difference {
            name: joined(path, text(&field["Name"])),
            before: side(&field["New"]),
            after: side(&field["Old"]),
        });
    }
    for object in list(&diff["Objects"]).filter(|object| text(&object["Type"]) != "None") {
        fields(&joined(path, text(&object["Name"])), object, found);
    }
}

/// `Env[GREETING]` is `Env.GREETING`.
fn joined(path: &str, name: &str) -> String {
    let name = name.replace('[', ".").replace(']', "");
    match path.is_empty() {
        true => name,
        false => format!("{path}.{name}"),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
