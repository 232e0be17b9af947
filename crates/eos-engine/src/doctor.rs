//! What works and what does not: the form of a finding, and the questions that the engines of an estate are asked.
//!
//! Every engine is asked by itself and within a few seconds, so that one that is silent says nothing of the others.
//! What is decided from an answer is decided by functions that ask nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eos_core::pillar::Pillar;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::consul::{ConsulClient, Right};
use crate::endpoints::{ConsulEndpoint, Endpoints, VaultEndpoint};
use crate::engines::{kept_token, refuse_other_profile};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::http;
use crate::nomad::{Node, NomadClient};
use crate::salt::SaltClient;
use crate::settings::{Settings, Source};
use crate::vault::{self, OwnToken, VaultClient};

/// How long all that one engine is asked may take.
const PATIENCE: Duration = Duration::from_secs(4);
/// Clocks that differ by less agree.
const AGREEMENT: SignedDuration = SignedDuration::from_secs(2);
/// A token that ends sooner, and cannot be renewed, is worth a word.
const SOON: u64 = 24 * 3600;
/// What the program does in Consul, and how a person says it.
const RIGHTS: [(Right, &str); 4] = [
    (("key", "terraform/", "write"), "write keys below terraform/"),
    (("session", "eos", "write"), "make sessions"),
    (("service", "eos", "read"), "read services"),
    (("node", "eos", "read"), "read nodes"),
];

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// Where the program runs.
    Machine,
    Estate,
    Salt,
    Nomad,
    Consul,
    Vault,
    Clocks,
}

impl Area {
    pub fn name(self) -> &'static str {
        match self {
            Area::Machine => "machine",
            Area::Estate => "estate",
            Area::Salt => "salt",
            Area::Nomad => "nomad",
            Area::Consul => "consul",
            Area::Vault => "vault",
            Area::Clocks => "clocks",
        }
    }
}

/// From good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    Ok,
    /// Eos works, with less.
    Limited,
    /// It was never there, and Eos does not work without it.
    Missing,
    /// It is there and does not do what it is there for.
    Broken,
}

impl Condition {
    pub fn name(self) -> &'static str {
        match self {
            Condition::Ok => "ok",
            Condition::Limited => "limited",
            Condition::Missing => "missing",
            Condition::Broken => "broken",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub area: Area,
    pub what: String,
    pub condition: Condition,
    /// What was found or, where that is not ok, why. Never a secret value.
    pub words: String,
    /// The command that mends it, where it is not ok.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Finding {
    pub fn ok(area: Area, what: impl Into<String>, words: impl Into<String>) -> Self {
        Finding {
            area,
            what: what.into(),
            condition: Condition::Ok,
            words: words.into(),
            mend: None,
        }
    }

    /// One that is not ok: why, and what mends it.
    pub fn not_ok(
        area: Area,
        what: impl Into<String>,
        condition: Condition,
        words: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Finding {
            condition,
            mend: Some(mend.into()),
            ..Finding::ok(area, what, words)
        }
    }

    /// Whether Eos does not work as long as this is so.
    pub fn is_to_mend(&self) -> bool {
        self.condition >= Condition::Missing
    }
}

/// An estate and what its engines should be like.
pub struct Expected<'a> {
    pub settings: &'a Settings,
    /// Nothing where it cannot be read.
    pub pillar: Option<&'a Pillar>,
    /// Of the Salt code that this program carries, as `eos.info` answers it.
    pub formula: &'a str,
}

/// Asks every engine of the estate, all at once; an estate without engines is a finding too.
pub async fn examine(expected: &Expected<'_>) -> Vec<Finding> {
    let Some(endpoints) = &expected.settings.endpoints else {
        let words = "none: neither eos.toml nor a lab names any";
        return vec![Finding::not_ok(
            Area::Estate,
            "engines",
            Condition::Missing,
            words,
            "eos lab up",
        )];
    };
    let examination = Examination {
        expected,
        endpoints,
        ends: Instant::now() + PATIENCE,
    };
    let (salt, nomad, consul, vault, clocks) = tokio::join!(
        examination.salt(),
        examination.nomad(),
        examination.consul(),
        examination.vault(),
        examination.clocks(),
    );
    let profile = examination.profile();
    [profile, salt, nomad, consul, vault, clocks].concat()
}

struct Examination<'a> {
    expected: &'a Expected<'a>,
    endpoints: &'a Endpoints,
    ends: Instant,
}

impl Examination<'_> {
    fn profile(&self) -> Vec<Finding> {
        let settings = self.expected.settings;
        let Err(error) = refuse_other_profile(settings.profile, self.endpoints) else {
            return Vec::new();
        };
        vec![Finding::not_ok(
            Area::Estate,
            "profile",
            Condition::Broken,
            error.words,
            "eos lab up",
        )]
    }

    async fn salt(&self) -> Vec<Finding> {
        let endpoint = &self.endpoints.salt;
        let control = &self.endpoints.control;
        let client = match self.salt_client() {
            Ok(client) => Arc::new(client),
            Err(error) => return vec![self.failed(Area::Salt, "API", &error)],
        };
        let reached = self
            .in_time(Layer::Salt, &endpoint.url, client.reach(control, PATIENCE))
            .await;
        let api = match reached {
            Ok(expires) => {
                let until = expires.map_or_else(String::new, |expires| {
                    format!(", token until {}", minute(expires))
                });
                Finding::ok(Area::Salt, "API", format!("{}{until}", endpoint.url))
            }
            Err(error) => return vec![self.failed(Area::Salt, "API", &error)],
        };
        let hosts = self.expected.pillar.iter().flat_map(|pillar| pillar.hosts.keys());
        let minions: BTreeSet<String> = hosts.chain([control]).cloned().collect();
        let mut asking = JoinSet::new();
        for minion in minions {
            let (client, ends) = (client.clone(), self.ends);
            asking.spawn(async move {
                let left = ends.saturating_duration_since(Instant::now());
                let info = client.call(&minion, "eos.info", json!({}), left).await;
                (minion, info)
            });
        }
        let answers: BTreeMap<_, _> = asking.join_all().await.into_iter().collect();
        let minions = answers.iter().map(|(minion, info)| match info {
            Ok(info) => formula_finding(minion, info, self.expected.formula, &self.bring_formula(minion)),
            Err(error) if error.kind == ErrorKind::Timeout => {
                let words = "it does not answer";
                let mend = self.start("salt-minion");
                Finding::not_ok(
                    Area::Salt,
                    format!("minion {minion}"),
                    Condition::Broken,
                    words,
                    mend,
                )
            }
            Err(error) if error.kind == ErrorKind::NotFound => Finding::not_ok(
                Area::Salt,
                format!("minion {minion}"),
                Condition::Broken,
                &error.words,
                self.bring_host(minion, &format!("salt-key -a {minion}")),
            ),
            Err(error) => self.failed(Area::Salt, &format!("minion {minion}"), error),
        });
        [api].into_iter().chain(minions).collect()
    }

    fn salt_client(&self) -> Result<SaltClient, EngineError> {
        let endpoint = &self.endpoints.salt;
        let client = SaltClient::new(endpoint)?;
        Ok(match kept_token(endpoint)? {
            Some(token) => client.with_token(token),
            None => client,
        })
    }

    async fn nomad(&self) -> Vec<Finding> {
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
        let nodes = self.in_time(Layer::Nomad, &endpoint.address, client.nodes());
        let nodes = match nodes.await {
            Ok(nodes) => current(nodes),
            Err(error) => {
                findings.push(self.failed(Area::Nomad, "nodes", &error));
                return findings;
            }
        };
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
                Ok(true) => Finding::ok(Area::Nomad, what, "tasks can have networks of their own"),
                Ok(false) => Finding::not_ok(
                    Area::Nomad,
                    what,
                    Condition::Limited,
                    "no bridge or no CNI plugins there, and so no mesh",
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

    async fn consul(&self) -> Vec<Finding> {
        let Some(endpoint) = &self.endpoints.consul else {
            return Vec::new();
        };
        let asked = self
            .in_time(Layer::Consul, &endpoint.address, ask_consul(endpoint))
            .await;
        match asked {
            Err(error) => vec![self.failed(Area::Consul, "leader", &error)],
            Ok((leader, denied)) => vec![
                match leader.is_empty() {
                    false => Finding::ok(Area::Consul, "leader", leader),
                    true => Finding::not_ok(
                        Area::Consul,
                        "leader",
                        Condition::Broken,
                        "no server leads",
                        self.start("consul"),
                    ),
                },
                match denied {
                    Err(error) => self.failed(Area::Consul, "token", &error),
                    Ok(denied) => rights_finding(&denied, &self.token(Layer::Consul)),
                },
            ],
        }
    }

    async fn vault(&self) -> Vec<Finding> {
        let Some(endpoint) = &self.endpoints.vault else {
            return Vec::new();
        };
        let asked = self
            .in_time(Layer::Vault, &endpoint.address, ask_vault(endpoint))
            .await;
        let Vaulted {
            health,
            token,
            engine,
        } = match asked {
            Ok(answer) => answer,
            Err(error) => return vec![self.failed(Area::Vault, "seal", &error)],
        };
        let mend = if self.is_lab() {
            "eos lab up"
        } else if health.initialized {
            "vault operator unseal"
        } else {
            "vault operator init"
        };
        let sealed = |words| {
            vec![Finding::not_ok(
                Area::Vault,
                "seal",
                Condition::Broken,
                words,
                mend,
            )]
        };
        if !health.initialized {
            return sealed("it was never initialised");
        }
        if health.sealed {
            return sealed("it is sealed");
        }
        let enable = format!("vault secrets enable -path={} -version=2 kv", vault::MOUNT);
        let enable = if self.is_lab() { "eos lab up" } else { &enable };
        let seal = Finding::ok(
            Area::Vault,
            "seal",
            format!("unsealed, version {}", health.version),
        );
        let token = match token {
            Ok(token) => token_finding(&token, &self.token(Layer::Vault)),
            // Without one nobody is told what is mounted.
            Err(error) => return vec![seal, self.failed(Area::Vault, "token", &error)],
        };
        vec![
            seal,
            token,
            match engine {
                Ok(engine) if engine.is_versioned_store() => Finding::ok(
                    Area::Vault,
                    "store",
                    format!("{} at {}/", engine.words(), vault::MOUNT),
                ),
                Ok(engine) => {
                    let words = format!("{} is at {}/, not kv version 2", engine.words(), vault::MOUNT);
                    Finding::not_ok(Area::Vault, "store", Condition::Broken, words, enable)
                }
                Err(error) => {
                    Finding::not_ok(Area::Vault, "store", Condition::Broken, words_of(&error), enable)
                }
            },
        ]
    }

    /// One line as long as all agree. An engine that does not answer has said so elsewhere.
    async fn clocks(&self) -> Vec<Finding> {
        let Endpoints {
            salt,
            nomad,
            consul,
            vault,
            ..
        } = self.endpoints;
        let mut asking = JoinSet::new();
        for (layer, address, certificate) in [
            (Layer::Salt, Some(&salt.url), salt.certificate.clone()),
            (Layer::Nomad, Some(&nomad.address), None),
            (Layer::Consul, consul.as_ref().map(|one| &one.address), None),
            (Layer::Vault, vault.as_ref().map(|one| &one.address), None),
        ] {
            let (Some(address), ends) = (address.cloned(), self.ends) else {
                continue;
            };
            asking.spawn(async move {
                let ahead = timeout_at(ends, clock(layer, &address, certificate.as_deref())).await;
                (layer.name(), ahead.ok().flatten())
            });
        }
        let mut answers = asking.join_all().await;
        answers.sort_by_key(|(name, _)| *name);
        clock_findings(&answers)
    }

    async fn in_time<T>(
        &self,
        layer: Layer,
        address: &str,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        until(self.ends, layer, address, work).await
    }

    fn failed(&self, area: Area, what: &str, error: &EngineError) -> Finding {
        let mend = match error.kind {
            ErrorKind::Refused => self.token(error.layer),
            _ => self.start(match area {
                // The API takes connections for a master that is gone.
                Area::Salt if what == "API" && error.kind == ErrorKind::Timeout => "salt-master",
                Area::Salt if what == "API" => "salt-api",
                Area::Salt => "salt-minion",
                area => area.name(),
            }),
        };
        Finding::not_ok(area, what, Condition::Broken, words_of(error), mend)
    }

    fn is_lab(&self) -> bool {
        self.expected.settings.source == Source::Lab
    }

    /// Starts a service: the lab's all in one, others where they run.
    fn start(&self, service: &str) -> String {
        match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => format!("systemctl restart {service}"),
        }
    }

    /// Has a host of the pillar join its engines: a lab has nodes of certain names only.
    fn bring_host(&self, host: &str, elsewhere: &str) -> String {
        let number = host
            .strip_prefix("node")
            .and_then(|number| number.parse::<u8>().ok());
        match number {
            _ if !self.is_lab() => elsewhere.to_owned(),
            Some(number) => format!("eos lab up --nodes {number}"),
            None => format!("eos delete host {host}"),
        }
    }

    /// Nomad looks for Docker when it starts.
    fn start_docker(&self) -> &'static str {
        match self.is_lab() {
            true => "eos lab up --containers",
            false => "apt install docker.io && systemctl restart nomad",
        }
    }

    /// Gets a token that is valid, for the file that eos.toml names. A lab makes one anew where there is none.
    fn token(&self, layer: Layer) -> String {
        let Endpoints {
            nomad, consul, vault, ..
        } = self.endpoints;
        let file = match layer {
            Layer::Nomad => nomad.token_file.as_ref(),
            Layer::Consul => consul.as_ref().and_then(|consul| consul.token_file.as_ref()),
            Layer::Vault => vault.as_ref().and_then(|vault| vault.token_file.as_ref()),
            _ => None,
        };
        let own = match (layer, file) {
            (_, Some(file)) if self.is_lab() => {
                let quoted = file.display().to_string().replace('\'', r"'\''");
                return format!("rm -f '{quoted}' && eos lab up");
            }
            (_, None) if self.is_lab() => "eos lab up",
            (Layer::Nomad, _) => "nomad acl token create -type=client -policy=eos-read",
            (Layer::Consul, _) => "consul acl token create -policy-name=eos-program",
            (Layer::Vault, _) => "vault token create -policy=eos-program -period=768h",
            _ => "eos login",
        };
        own.to_owned()
    }

    fn bring_formula(&self, minion: &str) -> String {
        match self.is_lab() {
            true => "eos lab up".to_owned(),
            false => format!("salt {minion} saltutil.sync_all"),
        }
    }
}

async fn until<T>(
    ends: Instant,
    layer: Layer,
    address: &str,
    work: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    timeout_at(ends, work).await.unwrap_or_else(|_| {
        let words = format!("{address} gave no answer within {} s", PATIENCE.as_secs());
        Err(EngineError::new(layer, ErrorKind::Timeout, layer.name(), words))
    })
}

async fn ask_consul(
    endpoint: &ConsulEndpoint,
) -> Result<(String, Result<Vec<Right>, EngineError>), EngineError> {
    let client = ConsulClient::new(endpoint)?;
    let leader = client.leader().await?;
    let rights = RIGHTS.map(|(right, _)| right);
    Ok((leader, client.denied(&rights).await))
}

struct Vaulted {
    health: vault::Health,
    token: Result<OwnToken, EngineError>,
    engine: Result<vault::SecretsEngine, EngineError>,
}

async fn ask_vault(endpoint: &VaultEndpoint) -> Result<Vaulted, EngineError> {
    let client = VaultClient::new(endpoint)?;
    let health = client.health().await?;
    let (token, engine) = tokio::join!(client.own_token(), client.secrets_engine());
    Ok(Vaulted {
        health,
        token,
        engine,
    })
}

/// How far the clock of an engine is ahead of this machine's at least; nothing where it does not tell.
async fn clock(layer: Layer, address: &str, certificate: Option<&Path>) -> Option<SignedDuration> {
    let client = http::client(layer, certificate).ok()?;
    let sent = Timestamp::now();
    let answer = client.get(address).send().await.ok()?;
    let received = Timestamp::now();
    let date = answer.headers().get(reqwest::header::DATE)?.to_str().ok()?;
    ahead(date, sent, received)
}

/// The words of the error without what the row says already.
fn words_of(error: &EngineError) -> String {
    match error.kind {
        _ if error.words.is_empty() => error.to_string(),
        // They name the address.
        ErrorKind::Unreachable | ErrorKind::Timeout => error.words.clone(),
        _ => format!("{}: {}", error.object, error.words),
    }
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn formula_finding(minion: &str, info: &Value, expected: &str, mend: &str) -> Finding {
    let what = format!("minion {minion}");
    let said = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default();
    if said("formula") == expected {
        let words = format!("answers, Salt {}, formula of this program", said("version"));
        return Finding::ok(Area::Salt, what, words);
    }
    let words = "its formula is not the one that this program carries";
    Finding::not_ok(Area::Salt, what, Condition::Broken, words, mend)
}

/// Nomad remembers for a day those that went away: one whose name is there again is no longer of interest.
fn current(mut nodes: Vec<Node>) -> Vec<Node> {
    let is_ready = |node: &Node| node.status == "ready";
    let ready: BTreeSet<String> = nodes
        .iter()
        .filter(|node| is_ready(node))
        .map(|node| node.name.clone())
        .collect();
    nodes.retain(|node| is_ready(node) || !ready.contains(&node.name));
    nodes.sort_by(|one, other| one.name.cmp(&other.name));
    nodes
}

fn node_finding(node: &Node, start: &str) -> Finding {
    let what = format!("node {}", node.name);
    match (node.status.as_str(), node.scheduling_eligibility.as_str()) {
        ("ready", "eligible") => Finding::ok(Area::Nomad, what, "ready"),
        ("ready", _) => {
            let mend = format!("nomad node eligibility -enable {}", node.id);
            let words = "ready, but nothing new is placed there";
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
            let words = format!(
                "a client of the pillar, but no node of Nomad is named {}",
                host.name
            );
            let what = format!("host {}", host.name);
            Finding::not_ok(Area::Nomad, what, Condition::Broken, words, bring(&host.name))
        })
        .collect();
    if !lost.is_empty() {
        return lost;
    }
    let names: Vec<&str> = clients().map(|host| host.name.as_str()).collect();
    let words = format!("the node of each client has its name: {}", names.join(", "));
    vec![Finding::ok(Area::Nomad, "hosts", words)]
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

fn token_finding(token: &OwnToken, mend: &str) -> Finding {
    let Some(expires) = token.expire_time else {
        return Finding::ok(Area::Vault, "token", "valid, without an end");
    };
    let until = minute(expires);
    if token.renewable {
        return Finding::ok(Area::Vault, "token", format!("until {until}, renewed by use"));
    }
    match token.ttl < SOON {
        false => Finding::ok(Area::Vault, "token", format!("until {until}")),
        true => Finding::not_ok(
            Area::Vault,
            "token",
            Condition::Limited,
            format!("it ends {until} and cannot be renewed"),
            mend,
        ),
    }
}

/// The least by which a clock that said `date`, a whole second, between two moments differs from this machine's.
fn ahead(date: &str, sent: Timestamp, received: Timestamp) -> Option<SignedDuration> {
    let earliest = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let latest = earliest + SignedDuration::from_secs(1);
    Some(if earliest > received {
        earliest.duration_since(received)
    } else if latest < sent {
        latest.duration_since(sent)
    } else {
        SignedDuration::ZERO
    })
}

fn clock_findings(answers: &[(&str, Option<SignedDuration>)]) -> Vec<Finding> {
    let told: Vec<(&str, SignedDuration)> = answers
        .iter()
        .filter_map(|(name, ahead)| Some((*name, (*ahead)?)))
        .collect();
    let wrong: Vec<Finding> = told
        .iter()
        .filter(|(_, ahead)| ahead.abs() > AGREEMENT)
        .map(|(name, ahead)| {
            let side = if ahead.is_positive() { "ahead of" } else { "behind" };
            let words = format!("{:.0} s {side} this machine", ahead.abs().as_secs_f64());
            Finding::not_ok(
                Area::Clocks,
                *name,
                Condition::Limited,
                words,
                "timedatectl set-ntp true",
            )
        })
        .collect();
    if told.is_empty() || !wrong.is_empty() {
        return wrong;
    }
    let words = format!("within {} s of this machine", AGREEMENT.as_secs());
    vec![Finding::ok(Area::Clocks, "engines", words)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use eos_core::pillar::{COMMON_FILE, PillarFiles};

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
    fn only_what_stops_work_is_to_be_mended() {
        let found = |condition| Finding::not_ok(Area::Machine, "git", condition, "no", "apt install git");
        assert!(!found(Condition::Limited).is_to_mend());
        assert!(found(Condition::Missing).is_to_mend() && found(Condition::Broken).is_to_mend());
        assert!(!Finding::ok(Area::Machine, "git", "").is_to_mend());
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

    #[test]
    fn another_formula_than_this_programs_is_broken() {
        let info = json!({"formula": "aa", "version": "3008.3"});
        assert_eq!(
            formula_finding("control", &info, "aa", "mend").condition,
            Condition::Ok
        );
        assert_eq!(
            formula_finding("control", &info, "bb", "mend").condition,
            Condition::Broken
        );
        assert_eq!(
            formula_finding("control", &Value::Null, "bb", "mend").condition,
            Condition::Broken
        );
    }

    #[test]
    fn a_token_says_what_it_lacks_and_when_it_ends() {
        let finding = rights_finding(&[RIGHTS[1].0], "mend");
        assert_eq!(
            (finding.condition, finding.words.as_str()),
            (Condition::Broken, "it may not make sessions")
        );
        assert_eq!(rights_finding(&[], "mend").condition, Condition::Ok);
        let mut token = OwnToken {
            ttl: 3600,
            creation_ttl: 7200,
            renewable: false,
            expire_time: Some("2026-11-16T05:00:00Z".parse().unwrap()),
        };
        assert_eq!(token_finding(&token, "mend").condition, Condition::Limited);
        token.renewable = true;
        assert_eq!(
            token_finding(&token, "mend").words,
            "until 2026-11-16 05:00 UTC, renewed by use"
        );
    }

    #[test]
    fn clocks_agree_within_what_a_whole_second_can_tell() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let date = "Mon, 16 Nov 2026 04:05:33 GMT";
        let least = |sent, received| ahead(date, at(sent), at(received)).unwrap().as_millis();
        assert_eq!(least("2026-11-16T04:05:33.9Z", "2026-11-16T04:05:34.1Z"), 0);
        assert_eq!(least("2026-11-16T04:05:29.0Z", "2026-11-16T04:05:30.0Z"), 3000);
        assert_eq!(least("2026-11-16T04:05:36.5Z", "2026-11-16T04:05:36.6Z"), -2500);
        assert_eq!(
            ahead(
                "yesterday",
                at("2026-11-16T04:05:29Z"),
                at("2026-11-16T04:05:29Z")
            ),
            None
        );

        let (near, far) = (SignedDuration::from_millis(-1900), SignedDuration::from_secs(-5));
        assert_eq!(
            clock_findings(&[("Nomad", Some(near))])[0].condition,
            Condition::Ok
        );
        let wrong = clock_findings(&[("Nomad", Some(near)), ("Salt", Some(far))]);
        assert_eq!(wrong.len(), 1);
        assert_eq!(
            (wrong[0].what.as_str(), wrong[0].words.as_str()),
            ("Salt", "5 s behind this machine")
        );
        assert!(clock_findings(&[("Nomad", None)]).is_empty());
    }
}
