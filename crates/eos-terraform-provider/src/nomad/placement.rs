//! Owns the words for why Nomad cannot place a task group.

use serde_json::Value as Json;

use crate::api::{list, text};

/// What Nomad says when no node has a host volume the group asks for.
const MISSING_VOLUMES: &str = "missing compatible host volumes";

/// One line a group that found no place. `job` tells which drivers a group asks for.
pub fn reasons(failed: &Json, job: &Json) -> Vec<String> {
    let groups = failed.as_object().into_iter().flatten();
    groups
        .map(|(group, metric)| format!("group {group}: {}", group_reasons(metric, group, job)))
        .collect()
}

/// Whether every group that found no place only lacks a volume, which may be registered in the same apply.
pub fn only_volumes_are_missing(failed: &Json) -> bool {
    failed.as_object().into_iter().flatten().all(|(_, metric)| {
        let filtered = metric["ConstraintFiltered"].as_object();
        filtered
            .is_some_and(|filtered| !filtered.is_empty() && filtered.keys().all(|key| key == MISSING_VOLUMES))
            && metric["DimensionExhausted"]
                .as_object()
                .is_none_or(serde_json::Map::is_empty)
    })
}

fn group_reasons(metric: &Json, group: &str, job: &Json) -> String {
    let mut reasons = Vec::new();
    for (constraint, nodes) in counts(&metric["ConstraintFiltered"]) {
        let asked = match constraint.as_str() {
            "missing drivers" => {
                let drivers = drivers(job, group);
                if drivers.is_empty() {
                    String::new()
                } else {
                    format!(" (asked for: {})", drivers.join(", "))
                }
            }
            _ => String::new(),
        };
        reasons.push(format!("{constraint}{asked} on {}", node_count(nodes)));
    }
    for (dimension, nodes) in counts(&metric["DimensionExhausted"]) {
        reasons.push(format!("not enough {dimension} on {}", node_count(nodes)));
    }
    for quota in list(&metric["QuotaExhausted"]) {
        reasons.push(format!("quota used up: {}", text(quota)));
    }
    if reasons.is_empty() {
        let evaluated = metric["NodesEvaluated"].as_u64().unwrap_or(0);
        if evaluated == 0 {
            reasons.push("no ready node in the job's datacenters and node pool".to_owned());
        } else {
            reasons.push(format!("none of {} fits", node_count(evaluated)));
        }
    }
    reasons.join("; ")
}

fn counts(answer: &Json) -> Vec<(String, u64)> {
    let entries = answer.as_object().into_iter().flatten();
    entries
        .map(|(name, count)| (name.clone(), count.as_u64().unwrap_or(0)))
        .collect()
}

fn node_count(nodes: u64) -> String {
    if nodes == 1 {
        "1 node".to_owned()
    } else {
        format!("{nodes} nodes")
    }
}

fn drivers(job: &Json, group: &str) -> Vec<String> {
    let group = list(&job["TaskGroups"]).find(|candidate| text(&candidate["Name"]) == group);
    let tasks = group.into_iter().flat_map(|group| list(&group["Tasks"]));
    let mut drivers: Vec<String> = tasks.map(|task| text(&task["Driver"]).to_owned()).collect();
    drivers.sort();
    drivers.dedup();
    drivers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job() -> Json {
        json!({"TaskGroups": [{"Name": "web", "Tasks": [{"Driver": "docker"}, {"Driver": "docker"}]}]})
    }

    #[test]
    fn a_missing_driver_is_named() {
        let failed = json!({"web": {"NodesEvaluated": 1, "ConstraintFiltered": {"missing drivers": 1}}});
        assert_eq!(
            reasons(&failed, &job()),
            ["group web: missing drivers (asked for: docker) on 1 node"]
        );
    }

    #[test]
    fn an_exhausted_dimension_and_a_constraint_are_named() {
        let failed = json!({"web": {
            "DimensionExhausted": {"memory": 2},
            "ConstraintFiltered": {"${attr.kernel.name} = plan9": 3},
        }});
        assert_eq!(
            reasons(&failed, &job()),
            ["group web: ${attr.kernel.name} = plan9 on 3 nodes; not enough memory on 2 nodes"]
        );
    }

    #[test]
    fn no_node_at_all_is_said() {
        let failed = json!({"web": {"NodesEvaluated": 0, "DimensionExhausted": null}});
        assert_eq!(
            reasons(&failed, &job()),
            ["group web: no ready node in the job's datacenters and node pool"]
        );
    }

    #[test]
    fn a_missing_volume_is_told_from_other_reasons() {
        let volume = json!({"web": {"ConstraintFiltered": {MISSING_VOLUMES: 1}, "DimensionExhausted": null}});
        let memory = json!({"web": {"ConstraintFiltered": null, "DimensionExhausted": {"memory": 1}}});
        assert!(only_volumes_are_missing(&volume));
        assert!(!only_volumes_are_missing(&memory));
    }
}
