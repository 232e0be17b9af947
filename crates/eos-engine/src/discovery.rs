//! Where a service answers, and whether it is healthy there.

use std::collections::BTreeMap;
use std::future::Future;

use crate::consul::{self, ConsulClient, ServiceHealth};
use crate::error::{EngineError, ErrorKind, Layer};
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
    /// Whose words an error is in.
    fn layer(&self) -> Layer;

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
    fn layer(&self) -> Layer {
        Layer::Nomad
    }

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

/// Consul's catalogue; on which Nomad node an instance runs is asked of Nomad.
pub struct ConsulDiscovery<'a> {
    consul: &'a ConsulClient,
    nomad: &'a NomadClient,
}

impl<'a> ConsulDiscovery<'a> {
    pub fn new(consul: &'a ConsulClient, nomad: &'a NomadClient) -> Self {
        ConsulDiscovery { consul, nomad }
    }

    async fn instance(&self, namespace: &str, found: ServiceHealth) -> Result<Instance, EngineError> {
        let allocation = allocation_of(&found.service.id).unwrap_or_default().to_owned();
        let node = match allocation.as_str() {
            "" => None,
            id => match self.nomad.allocation_node(namespace, id).await {
                // The catalogue still names an allocation that Nomad has forgotten.
                Err(error) if error.kind == ErrorKind::NotFound => None,
                answer => Some(answer?),
            },
        };
        let healthy = consul_health(&found);
        let ServiceHealth {
            node: agent,
            service,
            checks,
        } = found;
        let address = match service.address.is_empty() {
            true => agent.address,
            false => service.address,
        };
        let checks = checks
            .into_iter()
            .filter(|check| !check.service_id.is_empty())
            .map(|check| Check {
                service: service.name.clone(),
                status: nomads_word(&check.status).to_owned(),
                name: check.name,
                // Consul has it in the output.
                status_code: 0,
                output: check.output,
            })
            .collect();
        Ok(Instance {
            address,
            port: service.port,
            healthy,
            node: node.unwrap_or(agent.name),
            allocation,
            checks,
        })
    }
}

impl Discovery for ConsulDiscovery<'_> {
    fn layer(&self) -> Layer {
        Layer::Consul
    }

    async fn instances(&self, service: &str, namespace: &str) -> Result<Vec<Instance>, EngineError> {
        let mut instances = Vec::new();
        for found in self.consul.service(service).await? {
            instances.push(self.instance(namespace, found).await?);
        }
        Ok(instances)
    }
}

/// Nomad registers a service as `_nomad-task-<allocation>-...`; anything else has no allocation.
pub(crate) fn allocation_of(service_id: &str) -> Option<&str> {
    const UUID: usize = 36;
    service_id.strip_prefix("_nomad-task-")?.get(..UUID)
}

/// Unhealthy is what Consul gives to nobody: any check, of the service or its node, that does not pass.
fn consul_health(found: &ServiceHealth) -> Option<bool> {
    let is_checked = found.checks.iter().any(|check| !check.service_id.is_empty());
    let passes = |check: &consul::Check| check.status == "passing";
    match found.checks.iter().all(passes) {
        false => Some(false),
        true => is_checked.then_some(true),
    }
}

/// A new check of Consul is critical until it first ran: there is no word for `pending`.
fn nomads_word(status: &str) -> &'static str {
    match status {
        "passing" => "success",
        _ => "failure",
    }
}

/// Whichever of them the estate has.
pub enum EstateDiscovery<'a> {
    Nomad(NomadDiscovery<'a>),
    Consul(ConsulDiscovery<'a>),
}

impl Discovery for EstateDiscovery<'_> {
    fn layer(&self) -> Layer {
        match self {
            EstateDiscovery::Nomad(discovery) => discovery.layer(),
            EstateDiscovery::Consul(discovery) => discovery.layer(),
        }
    }

    async fn instances(&self, service: &str, namespace: &str) -> Result<Vec<Instance>, EngineError> {
        match self {
            EstateDiscovery::Nomad(discovery) => discovery.instances(service, namespace).await,
            EstateDiscovery::Consul(discovery) => discovery.instances(service, namespace).await,
        }
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
    fn an_allocation_is_in_the_id_that_nomad_gives_its_services() {
        let id = "_nomad-task-0b1f33f2-4a6c-9b0e-2f4c-6b3a0c0d8f11-group-main-web-http";
        assert_eq!(allocation_of(id), Some("0b1f33f2-4a6c-9b0e-2f4c-6b3a0c0d8f11"));
        for other in ["web", "_nomad-task-short", "_nomad-client-0b1f33f2"] {
            assert_eq!(allocation_of(other), None, "{other}");
        }
    }

    #[test]
    fn consul_must_pass_every_check_and_one_of_the_service() {
        const NODE: &str = "";
        let cases = [
            (vec![(NODE, "passing")], None),
            (vec![(NODE, "critical")], Some(false)),
            (vec![(NODE, "passing"), ("web", "passing")], Some(true)),
            (vec![(NODE, "passing"), ("web", "warning")], Some(false)),
            (vec![(NODE, "critical"), ("web", "passing")], Some(false)),
        ];
        for (checks, expected) in cases {
            let checks: Vec<serde_json::Value> = checks
                .iter()
                .map(|(of, status)| serde_json::json!({"Name": "alive", "ServiceID": of, "Status": status}))
                .collect();
            let found = serde_json::json!({"Node": {"Node": "vm", "Address": "127.0.0.1"}, "Checks": checks,
                "Service": {"ID": "web", "Service": "web", "Address": "", "Port": 80}});
            let found: ServiceHealth = serde_json::from_value(found).unwrap();
            assert_eq!(consul_health(&found), expected, "{found:?}");
        }
    }

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
                    status_code: 0,
                    output: String::new(),
                })
                .collect();
            assert_eq!(health(&checks), expected, "{statuses:?}");
        }
    }
}
