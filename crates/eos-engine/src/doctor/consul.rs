//! Consul: its leader, and what the program's token may do there.

use super::leftovers::{self, Keys};
use super::versions::Engine;
use super::{Area, Condition, Examination, Finding};
use crate::consul::{ConsulClient, Right, Servers};
use crate::endpoints::ConsulEndpoint;
use crate::error::{EngineError, Layer};

/// What the program does in Consul, and how a person says it.
const RIGHTS: [(Right, &str); 4] = [
    (("key", "terraform/", "write"), "write keys below terraform/"),
    (("session", "eos", "write"), "make sessions"),
    (("service", "eos", "read"), "read services"),
    (("node", "eos", "read"), "read nodes"),
];

/// What asking Consul came to.
#[derive(Default)]
pub(super) struct ConsulLooked {
    pub findings: Vec<Finding>,
    pub keys: Option<Keys>,
}

struct Answers {
    leader: String,
    servers: Result<Servers, EngineError>,
    denied: Result<Vec<Right>, EngineError>,
    keys: Result<Keys, EngineError>,
}

impl Examination<'_> {
    pub(super) async fn consul(&self) -> ConsulLooked {
        let Some(endpoint) = &self.endpoints.consul else {
            return ConsulLooked::default();
        };
        let asked = self
            .in_time(Layer::Consul, &endpoint.address, ask(endpoint))
            .await;
        let answers = match asked {
            Ok(answers) => answers,
            Err(error) => {
                return ConsulLooked {
                    findings: vec![self.failed(Area::Consul, "leader", &error)],
                    keys: None,
                };
            }
        };
        let mut findings = vec![match answers.leader.is_empty() {
            false => Finding::ok(Area::Consul, "leader", answers.leader),
            true => Finding::not_ok(
                Area::Consul,
                "leader",
                Condition::Broken,
                "no server leads",
                self.start("consul"),
            ),
        }];
        findings.extend(self.servers_findings(answers.servers));
        findings.push(match answers.denied {
            Err(error) => self.failed(Area::Consul, "token", &error),
            Ok(denied) => rights_finding(&denied, &self.token(Layer::Consul)),
        });
        ConsulLooked {
            findings,
            // What cannot be read for want of a right is said of the token.
            keys: answers.keys.ok(),
        }
    }

    fn servers_findings(&self, servers: Result<Servers, EngineError>) -> Vec<Finding> {
        let servers = match servers {
            Ok(servers) => servers,
            Err(error) => return vec![self.failed(Area::Consul, "servers", &error)],
        };
        let ill: Vec<&str> = servers
            .servers
            .iter()
            .filter(|server| !server.healthy)
            .map(|server| server.name.as_str())
            .collect();
        let seen: Vec<(String, String)> = servers
            .servers
            .iter()
            .map(|server| (server.name.clone(), server.version.clone()))
            .collect();
        let version = Engine::Consul.finding(Area::Consul, &seen, &self.renew("consul"));
        let health = (!servers.healthy).then(|| {
            let words = format!("unhealthy: {}", ill.join(", "));
            Finding::not_ok(
                Area::Consul,
                "servers",
                Condition::Broken,
                words,
                self.start("consul"),
            )
        });
        version.into_iter().chain(health).collect()
    }
}

async fn ask(endpoint: &ConsulEndpoint) -> Result<Answers, EngineError> {
    let client = ConsulClient::new(endpoint)?;
    let leader = client.leader().await?;
    let rights = RIGHTS.map(|(right, _)| right);
    let (servers, denied, keys) =
        tokio::join!(client.servers(), client.denied(&rights), leftovers::keys(&client));
    Ok(Answers {
        leader,
        servers,
        denied,
        keys,
    })
}

fn rights_finding(denied: &[Right], mend: &str) -> Finding {
    let lacking: Vec<&str> = RIGHTS
        .iter()
        .filter(|(right, _)| denied.contains(right))
        .map(|(_, words)| *words)
        .collect();
    if lacking.is_empty() {
        return Finding::ok(Area::Consul, "token", "may hold locks and read services");
    }
    let words = format!("it may not {}", lacking.join(", "));
    Finding::not_ok(Area::Consul, "token", Condition::Broken, words, mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_what_it_lacks() {
        let finding = rights_finding(&[RIGHTS[1].0], "mend");
        assert_eq!(
            (finding.condition, finding.words.as_str()),
            (Condition::Broken, "it may not make sessions")
        );
        assert_eq!(rights_finding(&[], "mend").condition, Condition::Ok);
    }
}
