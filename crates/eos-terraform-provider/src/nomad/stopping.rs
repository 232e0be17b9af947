//! Owns how long allocations that were told to stop may still take: as long as their tasks have to end by themselves.

use std::time::Duration;

use serde_json::Value as Json;

use super::client::Client;
use crate::api::{Call, list, text};

/// For Nomad itself to notice that the last task has ended.
const NOTICED: Duration = Duration::from_secs(60);

/// How long to wait for allocations, of which an answer of Nomad has at least the ids.
pub async fn patience(client: &Client, namespace: &str, allocations: &Json) -> Duration {
    let mut longest = Duration::ZERO;
    for allocation in list(allocations).filter(|one| !is_over(one)) {
        let call = Call::get(&["allocation", text(&allocation["ID"])]).namespace(namespace);
        // One that cannot be read any more does not run any more.
        if let Ok(whole) = client.ask(call).await {
            longest = longest.max(kill_timeout(&whole));
        }
    }
    longest + NOTICED
}

fn is_over(allocation: &Json) -> bool {
    matches!(text(&allocation["ClientStatus"]), "complete" | "failed" | "lost")
}

/// The longest time that a task of an allocation has to end by itself.
fn kill_timeout(allocation: &Json) -> Duration {
    let group = list(&allocation["Job"]["TaskGroups"]).find(|group| group["Name"] == allocation["TaskGroup"]);
    let tasks = group.into_iter().flat_map(|group| list(&group["Tasks"]));
    let times = tasks.filter_map(|task| task["KillTimeout"].as_u64());
    times.max().map_or(Duration::ZERO, Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_slowest_task_of_its_own_group_counts() {
        let task = |seconds: u64| json!({"KillTimeout": seconds * 1_000_000_000});
        let groups = json!([
            {"Name": "web", "Tasks": [task(300)]},
            {"Name": "database", "Tasks": [task(5), task(120)]},
        ]);
        let of = |group: &str| kill_timeout(&json!({"TaskGroup": group, "Job": {"TaskGroups": groups}}));
        assert_eq!(of("database"), Duration::from_secs(120));
        assert_eq!(of("gone"), Duration::ZERO);
    }

    #[test]
    fn what_has_ended_is_not_asked_for() {
        let ended = ["complete", "failed", "lost"].map(|status| json!({"ClientStatus": status}));
        assert!(ended.iter().all(is_over));
        assert!(!is_over(&json!({"ClientStatus": "running"})));
    }
}
