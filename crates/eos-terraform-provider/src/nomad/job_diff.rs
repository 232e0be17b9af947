//! Owns the words for what Nomad's plan of a job would change.

use serde_json::Value as Json;

use crate::api::{list, text};

/// Longer values are cut: a diagnostic is read in a terminal.
const LONGEST: usize = 60;

/// One line a changed field: where, its name, the value in Nomad and the value after the apply.
pub fn changes(diff: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    fields("", &[], diff, &mut lines);
    for group in list(&diff["TaskGroups"]) {
        let group_name = format!("group {}", text(&group["Name"]));
        if whole(&group_name, group, &mut lines) {
            continue;
        }
        fields(&group_name, &[], group, &mut lines);
        for task in list(&group["Tasks"]) {
            let task_name = format!("{group_name}, task {}", text(&task["Name"]));
            if !whole(&task_name, task, &mut lines) {
                fields(&task_name, &[], task, &mut lines);
            }
        }
    }
    lines
}

/// A group or task that is there on one side only is one line, not one for each of its fields.
fn whole(name: &str, diff: &Json, lines: &mut Vec<String>) -> bool {
    match text(&diff["Type"]) {
        "Added" => lines.push(format!("{name}: missing in Nomad, to be added")),
        "Deleted" => lines.push(format!("{name}: only in Nomad, to be removed")),
        _ => return false,
    }
    true
}

fn fields(place: &str, within: &[&str], diff: &Json, lines: &mut Vec<String>) {
    for field in list(&diff["Fields"]).filter(|field| text(&field["Type"]) != "None") {
        let name = text(&field["Name"]);
        let path = within
            .iter()
            .chain([&name])
            .copied()
            .collect::<Vec<_>>()
            .join(".");
        let prefix = if place.is_empty() {
            path
        } else {
            format!("{place}: {path}")
        };
        if may_hold_secret(within, name) {
            lines.push(format!("{prefix} (values not shown)"));
        } else {
            lines.push(format!(
                "{prefix} {} -> {}",
                shown(&field["Old"]),
                shown(&field["New"])
            ));
        }
    }
    for object in list(&diff["Objects"]).filter(|object| text(&object["Type"]) != "None") {
        let within: Vec<&str> = within.iter().copied().chain([text(&object["Name"])]).collect();
        fields(place, &within, object, lines);
    }
}

/// Whether authors of jobs put passwords there: environment, templates and driver arguments.
fn may_hold_secret(within: &[&str], name: &str) -> bool {
    let driver_argument = within.first() == Some(&"Config") && name != "image";
    name.starts_with("Env[") || within.contains(&"Template") || driver_argument
}

fn shown(value: &Json) -> String {
    let value = text(value);
    if value.is_empty() {
        "(none)".to_owned()
    } else if value.chars().count() > LONGEST {
        let start: String = value.chars().take(LONGEST).collect();
        format!("{start}...").replace('\n', " ")
    } else {
        value.replace('\n', " ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(name: &str, old: &str, new: &str) -> Json {
        json!({"Type": "Edited", "Name": name, "Old": old, "New": new})
    }

    #[test]
    fn every_changed_field_is_named_with_both_values() {
        let diff = json!({
            "Type": "Edited",
            "Fields": [edited("Priority", "50", "60"), {"Type": "None", "Name": "Region", "Old": "g", "New": "g"}],
            "Objects": null,
            "TaskGroups": [{
                "Type": "Edited",
                "Name": "web",
                "Fields": [edited("Count", "2", "1")],
                "Objects": [{"Type": "Edited", "Name": "Update", "Fields": [edited("MaxParallel", "", "1")]}],
                "Tasks": [{
                    "Type": "Edited",
                    "Name": "http",
                    "Fields": null,
                    "Objects": [{"Type": "Edited", "Name": "Config", "Fields": [edited("image", "a:1", "a:2")]}],
                }],
            }],
        });
        assert_eq!(
            changes(&diff),
            [
                "Priority 50 -> 60",
                "group web: Count 2 -> 1",
                "group web: Update.MaxParallel (none) -> 1",
                "group web, task http: Config.image a:1 -> a:2",
            ]
        );
    }

    #[test]
    fn places_of_passwords_are_named_without_values() {
        let task = json!({
            "Type": "Edited",
            "Name": "http",
            "Fields": [edited("Env[PASSWORD]", "hunter1", "hunter2")],
            "Objects": [
                {"Type": "Edited", "Name": "Template", "Fields": [edited("EmbeddedTmpl", "hunter1", "hunter2")]},
                {"Type": "Edited", "Name": "Config", "Fields": [edited("args[1]", "hunter1", "hunter2")]},
            ],
        });
        let diff = json!({"TaskGroups": [{"Type": "Edited", "Name": "web", "Tasks": [task]}]});
        let lines = changes(&diff);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "group web, task http: Env[PASSWORD] (values not shown)");
        assert!(!lines.concat().contains("hunter"), "{lines:?}");
    }

    #[test]
    fn a_whole_group_is_one_line() {
        let diff = json!({"TaskGroups": [
            {"Type": "Added", "Name": "a", "Fields": [edited("Count", "", "1")]},
            {"Type": "Deleted", "Name": "b", "Fields": [edited("Count", "1", "")]},
        ]});
        assert_eq!(
            changes(&diff),
            [
                "group a: missing in Nomad, to be added",
                "group b: only in Nomad, to be removed"
            ]
        );
    }

    #[test]
    fn an_unchanged_job_has_no_lines() {
        let diff = json!({"Type": "None", "Fields": null, "TaskGroups": [{"Type": "None", "Name": "web"}]});
        assert!(changes(&diff).is_empty());
    }
}
