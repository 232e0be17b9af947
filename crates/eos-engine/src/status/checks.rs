//! What the checks of services say just now: in Consul's catalogue, or at the Nomad client that runs the instance.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt};
use serde::Serialize;

use super::nomad::NomadNow;
use crate::consul::ListedCheck;
use crate::discovery::allocation_of;
use crate::error::{EngineError, ErrorKind};
use crate::nomad::{Check, NomadClient};

/// How many clients are asked at the same time.
const AT_ONCE: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckStatus {
    pub service: String,
    pub name: String,
    /// `passing`, `failing`, `pending`.
    pub status: &'static str,
    /// What the check got, without the page itself, which may hold a secret.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
}

impl CheckStatus {
    pub const PASSING: &'static str = "passing";
    pub const FAILING: &'static str = "failing";
    pub const PENDING: &'static str = "pending";

    pub(super) fn failing_words(&self) -> String {
        let got = match self.words.as_str() {
            "" => String::new(),
            words => format!(" ({words})"),
        };
        // Where a check has no name of its own it is called after its service.
        let name = match self.name.contains(&self.service) {
            true => String::new(),
            false => format!("{} ", self.name),
        };
        format!("check {name}of service {} does not pass{got}", self.service)
    }
}

/// The checks of each allocation.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks(BTreeMap<String, Vec<CheckStatus>>);

impl Checks {
    pub fn of(&self, allocation: &str) -> Vec<CheckStatus> {
        self.0.get(allocation).cloned().unwrap_or_default()
    }
}

impl<const N: usize> From<[(String, Vec<CheckStatus>); N]> for Checks {
    fn from(all: [(String, Vec<CheckStatus>); N]) -> Self {
        Checks(all.into())
    }
}

/// A service is ill where its own check is, or that of the node it is on: Consul gives it to nobody then.
pub(super) fn of_consul(listed: &[ListedCheck]) -> Checks {
    let ill_nodes: BTreeSet<&str> = listed
        .iter()
        .filter(|check| check.service_id.is_empty() && !check.passes())
        .map(|check| check.node.as_str())
        .collect();
    let mut checks: BTreeMap<String, Vec<CheckStatus>> = BTreeMap::new();
    for check in listed {
        let Some(allocation) = allocation_of(&check.service_id) else {
            continue;
        };
        let of_node = ill_nodes.contains(check.node.as_str());
        checks
            .entry(allocation.to_owned())
            .or_default()
            .push(CheckStatus {
                service: check.service_name.clone(),
                name: check.name.clone(),
                status: match check.passes() && !of_node {
                    true => CheckStatus::PASSING,
                    false => CheckStatus::FAILING,
                },
                words: match of_node {
                    true => format!("Consul's agent on {} is unhealthy", check.node),
                    false => got(&check.output),
                },
            });
    }
    Checks(checks)
}

/// `HTTP GET http://127.0.0.1:80/: 502 Bad Gateway Output: <html>...` says all that is needed before the page.
fn got(output: &str) -> String {
    match output.split_once(" Output:") {
        Some((before, _)) => before.to_owned(),
        // Of another kind: it may be what a program of the component has printed.
        None => String::new(),
    }
}

pub(super) async fn of_nomad(
    nomad: &NomadClient,
    namespace: &str,
    asked: &NomadNow,
    only: Option<&str>,
) -> Result<Checks, EngineError> {
    let running = asked
        .allocations
        .iter()
        .filter(|one| one.is_running() && only.is_none_or(|job| job == one.job_id));
    let ask = |id: String| async move {
        match nomad.allocation_checks(namespace, &id).await {
            // It ended between the list and this.
            Err(error) if error.kind == ErrorKind::NotFound => Ok((id, Vec::new())),
            answer => answer.map(|checks| (id, checks.into_iter().map(CheckStatus::from).collect())),
        }
    };
    let answers: Vec<Result<(String, Vec<CheckStatus>), EngineError>> =
        stream::iter(running.map(|one| one.id.clone()).map(ask))
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
    Ok(Checks(answers.into_iter().collect::<Result<_, _>>()?))
}

impl From<Check> for CheckStatus {
    fn from(check: Check) -> Self {
        CheckStatus {
            status: match check.status.as_str() {
                "success" => CheckStatus::PASSING,
                "failure" => CheckStatus::FAILING,
                _ => CheckStatus::PENDING,
            },
            words: match check.status_code {
                0 => String::new(),
                code => code.to_string(),
            },
            service: check.service,
            name: check.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALLOCATION: &str = "0b1f33f2-4a6c-9b0e-2f4c-6b3a0c0d8f11";

    fn listed(node_status: &str, status: &str) -> Vec<ListedCheck> {
        let id = format!("_nomad-task-{ALLOCATION}-group-main-web-http");
        let output =
            "HTTP GET http://127.0.0.1:20/login: 502 Bad Gateway Output: <p>the password is hunter2</p>";
        serde_json::from_value(json!([
            {"Node": "vm", "Name": "Serf Health Status", "Status": node_status, "ServiceID": "", "ServiceName": ""},
            {"Node": "vm", "Name": "alive", "Status": status, "Output": output, "ServiceID": id, "ServiceName": "web"},
            {"Node": "vm", "Name": "other", "Status": "critical", "ServiceID": "by-hand", "ServiceName": "by-hand"},
        ]))
        .unwrap()
    }

    #[test]
    fn a_check_of_consul_is_that_of_its_allocation_and_no_page_is_quoted() {
        let checks = of_consul(&listed("passing", "critical"));
        let [check] = &checks.of(ALLOCATION)[..] else {
            panic!("{checks:?}");
        };
        assert_eq!(check.status, CheckStatus::FAILING);
        assert_eq!(
            check.failing_words(),
            "check alive of service web does not pass (HTTP GET http://127.0.0.1:20/login: 502 Bad Gateway)"
        );
        assert!(checks.of("by-hand").is_empty());
        assert_eq!(
            of_consul(&listed("passing", "passing")).of(ALLOCATION)[0].status,
            CheckStatus::PASSING
        );
    }

    #[test]
    fn a_service_on_a_node_that_is_ill_is_ill() {
        let checks = of_consul(&listed("critical", "passing"));
        assert_eq!(checks.of(ALLOCATION)[0].status, CheckStatus::FAILING);
        assert!(
            checks.of(ALLOCATION)[0].words.contains("agent on vm"),
            "{checks:?}"
        );
    }
}
