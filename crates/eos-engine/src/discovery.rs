//! Where a service answers, and whether it is healthy there.

use std::collections::BTreeMap;
use std::future::Future;

use crate::error::{EngineError, ErrorKind};
use crate::nomad::{Check, NomadClient};

/// One place at which a service answers.
#[derive(Debug, Clone)]
pub struct Instance {
    pub address: String,
    pub port: u16,
    /// Unknown where no check has said anything yet, or there is none.
    pub healthy: Option<bool>,
    /// The name of the Nomad node.
    pub node: String,
    pub allocation: String,
    pub checks: Vec<Check>,
}

/// The estate's catalogue of services.
pub trait Discovery {
    fn instances(
        &self,
        service: &str,
        namespace: &str,
    ) -> impl Future<Output = Result<Vec<Instance>, EngineError>>;
}

/// Nomad's own catalogue, with the checks as their clients last ran them.
pub struct NomadDiscovery<'a> {
    nomad: &'a NomadClient,
}

impl<'a> NomadDiscovery<'a> {
    pub fn new(nomad: &'a NomadClient) -> Self {
        NomadDiscovery { nomad }
    }
}

impl Discovery for NomadDiscovery<'_> {
    async fn instances(&self, service: &str, namespace: &str) -> Result<Vec<Instance>, EngineError> {
        let registered = self.nomad.service(namespace, service).await?;
        if registered.is_empty() {
            return Ok(Vec::new());
        }
        let names: BTreeMap<String, String> = self
            .nomad
            .nodes()
            .await?
            .into_iter()
            .map(|node| (node.id, node.name))
            .collect();
        let mut instances = Vec::new();
        for found in registered {
            let (checks, healthy) = match self
                .nomad
                .allocation_checks(namespace, &found.allocation_id)
                .await
            {
                // The catalogue still names an allocation that its client no longer has.
                Err(error) if error.kind == ErrorKind::NotFound => (Vec::new(), Some(false)),
                answer => {
                    let mut checks = answer?;
                    checks.retain(|check| check.service == service);
                    let healthy = health(&checks);
                    (checks, healthy)
                }
            };
            instances.push(Instance {
                address: found.address,
                port: found.port,
                healthy,
                node: names.get(&found.node_id).cloned().unwrap_or(found.node_id),
                allocation: found.allocation_id,
                checks,
            });
        }
        Ok(instances)
    }
}

fn health(checks: &[Check]) -> Option<bool> {
    if checks.iter().any(|check| check.status == "failure") {
        return Some(false);
    }
    (!checks.is_empty() && checks.iter().all(|check| check.status == "success")).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_claimed_only_when_every_check_says_so() {
        let cases: [(&[&str], Option<bool>); 5] = [
            (&[], None),
            (&["success"], Some(true)),
            (&["success", "pending"], None),
            (&["pending", "failure"], Some(false)),
            (&["success", "failure"], Some(false)),
        ];
        for (statuses, expected) in cases {
            let checks: Vec<Check> = statuses
                .iter()
                .map(|status| Check {
                    service: "web".to_owned(),
                    name: "alive".to_owned(),
                    status: (*status).to_owned(),
                    output: String::new(),
                })
                .collect();
            assert_eq!(health(&checks), expected, "{statuses:?}");
        }
    }
}
