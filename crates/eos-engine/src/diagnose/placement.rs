//! Why a job found no place, in numbers a person can act on.

use std::collections::BTreeMap;

use super::{Diagnosis, Inquiry, answered, plural};
use crate::error::Layer;
use crate::nomad::{Capacity, JobVersion, TaskGroup, Unplaced};

impl Inquiry<'_> {
    pub(super) async fn unplaced(
        &self,
        job: &JobVersion,
        groups: &BTreeMap<String, Unplaced>,
        found: &mut Diagnosis,
    ) {
        let capacity = answered(
            self.engines
                .nomad
                .capacity(&self.failed.step.environment, &job.id),
        )
        .await;
        let capacity = capacity.unwrap_or_default();
        let mut reasons = Vec::new();
        for (name, unplaced) in groups {
            let group = job.task_groups.iter().find(|group| group.name == *name);
            reasons.extend(
                why(unplaced, group, &capacity)
                    .into_iter()
                    .map(|reason| match groups.len() {
                        1 => reason,
                        _ => Reason {
                            words: format!("group {name}: {}", reason.words),
                            ..reason
                        },
                    }),
            );
        }
        found.layer = Layer::Nomad;
        found.object = format!("job {}", job.id);
        let words: Vec<&str> = reasons.iter().map(|reason| reason.words.as_str()).collect();
        found.words = format!("no node can take it: {}", words.join("; "));
        let mut hints: Vec<&str> = reasons.iter().map(|reason| reason.hint).collect();
        hints.dedup();
        found.hint = hints.join("; ");
    }
}

struct Reason {
    words: String,
    hint: &'static str,
}

/// One reason for each thing that Nomad found wanting.
fn why(unplaced: &Unplaced, group: Option<&TaskGroup>, capacity: &[Capacity]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for (dimension, nodes) in &unplaced.dimension_exhausted {
        let most = |free: fn(&Capacity) -> i64| capacity.iter().map(free).max();
        let (wanted, free, unit, hint) = match dimension.as_str() {
            "memory" => (
                group.map(TaskGroup::memory),
                most(|node| node.memory),
                "MiB",
                "Lower --memory, or add a host",
            ),
            "cpu" => (
                group.map(TaskGroup::cpu),
                most(|node| node.cpu),
                "MHz",
                "Lower --cpu, or add a host",
            ),
            _ => (None, None, "", "Free it, or add a host"),
        };
        let words = match (wanted, free) {
            (Some(wanted), Some(free)) => {
                format!("{dimension}: {wanted} {unit} wanted, largest free on a node {free} {unit}")
            }
            _ => format!("{dimension} on {}", plural(*nodes as usize, "node", "nodes")),
        };
        reasons.push(Reason { words, hint });
    }
    for (constraint, nodes) in &unplaced.constraint_filtered {
        let on = plural(*nodes as usize, "node", "nodes");
        reasons.push(match constraint.as_str() {
            "missing drivers" => {
                let drivers = group.map(TaskGroup::drivers).unwrap_or_default().join(", ");
                Reason {
                    words: format!("no driver {drivers} on {on}"),
                    hint: "Install it on a host; eos doctor shows which drivers there are",
                }
            }
            "missing compatible host volumes" => Reason {
                words: format!("its volume is not ready, or taken, on {on}"),
                hint: "Is the host of the volume up? eos status shows it",
            },
            "distinct_hosts" => Reason {
                words: format!("each instance needs its own host, and {on} have one already"),
                hint: "Lower --replicas, or add a host",
            },
            other => Reason {
                words: format!("{other} does not hold on {on}"),
                hint: "Add a host for which it holds",
            },
        });
    }
    if reasons.is_empty() {
        reasons.push(Reason {
            words: match unplaced.nodes_evaluated {
                0 => "none is ready in its datacenter".to_owned(),
                nodes => format!("none of {} fits", plural(nodes as usize, "node", "nodes")),
            },
            hint: "Is a Nomad client up? eos status shows them",
        });
    }
    reasons
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(unplaced: serde_json::Value) -> Vec<(String, &'static str)> {
        let group = json!({"Name": "web", "Count": 1, "Tasks": [
            {"Name": "web", "Driver": "docker", "Resources": {"CPU": 500, "MemoryMB": 64000}},
            {"Name": "side", "Driver": "raw_exec", "Resources": {"CPU": 100, "MemoryMB": 1000}},
        ]});
        let group: TaskGroup = serde_json::from_value(group).unwrap();
        let node = |memory, cpu| Capacity { memory, cpu };
        let free = [node(20000, 900), node(8000, 4000)];
        let unplaced = serde_json::from_value(unplaced).unwrap();
        why(&unplaced, Some(&group), &free)
            .into_iter()
            .map(|reason| (reason.words, reason.hint))
            .collect()
    }

    #[test]
    fn what_is_too_little_is_said_in_numbers() {
        let found = words(json!({"NodesEvaluated": 2, "DimensionExhausted": {"memory": 2}}));
        let expected = "memory: 65000 MiB wanted, largest free on a node 20000 MiB";
        assert_eq!(found, [(expected.to_owned(), "Lower --memory, or add a host")]);
        let found = words(
            json!({"NodesEvaluated": 1, "DimensionExhausted": {"network: reserved port collision http=80": 1}}),
        );
        assert_eq!(found[0].0, "network: reserved port collision http=80 on 1 node");
    }

    #[test]
    fn what_no_node_has_is_named() {
        let found = words(json!({"NodesEvaluated": 1, "ConstraintFiltered": {"missing drivers": 1}}));
        assert_eq!(found[0].0, "no driver docker, raw_exec on 1 node");
        let found = words(json!({"NodesEvaluated": 0}));
        assert_eq!(found[0].0, "none is ready in its datacenter");
    }
}
