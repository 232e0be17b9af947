//! Nomad: its leader, its token, its servers, and what each node is and can do.

use std::collections::BTreeMap;
use std::sync::Arc;

use eos_core::pillar::Pillar;
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;

use super::versions::Engine;
use super::{Area, Condition, Examination, Finding, minute, until};
use crate::error::{EngineError, Layer};
use crate::nomad::{Member, Node, NomadClient, OwnToken, current};
use crate::secrets::NomadSecrets;

/// A token that ends sooner is worth a word.
const SOON: SignedDuration = SignedDuration::from_hours(24);

impl Examination<'_> {
    pub(super) async fn nomad(&self) -> Vec<Finding> {
        let endpoint = &self.endpoints.nomad;
        let asked = self
            .in_time(Layer::Nomad, &endpoint.address, async {
                let client = NomadClient::new(endpoint)?;
                let leader = client.leader().await?;
                Ok((client, leader))
            })
            .await;
        let (client, leader) = match asked {
            Ok(answer) => answer,
            Err(error) => return vec![self.failed(Area::Nomad, "leader", &error)],
        };
        let mut findings = vec![Finding::ok(Area::Nomad, "leader", leader)];
        let (nodes, members, token) = tokio::join!(
            self.in_time(Layer::Nomad, &endpoint.address, client.nodes()),
            self.in_time(Layer::Nomad, &endpoint.address, client.members()),
            self.in_time(Layer::Nomad, &endpoint.address, client.own_token()),
        );
        findings.push(match token {
            Ok(token) => token_finding(&token, &self.token(Layer::Nomad)),
            Err(error) => self.failed(Area::Nomad, "token", &error),
        });
        if self.endpoints.vault.is_none() {
            let secrets = NomadSecrets::new(&client);
            findings.push(self.reach(Area::Nomad, &secrets, &endpoint.address).await);
        }
        let nodes = match nodes {
            Ok(nodes) => current(nodes),
            Err(error) => {
                findings.push(self.failed(Area::Nomad, "nodes", &error));
                return findings;
            }
        };
        match members {
            Ok(members) => findings.extend(self.server_findings(&members, &nodes)),
            Err(error) => findings.push(self.failed(Area::Nomad, "servers", &error)),
        }
        let client = Arc::new(client);
        let mut bridges = self.bridges(&client, &nodes).await;
        for node in &nodes {
            findings.push(node_finding(node, &self.start("nomad")));
            if node.status == "ready" {
                findings.push(driver_finding(node, &self.start("nomad"), self.start_docker()));
                findings.extend(bridges.remove(&node.name));
            }
        }
        findings.extend(
            self.expected
                .pillar
                .map(|pillar| {
                    host_findings(pillar, &nodes, &|host| {
                        self.bring_host(host, "systemctl restart nomad")
                    })
                })
                .unwrap_or_default(),
        );
        findings
    }

    fn server_findings(&self, members: &[Member], nodes: &[Node]) -> Vec<Finding> {
        let lost: Vec<&str> = members
            .iter()
            .filter(|member| member.status == "failed")
            .map(|member| member.name.as_str())
            .collect();
        let servers = members
            .iter()
            .filter(|member| member.status == "alive")
            .map(|member| {
                let build = member.tags.get("build").cloned().unwrap_or_default();
                (format!("server {}", member.name), build)
            });
        let ready = nodes.iter().filter(|node| node.status == "ready");
        let clients = ready.map(|node| (format!("node {}", node.name), node.version.clone()));
        let seen: Vec<(String, String)> = servers.chain(clients).collect();
        let version = Engine::Nomad.finding(Area::Nomad, &seen, &self.renew("nomad"));
        let lost = (!lost.is_empty()).then(|| {
            let words = format!("the other servers do not reach {}", lost.join(", "));
            Finding::not_ok(
                Area::Nomad,
                "servers",
                Condition::Broken,
                words,
                self.start("nomad"),
            )
        });
        version.into_iter().chain(lost).collect()
    }

    /// Of the full profile only: there tasks meet one another in the mesh.
    async fn bridges(&self, client: &Arc<NomadClient>, nodes: &[Node]) -> BTreeMap<String, Finding> {
        let mut asking = JoinSet::new();
        for node in nodes
            .iter()
            .filter(|node| node.status == "ready" && self.endpoints.consul.is_some())
        {
            let (client, node, ends) = (client.clone(), node.clone(), self.ends);
            let address = self.endpoints.nomad.address.clone();
            asking.spawn(async move {
                let has = until(ends, Layer::Nomad, &address, client.has_bridge(&node)).await;
                (node.name, has)
            });
        }
        let answers = asking.join_all().await;
        let finding = |(name, has): (String, Result<bool, EngineError>)| {
            let what = format!("bridge {name}");
            let finding = match has {
                Ok(true) => Finding::ok(Area::Nomad, what, "tasks can have their own networks"),
                Ok(false) => Finding::not_ok(
                    Area::Nomad,
                    what,
                    Condition::Limited,
                    "no bridge or no CNI plugins there, so no mesh",
                    format!(
                        "apt install containernetworking-plugins && {}",
                        self.start("nomad")
                    ),
                ),
                Err(error) => self.failed(Area::Nomad, &what, &error),
            };
            (name, finding)
        };
        answers.into_iter().map(finding).collect()
    }
}

fn token_finding(token: &OwnToken, mend: &str) -> Finding {
    if token.is_needless() {
        let words = "Nomad requires no token: everyone who reaches it may change everything";
        return Finding::not_ok(
            Area::Nomad,
            "token",
            Condition::Limited,
            words,
            "nomad acl bootstrap",
        );
    }
    let held = match (token.r#type.as_str(), token.policies.join(", ")) {
        ("management", _) => "it may do everything".to_owned(),
        (_, policies) => format!("policies {policies}"),
    };
    match token.expiration_time {
        Some(ends) if ends < Timestamp::now() + SOON => {
            let words = format!("it ends {}", minute(ends));
            Finding::not_ok(Area::Nomad, "token", Condition::Limited, words, mend)
        }
        Some(ends) => Finding::ok(Area::Nomad, "token", format!("{held}, until {}", minute(ends))),
        None => Finding::ok(Area::Nomad, "token", format!("{held}, without an end")),
    }
}

fn node_finding(node: &Node, start: &str) -> Finding {
    let what = format!("node {}", node.name);
    match (node.status.as_str(), node.scheduling_eligibility.as_str()) {
        ("ready", "eligible") => Finding::ok(Area::Nomad, what, "ready"),
        ("ready", _) => {
            let mend = format!("nomad node eligibility -enable {}", node.id);
            let words = "ready, but Nomad places nothing new there";
            Finding::not_ok(Area::Nomad, what, Condition::Limited, words, mend)
        }
        (status, _) => Finding::not_ok(Area::Nomad, what, Condition::Broken, status, start),
    }
}

/// Tasks are programs, in isolation where exec is, or containers; every other driver is the person's own affair.
fn driver_finding(node: &Node, start: &str, start_docker: &str) -> Finding {
    let what = format!("drivers {}", node.name);
    let drivers = || node.drivers.iter();
    let ill = drivers().find(|(_, driver)| driver.detected && !driver.healthy);
    let healthy: Vec<&str> = drivers()
        .filter(|(_, driver)| driver.healthy)
        .map(|(name, _)| name.as_str())
        .collect();
    let listed = healthy.join(", ");
    let limited = |words: &str, mend: String| {
        Finding::not_ok(
            Area::Nomad,
            what.clone(),
            Condition::Limited,
            format!("{listed}; {words}"),
            mend,
        )
    };
    match ill {
        Some((name, driver)) => {
            let words = format!("{name}: {}", driver.health_description);
            Finding::not_ok(Area::Nomad, what, Condition::Broken, words, start)
        }
        None if !healthy.contains(&"exec") => {
            limited("no exec: programs run without isolation", format!("sudo {start}"))
        }
        None if !healthy.contains(&"docker") => {
            limited("no docker: nothing runs from an image", start_docker.to_owned())
        }
        None => Finding::ok(Area::Nomad, what, listed),
    }
}

/// The contract between Salt and Nomad: a host has one name, as minion and as node.
fn host_findings(pillar: &Pillar, nodes: &[Node], bring: &dyn Fn(&str) -> String) -> Vec<Finding> {
    let clients = || pillar.hosts.values().filter(|host| host.has_role("client"));
    let is_node = |name: &str| nodes.iter().any(|node| node.name == name);
    let lost: Vec<Finding> = clients()
        .filter(|host| !is_node(&host.name))
        .map(|host| {
            let words = format!("a client in the pillar, but no Nomad node is named {}", host.name);
            let what = format!("host {}", host.name);
            Finding::not_ok(Area::Nomad, what, Condition::Broken, words, bring(&host.name))
        })
        .collect();
    if !lost.is_empty() {
        return lost;
    }
    let names: Vec<&str> = clients().map(|host| host.name.as_str()).collect();
    let words = format!("each client has a node of its name: {}", names.join(", "));
    vec![Finding::ok(Area::Nomad, "hosts", words)]
}

#[cfg(test)]
mod tests {
    use eos_core::pillar::{COMMON_FILE, PillarFiles};
    use serde_json::{Value, json};

    use super::*;

    fn node(name: &str, status: &str, drivers: &[(&str, bool, bool)]) -> Node {
        let drivers: serde_json::Map<String, Value> = drivers
            .iter()
            .map(|(driver, detected, healthy)| {
                let health =
                    json!({"Detected": detected, "Healthy": healthy, "HealthDescription": "it says"});
                ((*driver).to_owned(), health)
            })
            .collect();
        serde_json::from_value(json!({
            "ID": "7d", "Name": name, "Datacenter": "dc1", "Address": "127.0.0.1", "Status": status,
            "SchedulingEligibility": "eligible", "Drivers": drivers,
        }))
        .unwrap()
    }

    #[test]
    fn a_node_that_came_back_hides_its_former_self() {
        let nodes = current(vec![
            node("b", "down", &[]),
            node("a", "down", &[]),
            node("a", "ready", &[]),
        ]);
        let seen: Vec<_> = nodes
            .iter()
            .map(|node| (node.name.as_str(), node.status.as_str()))
            .collect();
        assert_eq!(seen, [("a", "ready"), ("b", "down")]);
        assert_eq!(node_finding(&nodes[0], "start").condition, Condition::Ok);
        assert_eq!(node_finding(&nodes[1], "start").condition, Condition::Broken);
        let mut drained = nodes[0].clone();
        drained.scheduling_eligibility = "ineligible".to_owned();
        let finding = node_finding(&drained, "start");
        assert_eq!(
            (finding.condition, finding.mend.as_deref()),
            (Condition::Limited, Some("nomad node eligibility -enable 7d"))
        );
    }

    #[test]
    fn drivers_that_fail_are_broken_and_those_that_lack_limit() {
        let (exec, docker) = (("exec", true, true), ("docker", true, true));
        let cases: [(&[_], _, _); 4] = [
            (&[docker, exec], Condition::Ok, "docker, exec"),
            (
                &[("docker", true, false), exec],
                Condition::Broken,
                "docker: it says",
            ),
            (
                &[("docker", false, false), exec],
                Condition::Limited,
                "exec; no docker: nothing runs from an image",
            ),
            (
                &[docker, ("raw_exec", true, true)],
                Condition::Limited,
                "docker, raw_exec; no exec: programs run without isolation",
            ),
        ];
        for (drivers, condition, words) in cases {
            let finding = driver_finding(&node("a", "ready", drivers), "start", "start docker");
            assert_eq!((finding.condition, finding.words.as_str()), (condition, words));
        }
    }

    #[test]
    fn every_client_of_the_pillar_must_be_a_node_of_its_name() {
        let text = "#!yaml\nhosts:\n  control: {address: 127.0.0.1, roles: [client, control]}\n  \
                    node1: {address: 127.0.0.2, roles: [client]}\n  store: {address: 127.0.0.3, roles: [storage]}\n";
        let files = PillarFiles::from([(COMMON_FILE.to_owned(), text.as_bytes().to_vec())]);
        let pillar = Pillar::read(&files).unwrap();
        let nodes = [node("control", "ready", &[]), node("node-1", "ready", &[])];
        let bring = |host: &str| format!("bring {host}");
        let lost = host_findings(&pillar, &nodes, &bring);
        assert_eq!(lost.len(), 1, "{lost:?}");
        assert_eq!(
            (lost[0].what.as_str(), lost[0].condition, lost[0].mend.as_deref()),
            ("host node1", Condition::Broken, Some("bring node1"))
        );
        let nodes = [node("control", "ready", &[]), node("node1", "down", &[])];
        let all = host_findings(&pillar, &nodes, &bring);
        assert_eq!((all.len(), all[0].condition), (1, Condition::Ok));
    }
}
