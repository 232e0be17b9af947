//! Consul: its servers, by its own health endpoint, and its services.

use serde::Serialize;

use super::{LOOK, Seen, Trouble};
use crate::consul::{ConsulClient, ListedCheck};
use crate::error::EngineError;

#[derive(Debug, Clone, Serialize)]
pub struct ConsulSeen {
    pub servers: Vec<ServerStatus>,
    pub services: Vec<ServiceStatus>,
    #[serde(skip)]
    pub(super) checks: Vec<ListedCheck>,
    #[serde(skip)]
    is_healthy: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct ServerStatus {
    pub server: String,
    pub version: String,
    pub leads: bool,
    pub healthy: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct ServiceStatus {
    pub service: String,
    pub checks: usize,
    pub passing: usize,
}

pub(super) async fn ask(consul: &ConsulClient) -> Result<ConsulSeen, EngineError> {
    let (servers, names, checks) =
        tokio::try_join!(consul.servers(), consul.service_names(), consul.checks())?;
    let services = names
        .into_iter()
        .map(|service| {
            let of_it = || checks.iter().filter(|check| check.service_name == service);
            ServiceStatus {
                checks: of_it().count(),
                passing: of_it().filter(|check| check.passes()).count(),
                service,
            }
        })
        .collect();
    let server = |one: crate::consul::Server| ServerStatus {
        server: one.name,
        version: one.version,
        leads: one.leader,
        healthy: one.healthy,
    };
    Ok(ConsulSeen {
        is_healthy: servers.healthy,
        servers: servers.servers.into_iter().map(server).collect(),
        services,
        checks,
    })
}

impl Seen for ConsulSeen {
    fn words(&self) -> String {
        let passing = self
            .services
            .iter()
            .filter(|one| one.passing == one.checks)
            .count();
        format!("{passing} of {} services passing", self.services.len())
    }

    fn troubles(&self) -> Vec<Trouble> {
        let servers: Vec<Trouble> = self
            .servers
            .iter()
            .filter(|server| !server.healthy)
            .map(|server| {
                Trouble::new(
                    format!("consul server {}", server.server),
                    "it is unhealthy",
                    LOOK,
                )
            })
            .collect();
        let unwell = (!self.is_healthy && servers.is_empty())
            .then(|| Trouble::new("consul", "its servers are unhealthy", LOOK));
        let nodes = self
            .checks
            .iter()
            .filter(|check| check.service_id.is_empty() && !check.passes())
            .map(|check| {
                let about = format!("consul node {}", check.node);
                Trouble::new(about, format!("{} is {}", check.name, check.status), LOOK)
            });
        servers.into_iter().chain(unwell).chain(nodes).collect()
    }
}
