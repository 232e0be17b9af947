//! Consul in the lab: a server on the control node and an agent on every other one, given tokens and policies.
//!
//! Nomad takes services that it does not know out of its Consul agent, so no two of its clients can share one.

mod policies;

use std::path::PathBuf;
use std::time::Duration;

use eos_engine::consul::Request;
use eos_engine::{ConsulClient, ConsulEndpoint, ErrorKind};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::choices::{Choices, FullPorts, Node};
use crate::daemon::{self, CONSUL, Daemon, Start};
use crate::durable;
use crate::error::{IfThere, Result};
use crate::layout::Layout;
use crate::secrets::Secrets;
use crate::served::{self, FormulaFile};
use crate::tls::{Certificates, Holder};
use eos_install::Installed;

const READY: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);
/// Its settings hold a token.
const PRIVATE: u32 = 0o077;

/// The names of tokens that others use. Their secrets were chosen before Consul is told.
pub const NOMAD_TOKEN: &str = "consul-nomad";
pub const VAULT_TOKEN: &str = "consul-vault";
const MANAGEMENT_TOKEN: &str = "consul-management";
const PROGRAM_TOKEN: &str = "consul-program";
const DNS_TOKEN: &str = "consul-dns";

pub const DATACENTER: &str = "dc1";
const AUTH_METHOD: &str = "nomad-workloads";
/// The role of tasks that look up others.
const TASKS_ROLE: &str = "nomad-tasks";
/// A key that is written to see that Consul takes writes.
const READY_KEY: &str = "kv/eos/ready";

pub struct Consul<'a> {
    layout: &'a Layout,
    choices: &'a Choices,
    secrets: &'a Secrets,
    certificates: &'a Certificates,
    installed: &'a Installed,
    ports: &'a FullPorts,
    server: Agent<'a>,
    agents: Vec<Agent<'a>>,
}

struct Agent<'a> {
    node: Option<&'a Node>,
    daemon: Daemon<'a>,
    /// With the token that may do everything.
    client: ConsulClient,
}

impl<'a> Consul<'a> {
    /// None in a lab that has no Consul.
    pub fn new(
        layout: &'a Layout,
        choices: &'a Choices,
        secrets: &'a Secrets,
        certificates: &'a Certificates,
    ) -> Result<Option<Consul<'a>>> {
        let (Some(ports), Some(installed)) = (&choices.ports.full, &choices.engines.consul) else {
            return Ok(None);
        };
        let management = secrets.token(MANAGEMENT_TOKEN)?;
        let agent = |node: Option<&'a Node>| -> Result<Agent<'a>> {
            let port = node.map_or(ports.consul_http, |node| node.consul_http);
            let client = ConsulClient::new(&ConsulEndpoint {
                address: format!("https://127.0.0.1:{port}"),
                certificate: Some(certificates.authority()),
                token_file: None,
            })?;
            Ok(Agent {
                node,
                daemon: Daemon::consul(layout, node.map(|node| node.name.as_str())),
                client: client.with_token(management.clone()),
            })
        };
        Ok(Some(Consul {
            layout,
            choices,
            secrets,
            certificates,
            installed,
            ports,
            server: agent(None)?,
            agents: choices
                .nodes
                .iter()
                .map(|node| agent(Some(node)))
                .collect::<Result<_>>()?,
        }))
    }

    pub fn endpoint(&self) -> ConsulEndpoint {
        ConsulEndpoint {
            address: self.address(),
            certificate: Some(self.certificates.authority()),
            token_file: Some(self.secrets.token_file(PROGRAM_TOKEN)),
        }
    }

    pub fn address(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.consul_http)
    }

    /// Brings up what is not up, and sees to policies and tokens.
    pub async fn up(&self, formula: &[FormulaFile<'_>]) -> Result<()> {
        self.start(&self.server).await?;
        self.wait_for(&self.server, "it found no leader", || self.look_for_leader())
            .await?;
        for policy in policies::ALL {
            self.policy(policy.name, policy.rules).await?;
        }
        let deploy = served::policy(formula, policies::DEPLOY_FILE)?;
        self.policy(policies::DEPLOY, &deploy).await?;
        self.tokens().await?;
        for agent in &self.agents {
            self.start(agent).await?;
        }
        for agent in &self.agents {
            self.wait_for(agent, "it found no server", || agent.has_leader())
                .await?;
            self.give_agent_token(agent).await?;
        }
        Ok(())
    }

    /// Lets tasks in with what Nomad says of them. Consul asks Nomad for its keys when this is written, so Nomad has
    /// to be up.
    pub async fn trust_nomad(&self, nomad: &str) -> Result<()> {
        let (client, object) = (&self.server.client, "auth method nomad-workloads");
        let claims = ["nomad_namespace", "nomad_job_id", "nomad_task", "nomad_service"];
        let claims: Value = claims.into_iter().map(|claim| (claim, claim)).collect();
        let settings = json!({
            "JWKSURL": format!("{nomad}/.well-known/jwks.json"),
            "JWKSCACert": self.certificates.authority_text()?,
            "JWTSupportedAlgs": ["RS256"],
            "BoundAudiences": ["consul.io"],
            "ClaimMappings": claims,
        });
        let path = format!("acl/auth-method/{AUTH_METHOD}");
        let there = client.get::<Value>(request(object, &path)).await.if_there()?;
        let is_right = |there: &Value| {
            ["JWKSURL", "JWKSCACert"]
                .iter()
                .all(|key| there["Config"][key] == settings[key])
        };
        if !there.as_ref().is_some_and(is_right) {
            let method =
                json!({"Name": AUTH_METHOD, "Type": "jwt", "TokenLocality": "local", "Config": settings});
            client
                .put::<Value>(request(object, "acl/auth-method"), &method)
                .await?;
        }
        let role = format!("acl/role/name/{TASKS_ROLE}");
        if client
            .get::<Value>(request("role nomad-tasks", &role))
            .await
            .if_there()?
            .is_none()
        {
            let role = json!({"Name": TASKS_ROLE, "Policies": [{"Name": policies::NOMAD_TASKS.name}]});
            client
                .put::<Value>(request("role nomad-tasks", "acl/role"), &role)
                .await?;
        }
        self.bind("service", "${value.nomad_service}", r#""nomad_service" in value"#)
            .await?;
        self.bind("role", TASKS_ROLE, r#""nomad_service" not in value"#)
            .await
    }

    pub async fn stop(&self) -> Result<()> {
        let all: Vec<&Daemon<'_>> = self.daemons().collect();
        daemon::stop_all(&all, STOP).await
    }

    /// The server, then the agents of the other nodes.
    pub fn daemons(&self) -> impl Iterator<Item = &Daemon<'a>> {
        std::iter::once(&self.server)
            .chain(&self.agents)
            .map(|agent| &agent.daemon)
    }

    /// Whether the server takes writes, and whether each agent finds it.
    pub async fn readiness(&self) -> Vec<bool> {
        let mut ready = vec![self.takes_writes().await.unwrap_or(false)];
        for agent in &self.agents {
            ready.push(agent.has_leader().await.unwrap_or(false));
        }
        ready
    }

    async fn start(&self, agent: &Agent<'_>) -> Result<()> {
        let node = agent.node.map(|node| node.name.as_str());
        let directory = self.layout.part(CONSUL, node);
        durable::directory(&directory, 0o700)?;
        let settings = directory.join("agent.json");
        durable::write_json(
            &settings,
            &self.settings(agent.node, directory.join("data"))?,
            0o600,
        )?;
        let ports = self.ports;
        let ports = match agent.node {
            None => vec![
                ports.consul_http,
                ports.consul_grpc,
                ports.consul_dns,
                ports.consul_server,
                ports.consul_serf,
            ],
            Some(node) => vec![node.consul_http, node.consul_grpc, node.consul_serf],
        };
        let mut reads = vec![settings];
        reads.extend(self.certificates.files(holder(agent.node)));
        agent
            .daemon
            .ensure(&Start {
                program: &self.installed.path,
                reads: &reads,
                ports: &ports,
                stale: &[],
                umask: PRIVATE,
            })
            .await
    }

    fn settings(&self, node: Option<&Node>, data: PathBuf) -> Result<Value> {
        let (ports, certificates, holder) = (self.ports, self.certificates, holder(node));
        let mut settings = json!({
            "node_name": node.map_or(&self.choices.control, |node| &node.name),
            "datacenter": DATACENTER,
            "data_dir": data,
            "log_level": "WARN",
            "bind_addr": "127.0.0.1",
            "client_addr": "127.0.0.1",
            "connect": {"enabled": true},
            "acl": {"enabled": true, "default_policy": "deny", "enable_token_persistence": true},
            "encrypt": self.secrets.gossip_key(CONSUL)?.expose_secret(),
            "tls": {
                "defaults": {
                    "ca_file": certificates.authority(),
                    "cert_file": certificates.certificate(holder),
                    "key_file": certificates.key(holder),
                    "verify_outgoing": true,
                },
                // Whoever speaks to the API, or to gRPC as sidecars do, has a token instead of a certificate.
                "internal_rpc": {"verify_incoming": true, "verify_server_hostname": true},
            },
            // An agent that is ended comes back under the same name.
            "leave_on_terminate": false,
            "disable_update_check": true,
            // Otherwise the catalogue learns only after minutes what a failing check got for an answer.
            "check_update_interval": "5s",
            "ui_config": {"enabled": false},
        });
        let more = match node {
            None => json!({
                "server": true,
                "bootstrap_expect": 1,
                "performance": {"raft_multiplier": 1},
                "ports": {
                    "http": -1,
                    "https": ports.consul_http,
                    "grpc": -1,
                    "grpc_tls": ports.consul_grpc,
                    "dns": ports.consul_dns,
                    "server": ports.consul_server,
                    "serf_lan": ports.consul_serf,
                    "serf_wan": -1,
                },
            }),
            Some(node) => json!({
                "server": false,
                "retry_join": [format!("127.0.0.1:{}", ports.consul_serf)],
                "retry_interval": "1s",
                "ports": {
                    "http": -1,
                    "https": node.consul_http,
                    "grpc": -1,
                    "grpc_tls": node.consul_grpc,
                    "dns": -1,
                    "server": ports.consul_server,
                    "serf_lan": node.consul_serf,
                    "serf_wan": -1,
                },
            }),
        };
        if let (Some(settings), Value::Object(more)) = (settings.as_object_mut(), more) {
            settings.extend(more);
        }
        if node.is_none() {
            // Before anybody can ask for a first token.
            let token = self.secrets.token(MANAGEMENT_TOKEN)?;
            settings["acl"]["tokens"] = json!({"initial_management": token.expose_secret()});
        }
        Ok(settings)
    }

    async fn wait_for<F>(&self, agent: &Agent<'_>, nothing: &str, look: impl Fn() -> F) -> Result<()>
    where
        F: Future<Output = Result<bool>>,
    {
        let begun = Instant::now();
        let mut words = nothing.to_owned();
        while begun.elapsed() < READY {
            match look().await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => words = error.to_string(),
            }
            agent.daemon.check_running()?;
            sleep(LOOK).await;
        }
        Err(agent.daemon.not_ready(READY, words))
    }

    /// A leader that knows the token of its settings, and that takes a write.
    async fn look_for_leader(&self) -> Result<bool> {
        Ok(self.server.has_leader().await?
            && self.is_known(MANAGEMENT_TOKEN).await?
            && self.takes_writes().await?)
    }

    async fn takes_writes(&self) -> Result<bool> {
        let request = request("a key", READY_KEY);
        Ok(self.server.client.put(request, &json!(true)).await?)
    }

    async fn policy(&self, name: &str, rules: &str) -> Result<()> {
        let (client, object) = (&self.server.client, format!("policy {name}"));
        let by_name = format!("acl/policy/name/{name}");
        let mut wanted = json!({"Name": name, "Rules": rules});
        let path = match client.get::<Value>(request(&object, &by_name)).await.if_there()? {
            Some(there) if there["Rules"] == rules => return Ok(()),
            Some(there) => {
                wanted["ID"] = there["ID"].clone();
                format!("acl/policy/{}", there["ID"].as_str().unwrap_or_default())
            }
            None => "acl/policy".into(),
        };
        client.put::<Value>(request(&object, &path), &wanted).await?;
        Ok(())
    }

    async fn tokens(&self) -> Result<()> {
        let policy = |policy: &policies::Policy| json!({"Policies": [{"Name": policy.name}]});
        self.token(NOMAD_TOKEN, policy(&policies::NOMAD_AGENT)).await?;
        self.token(VAULT_TOKEN, policy(&policies::VAULT)).await?;
        self.token(PROGRAM_TOKEN, policy(&policies::PROGRAM)).await?;
        self.token(
            DNS_TOKEN,
            json!({"TemplatedPolicies": [{"TemplateName": "builtin/dns"}]}),
        )
        .await?;
        self.give(&self.server, "dns", DNS_TOKEN).await?;
        self.give_agent_token(&self.server).await
    }

    /// Without it an agent cannot tell the others what is on its node.
    async fn give_agent_token(&self, agent: &Agent<'_>) -> Result<()> {
        let node = agent.node.map_or(&self.choices.control, |node| &node.name);
        let name = format!("consul-agent-{node}");
        let identity = json!({"NodeIdentities": [{"NodeName": node, "Datacenter": DATACENTER}]});
        self.token(&name, identity).await?;
        self.give(agent, "agent", &name).await
    }

    async fn token(&self, name: &str, mut wanted: Value) -> Result<()> {
        let secret = self.secrets.token(name)?;
        if self.is_known(name).await? {
            return Ok(());
        }
        wanted["Description"] = name.into();
        wanted["SecretID"] = secret.expose_secret().into();
        let object = format!("token {name}");
        let request = request(&object, "acl/token");
        self.server.client.put::<Value>(request, &wanted).await?;
        Ok(())
    }

    async fn is_known(&self, name: &str) -> Result<bool> {
        let client = self.server.client.clone().with_token(self.secrets.token(name)?);
        let object = format!("token {name}");
        match client.get::<Value>(request(&object, "acl/token/self")).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind == ErrorKind::Refused => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// It keeps the token with its data.
    async fn give(&self, agent: &Agent<'_>, kind: &str, name: &str) -> Result<()> {
        let token = json!({"Token": self.secrets.token(name)?.expose_secret()});
        let (object, path) = (format!("token {name}"), format!("agent/token/{kind}"));
        agent.client.put::<Value>(request(&object, &path), &token).await?;
        Ok(())
    }

    async fn bind(&self, kind: &str, name: &str, selector: &str) -> Result<()> {
        let (client, object) = (&self.server.client, "binding rules of nomad-workloads");
        let rules: Vec<Value> = client
            .get(Request {
                object,
                path: "acl/binding-rules",
                query: &[("authmethod", AUTH_METHOD)],
            })
            .await?;
        let is_this = |rule: &Value| {
            rule["BindType"] == kind && rule["BindName"] == name && rule["Selector"] == selector
        };
        if rules.iter().any(is_this) {
            return Ok(());
        }
        let wanted =
            json!({"AuthMethod": AUTH_METHOD, "BindType": kind, "BindName": name, "Selector": selector});
        client
            .put::<Value>(request(object, "acl/binding-rule"), &wanted)
            .await?;
        Ok(())
    }
}

impl Agent<'_> {
    async fn has_leader(&self) -> Result<bool> {
        let leader: Value = self.client.get(request("leader", "status/leader")).await?;
        Ok(leader.as_str().is_some_and(|leader| leader.contains(':')))
    }
}

fn holder(node: Option<&Node>) -> Holder {
    node.map_or(Holder::ConsulServer, |_| Holder::ConsulClient)
}

fn request<'a>(object: &'a str, path: &'a str) -> Request<'a> {
    Request {
        object,
        path,
        query: &[],
    }
}
